package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
)

// MinSecret is the length, in bytes, from which a value counts as a secret;
// shorter ones would blot out ordinary words.
const MinSecret = 8

// Redactor takes secrets out of text: the values registered with Add, also
// where they stand base64-, hex-, URL- or JSON-encoded, and whatever has the
// shape of a known kind of key. Each is replaced by ‹redacted:8 hex digits›, the
// same digits for the same secret. The zero Redactor knows the shapes only; a
// nil one leaves all text as it is. It may be used by several goroutines.
type Redactor struct {
	mu    sync.RWMutex
	known map[string]bool
	// public are the names of declarations.
	public map[string]bool
	// byKey holds the forms of the secrets by their first four bytes, the longest first.
	byKey map[string][]form
	// first marks the bytes that a form may begin with.
	first [256]bool
	// longest is the length of the longest form.
	longest int
}

// form is one way in which a secret may appear, and what replaces it.
type form struct {
	text, mark string
}

// keyLen bytes at the start of a form find it.
const keyLen = 4

// Add registers values as secrets. Those shorter than MinSecret, and those that
// hold the mark of another, are left out.
func (r *Redactor) Add(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		if len(v) < MinSecret || r.known[v] || strings.Contains(v, markStart) {
			continue // a mark, as a tape gives it, is no secret
		}
		if r.known == nil {
			r.known, r.byKey = map[string]bool{}, map[string][]form{}
		}
		r.known[v] = true
		for _, text := range forms(v) {
			r.addForm(form{text: text, mark: Mark(v)})
		}
	}
}

// Public registers a name that a program's text declares. Entries about it keep
// it, whatever counts as a secret: a project that calls the name of a tool a
// secret cannot hide what that tool did. A nil Redactor needs none.
func (r *Redactor) Public(name string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.public == nil {
		r.public = map[string]bool{}
	}
	r.public[name] = true
}

// name takes secrets out of the name of an entry.
func (r *Redactor) name(s string) string {
	r.mu.RLock()
	public := r.public[s]
	r.mu.RUnlock()
	if public {
		return s
	}
	return r.Redact(s)
}

// addForm files a form, before all shorter ones that begin alike.
func (r *Redactor) addForm(f form) {
	key := f.text[:keyLen]
	list := r.byKey[key]
	at := 0
	for at < len(list) && len(list[at].text) >= len(f.text) {
		if list[at].text == f.text {
			return
		}
		at++
	}
	list = append(list, form{})
	copy(list[at+1:], list[at:])
	list[at] = f
	r.byKey[key] = list
	r.first[f.text[0]] = true
	r.longest = max(r.longest, len(f.text))
}

// markStart begins what stands in a secret's place.
const markStart = "‹redacted:"

// Mark gives what stands in a secret's place.
func Mark(secret string) string {
	sum := sha256.Sum256([]byte("sense redacted\x00" + secret))
	return markStart + hex.EncodeToString(sum[:4]) + "›"
}

// Redact gives s without secrets; s itself where it has none.
func (r *Redactor) Redact(s string) string {
	if r == nil || len(s) < MinSecret {
		return s
	}
	return r.redactFrom(s, 0)
}

// redactFrom gives s[from:] without secrets; what stands before tells where a
// word begins.
func (r *Redactor) redactFrom(s string, from int) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var b strings.Builder
	done := from
	for i := from; i+MinSecret <= len(s); {
		n, mark := r.at(s, i)
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(mark)
		i += n
		done = i
	}
	if done == from {
		return s[from:]
	}
	b.WriteString(s[done:])
	return b.String()
}

// at gives the length of the secret that begins at s[i], 0 where none does, and
// what replaces it.
func (r *Redactor) at(s string, i int) (n int, mark string) {
	if r.first[s[i]] && len(s)-i >= keyLen {
		for _, f := range r.byKey[s[i:i+keyLen]] {
			if strings.HasPrefix(s[i:], f.text) {
				return len(f.text), f.mark
			}
		}
	}
	if n := shapeAt(s, i); n > 0 {
		return n, Mark(s[i : i+n])
	}
	return 0, ""
}

// Value gives a value of an entry's field without secrets, at any depth. A
// string under a key whose name says that it is secret goes as a whole.
func (r *Redactor) Value(key string, v any) any {
	if r == nil {
		return v
	}
	return r.value(key, v, 0)
}

// maxDepth bounds how deep a value is looked into; what lies deeper is left out.
const maxDepth = 200

func (r *Redactor) value(key string, v any, depth int) any {
	if depth > maxDepth {
		return "…"
	}
	switch v := v.(type) {
	case string:
		if v != "" && secretKey(key) {
			return Mark(v)
		}
		return r.Redact(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = r.value(key, x, depth+1)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[r.Redact(k)] = r.value(k, x, depth+1)
		}
		return out
	}
	return v
}

// secretKey reports whether a field's name says that its value is secret.
func secretKey(key string) bool {
	k := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(key))
	for _, end := range []string{
		"authorization", "password", "passwd", "secret", "token", "apikey", "privatekey", "accesskey", "secretkey",
		"cookie", "credential", "credentials",
	} {
		if strings.HasSuffix(k, end) {
			return true
		}
	}
	return false
}

// entry takes secrets out of an entry.
func (r *Redactor) entry(e *Entry) {
	e.Name, e.Detail = r.name(e.Name), r.Redact(e.Detail)
	if len(e.Fields) == 0 {
		return
	}
	fields := make([]Field, len(e.Fields))
	for i, f := range e.Fields {
		fields[i] = Field{Key: f.Key, Value: r.value(f.Key, f.Value, 0)}
	}
	e.Fields = fields
}
