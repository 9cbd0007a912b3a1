package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sense-lang/sense/internal/regular"
	"github.com/sense-lang/sense/mcp"
)

// LockFile is the name of the file that pins definitions.
const LockFile = "sense.lock"

// Lock pins what servers say of their tools: a tool whose definition is another
// one than it was is found out.
type Lock struct {
	path    string
	servers map[string]map[string]Pin
}

// Pin holds the hashes of the parts of a tool's definition, by the names of the
// parts.
type Pin map[string]string

// lockText is the file.
type lockText struct {
	Version int                       `json:"version"`
	Servers map[string]map[string]Pin `json:"servers"`
}

const lockVersion = 1

// PinOf takes the hashes of a tool's definition.
func PinOf(t *mcp.Tool) Pin {
	annotations, _ := json.Marshal(t.Annotations) // texts and truth values are always encoded
	p := Pin{}
	for part, data := range map[string][]byte{
		"description": []byte(t.Description), "inputSchema": t.Schema, "outputSchema": t.OutputSchema, "annotations": annotations,
	} {
		sum := sha256.Sum256(data)
		p[part] = hex.EncodeToString(sum[:])
	}
	return p
}

// Changed lists the parts in which q differs; one that p or q lacks differs too.
func (p Pin) Changed(q Pin) []string {
	all := maps.Clone(q)
	if all == nil {
		all = Pin{}
	}
	maps.Copy(all, p)
	var out []string
	for _, part := range slices.Sorted(maps.Keys(all)) {
		if a, there := p[part]; a != q[part] || !there {
			out = append(out, part)
		}
	}
	return out
}

// FindLock gives the lock file that counts for dir, "" where there is none: the
// nearest, up to the project's root.
func FindLock(dir string) string {
	for _, d := range chain(dir) {
		if p := filepath.Join(d, LockFile); isFile(p) {
			return p
		}
	}
	return ""
}

// LoadLock reads a lock file; one that is not there pins nothing.
func LoadLock(path string) (*Lock, error) {
	l := &Lock{path: path, servers: map[string]map[string]Pin{}}
	src, err := regular.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, bare(err))
	}
	var text lockText
	if err := json.Unmarshal(src, &text); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); bring it back, or take it away and pin again with: sense mcp pin", path, placed(filepath.Base(path), src, inOurWords(err, src)))
	}
	if text.Version != lockVersion {
		return nil, fmt.Errorf("%s has version %d, which this sense does not know", path, text.Version)
	}
	if text.Servers != nil {
		l.servers = text.Servers
	}
	return l, nil
}

// Path gives the file.
func (l *Lock) Path() string { return l.path }

// Pinned gives the pin of a tool, nil where it has none.
func (l *Lock) Pinned(server, tool string) Pin { return l.servers[server][tool] }

// Has reports whether a server is pinned at all.
func (l *Lock) Has(server string) bool { return l.servers[server] != nil }

// Change is one difference between what is pinned and what is there.
type Change struct {
	Tool string
	// What is "new", "gone" or the parts that changed.
	What string
}

// Compare lists the differences of a server's tools, by name.
func (l *Lock) Compare(server string, tools []*mcp.Tool) []Change {
	var out []Change
	there := map[string]bool{}
	for _, t := range tools {
		there[t.Name] = true
		old := l.Pinned(server, t.Name)
		if old == nil {
			out = append(out, Change{t.Name, "new"})
			continue
		}
		for _, part := range old.Changed(PinOf(t)) {
			out = append(out, Change{t.Name, part})
		}
	}
	for name := range l.servers[server] {
		if !there[name] {
			out = append(out, Change{name, "gone"})
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return strings.Compare(a.Tool, b.Tool) })
	return out
}

// Set pins a server's tools as they are.
func (l *Lock) Set(server string, tools []*mcp.Tool) {
	pins := map[string]Pin{}
	for _, t := range tools {
		pins[t.Name] = PinOf(t)
	}
	l.servers[server] = pins
}

// Save writes the file whole.
func (l *Lock) Save() error {
	src, err := json.MarshalIndent(lockText{lockVersion, l.servers}, "", "  ")
	if err != nil {
		return err
	}
	return write(l.path, append(src, '\n'))
}
