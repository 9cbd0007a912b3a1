package memory

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// oddText makes a text of what databases and their clients take for more than
// text.
func oddText(r *rand.Rand) string {
	parts := []string{"'", "\"", ";", "--", "DROP TABLE memory_log", "\x00", "%", "_", "?", "?1", ":a", "@a", "$a", "\\", "\n", "é", "e\u0301", "😀", "\u202e", "\ufeff", "x'41'", "/*", "*/", "NULL", "0", "1e9", " ", "\xff\xfe", "OR 1=1", "[", "]", "`"}
	s := ""
	for range r.IntN(8) {
		s += parts[r.IntN(len(parts))]
	}
	return s
}

// TestKeysAndValuesStayThemselves writes odd keys and values and reads each
// back; at the end the database is whole and has what it should. SENSE_KEYS says
// how many; make soak takes a million, in memory.
func TestKeysAndValuesStayThemselves(t *testing.T) {
	n, path := 500, filepath.Join(t.TempDir(), "odd.db")
	if more, err := strconv.Atoi(os.Getenv("SENSE_KEYS")); err == nil {
		n, path = more, ":memory:"
	}
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(7, 8))
	want := map[string]string{}
	for range n {
		key, value := oddText(r), oddText(r)
		if r.IntN(10) == 0 {
			if err := s.Forget(ctx, key); err != nil {
				t.Fatal(err)
			}
			delete(want, key)
			continue
		}
		if err := s.Remember(ctx, key, value); err != nil {
			t.Fatal(err)
		}
		want[key] = value
		if got, ok, err := s.Recall(ctx, key); err != nil || !ok || got != value {
			t.Fatalf("%q: remembered %q, recalled %q, %v, %v", key, value, got, ok, err)
		}
	}
	keys, err := s.Keys(ctx)
	if err != nil || len(keys) != len(want) {
		t.Errorf("%d keys of %d, %v", len(keys), len(want), err)
	}
	for _, k := range keys {
		if _, ok := want[k]; !ok {
			t.Errorf("a key nobody set: %q", k)
		}
	}
	var verdict string
	if err := s.db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
	t.Logf("%d steps, %d keys", n, len(want))
}
