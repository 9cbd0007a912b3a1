package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/internal/regular"
)

// Add puts a server into a file, which is made where it is not there. The rest
// of the file stays as it is, comments included. A server that is there already
// is an error unless replacing is wanted.
func Add(path string, e *Entry, replacing bool) error {
	src, err := regular.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		src, err = []byte("{}\n"), nil
		if derr := os.MkdirAll(filepath.Dir(path), 0o755); derr != nil {
			return fmt.Errorf("cannot make the folder of %s: %w", path, bare(derr))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, bare(err))
	}
	if len(bytes.TrimSpace(src)) == 0 {
		src = []byte("{}\n")
	}
	out, err := Insert(path, src, e, replacing)
	if err != nil {
		return err
	}
	return write(path, out)
}

// Remove takes a server out of a file.
func Remove(path, name string) error {
	src, err := readBounded(path)
	if err != nil {
		return err
	}
	out, err := Cut(path, src, name)
	if err != nil {
		return err
	}
	return write(path, out)
}

func write(path string, out []byte) error {
	perm := fs.FileMode(0o644)
	if st, err := os.Stat(path); err == nil {
		perm = st.Mode().Perm()
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return replace(path, out, perm)
}

// replace writes a file whole or not at all.
func replace(path string, out []byte, perm fs.FileMode) error {
	err := func() error {
		tmp, err := os.CreateTemp(filepath.Dir(path), ".sense-*")
		if err != nil {
			return err
		}
		defer os.Remove(tmp.Name())
		if _, err = tmp.Write(out); err == nil {
			err = tmp.Chmod(perm)
		}
		if cerr := tmp.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = os.Rename(tmp.Name(), path)
		}
		return err
	}()
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, bare(err))
	}
	return nil
}

// Insert is Add on a text.
func Insert(path string, src []byte, e *Entry, replacing bool) ([]byte, error) {
	root, err := parseText(src)
	if err != nil {
		return nil, placed(path, src, err)
	}
	list, err := serverList(root)
	if err != nil {
		return nil, placed(path, src, err)
	}
	if list == nil {
		return Insert(path, insertMember(src, root, quoteKey("mcpServers")+": {}", 1), e, replacing)
	}
	step := indentOf(src)
	body := strings.ReplaceAll(e.text(strings.Repeat(step, 2), step), "\n", lineEnd(src))
	var out []byte
	if old, there := list.find(e.Name); !there {
		out = insertMember(src, list, quoteKey(e.Name)+": "+body, 2)
	} else if replacing {
		out = splice(src, old.start, old.end, body)
	} else {
		return nil, fmt.Errorf("%s has a server %q already", path, e.Name)
	}
	return out, verify(path, out, e.Name, true)
}

// serverList finds the object of servers, nil where there is none.
func serverList(root *object) (*object, error) {
	for _, key := range []string{"mcpServers", "servers"} {
		if m, ok := root.find(key); ok {
			return root.within(m)
		}
	}
	return nil, nil
}

// verify makes sure that a change left a readable file.
func verify(path string, out []byte, name string, want bool) error {
	f, err := Parse(path, out)
	if err != nil {
		return fmt.Errorf("%s could not be changed safely: %w", path, err)
	}
	has := false
	for _, e := range f.Entries {
		has = has || e.Name == name
	}
	if has != want {
		return fmt.Errorf("%s could not be changed safely", path)
	}
	return nil
}

// insertMember adds a member at the end of an object that lies depth deep.
func insertMember(src []byte, o *object, text string, depth int) []byte {
	step := indentOf(src)
	inner, outer := strings.Repeat(step, depth), strings.Repeat(step, depth-1)
	nl := lineEnd(src)
	if len(o.members) == 0 {
		inside := src[o.start+1 : o.end-1]
		kept := strings.TrimRight(string(inside), " \t\r\n") // comments stay
		return splice(src, o.start+1, o.end-1, kept+nl+inner+text+nl+outer)
	}
	last := o.members[len(o.members)-1]
	inner = ownIndent(src, last.keyAt, inner)
	at, comma := afterMember(src, last.end)
	if !comma {
		src = splice(src, last.end, last.end, ",")
		at++
	}
	tail := ""
	if !bytes.ContainsAny(src[at:o.end], "\n") {
		tail = nl + outer // the closing brace stood on the same line
	}
	if comma {
		text += ","
	}
	rest := src[at:]
	if tail != "" {
		rest = bytes.TrimLeft(rest, " \t")
	}
	return append(append(bytes.Clone(src[:at]), nl+inner+text+tail...), rest...)
}

// afterMember gives the offset after a member's value, its comma and a comment
// on the same line, and whether there is a comma.
func afterMember(src []byte, end int) (at int, comma bool) {
	at = end
	for i := end; i < len(src); {
		switch {
		case src[i] == ' ' || src[i] == '\t':
			i++
		case src[i] == ',' && !comma:
			comma = true
			i++
			at = i
		case bytes.HasPrefix(src[i:], []byte("//")):
			n := bytes.IndexByte(src[i:], '\n')
			if n < 0 {
				return at, comma
			}
			return i + len(bytes.TrimRight(src[i:i+n], "\r")), comma
		default:
			return at, comma
		}
	}
	return at, comma
}

// ownIndent gives the white space before a member where it begins its line.
func ownIndent(src []byte, at int, otherwise string) string {
	line := src[bytes.LastIndexByte(src[:at], '\n')+1 : at]
	if len(bytes.TrimLeft(line, " \t")) == 0 && bytes.IndexByte(src[:at], '\n') >= 0 {
		return string(line)
	}
	return otherwise
}

// indentOf gives one step of the file's indentation.
func indentOf(src []byte) string {
	for line := range bytes.Lines(src) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) > 0 && len(rest) < len(line) && rest[0] == '"' {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

func lineEnd(src []byte) string {
	if bytes.Contains(src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func splice(src []byte, from, to int, text string) []byte {
	out := make([]byte, 0, len(src)-(to-from)+len(text))
	return append(append(append(out, src[:from]...), text...), src[to:]...)
}

// Cut is Remove on a text.
func Cut(path string, src []byte, name string) ([]byte, error) {
	root, err := parseText(src)
	if err != nil {
		return nil, placed(path, src, err)
	}
	list, err := serverList(root)
	if err != nil {
		return nil, placed(path, src, err)
	}
	for i := 0; list != nil && i < len(list.members); i++ {
		if list.members[i].key == name {
			out := cutMember(src, list, i)
			return out, verify(path, out, name, false)
		}
	}
	return nil, fmt.Errorf("%s has no server %q", path, name)
}

// cutMember takes a member out with its comma and its line.
func cutMember(src []byte, o *object, i int) []byte {
	m := o.members[i]
	from := m.keyAt
	to, comma := afterMember(src, m.end)
	lineStart := bytes.LastIndexByte(src[:from], '\n') + 1
	if lineStart > o.start && len(bytes.TrimSpace(src[lineStart:from])) == 0 {
		from = lineStart
		if n := bytes.IndexByte(src[to:], '\n'); n >= 0 && len(bytes.TrimSpace(src[to:to+n])) == 0 {
			to += n + 1
		}
	}
	out := splice(src, from, to, "")
	if !comma && i > 0 { // the one before is the last now
		at := o.members[i-1].end
		if n := bytes.IndexByte(o.src[at:from], ','); n >= 0 {
			out = splice(out, at+n, at+n+1, "")
		}
	}
	return out
}

// text writes an entry as an object whose braces stand at the indentation
// given.
func (e *Entry) text(indent, step string) string {
	var b bytes.Buffer
	b.WriteString("{\n")
	lines := e.fields()
	for i, l := range lines {
		b.WriteString(indent + step + l)
		if i < len(lines)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString(indent + "}")
	return b.String()
}

// fields writes the fields that are set, one a line.
func (e *Entry) fields() []string {
	var out []string
	put := func(set bool, key string, raw json.RawMessage) {
		if set {
			out = append(out, quoteKey(key)+": "+string(raw))
		}
	}
	str := func(key, s string) { put(s != "", key, json.RawMessage(quoteKey(s))) }
	if e.URL != "" {
		str("type", e.Transport)
	}
	str("command", e.Command)
	put(len(e.Args) > 0, "args", onOneLine(e.Args))
	str("url", e.URL)
	put(len(e.Headers) > 0, "headers", pairs(e.Headers))
	put(len(e.Env) > 0, "env", pairs(e.Env))
	str("envFile", e.EnvFile)
	str("cwd", e.Cwd)
	put(e.Timeout > 0, "timeout", json.RawMessage(strconv.FormatInt(e.Timeout.Milliseconds(), 10)))
	str("capability", e.Capability)
	put(len(e.Tools) > 0, "tools", onOneLine(e.Tools))
	put(e.Disabled, "disabled", json.RawMessage("true"))
	put(e.AlwaysLoad, "alwaysLoad", json.RawMessage("true"))
	put(e.OAuth != nil, "oauth", e.OAuth.raw())
	return out
}

// onOneLine writes a list of texts.
func onOneLine(list []string) json.RawMessage {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = quoteKey(s)
	}
	return json.RawMessage("[" + strings.Join(parts, ", ") + "]")
}

// pairs writes names with texts on one line.
func pairs(m map[string]string) json.RawMessage {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, quoteKey(k)+": "+quoteKey(m[k]))
	}
	return json.RawMessage("{" + strings.Join(parts, ", ") + "}")
}

func (o *OAuth) raw() json.RawMessage {
	if o == nil {
		return nil
	}
	m := map[string]string{}
	for k, v := range map[string]string{
		"clientId": o.ClientID, "clientSecret": o.ClientSecret, "authServerMetadataUrl": o.MetadataURL,
		"scopes": strings.Join(o.Scopes, " "),
	} {
		if v != "" {
			m[k] = v
		}
	}
	out := string(pairs(m))
	if o.CallbackPort != 0 {
		sep := ", "
		if len(m) == 0 {
			sep = ""
		}
		out = strings.TrimSuffix(out, "}") + sep + `"callbackPort": ` + strconv.Itoa(o.CallbackPort) + "}"
	}
	return json.RawMessage(out)
}

func quoteKey(key string) string {
	text, _ := encode(key) // a text is always encoded
	return string(text)
}

// encode writes JSON without HTML escapes; objects over several lines.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if _, ok := v.(trustText); ok {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
