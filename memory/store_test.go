package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var bg = context.Background()

func remember(t *testing.T, s *Store, key, value string) {
	t.Helper()
	if err := s.Remember(bg, key, value); err != nil {
		t.Fatal(err)
	}
}

func forget(t *testing.T, s *Store, key string) {
	t.Helper()
	if err := s.Forget(bg, key); err != nil {
		t.Fatal(err)
	}
}

// expect compares what a key holds as of a version with want; "-" stands for nothing.
func expect(t *testing.T, s *Store, key string, version int64, want string) {
	t.Helper()
	got, ok, err := s.AsOf(bg, key, version)
	if !ok && got == "" {
		got = "-"
	}
	if err != nil || got != want {
		t.Errorf("%q as of %d is %s, %v; want %s", key, version, got, err, want)
	}
}

func expectKeys(t *testing.T, s *Store, want ...string) {
	t.Helper()
	keys, err := s.Keys(bg)
	if err != nil || !slices.Equal(keys, want) || keys == nil {
		t.Errorf("keys %q, %v; want %q", keys, err, want)
	}
	if n, err := s.Len(bg); err != nil || n != len(want) {
		t.Errorf("length %d, %v; want %d", n, err, len(want))
	}
}

func TestLog(t *testing.T) {
	s := open(t, "p.db")
	at := time.Unix(1700000000, 123456000)
	s.now = func() time.Time { at = at.Add(time.Second); return at }
	expectKeys(t, s)
	expect(t, s, "tea", math.MaxInt64, "-")
	remember(t, s, "tea", "3")
	remember(t, s, "cake", "5")
	remember(t, s, "tea", "4.5")
	expectKeys(t, s, "cake", "tea")
	forget(t, s, "tea")
	forget(t, s, "pie") // unknown, and still a row
	expectKeys(t, s, "cake")
	remember(t, s, "tea", "null")
	expectKeys(t, s, "cake", "tea")
	for version, want := range map[int64]string{math.MinInt64: "-", -1: "-", 0: "-", 1: "3", 2: "3", 3: "4.5", 4: "-", 5: "-", 6: "null", math.MaxInt64: "null"} {
		expect(t, s, "tea", version, want)
	}
	expect(t, s, "pie", 5, "-")
	history, err := s.History(bg, "tea")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1700000000, 123456000)
	want := []Version{
		{1, OpRemember, "3", start.Add(time.Second)}, {3, OpRemember, "4.5", start.Add(3 * time.Second)},
		{4, OpForget, "", start.Add(4 * time.Second)}, {6, OpRemember, "null", start.Add(6 * time.Second)},
	}
	if !slices.Equal(history, want) {
		t.Errorf("history\n%v, want\n%v", history, want)
	}
	if history, err := s.History(bg, "never"); err != nil || history == nil || len(history) != 0 {
		t.Errorf("history of nothing: %v, %v", history, err)
	}
	if history, err := s.History(bg, "pie"); err != nil || len(history) != 1 || history[0].Version != 5 || history[0].Op != OpForget {
		t.Errorf("history of an unknown key that was forgotten: %v, %v", history, err)
	}
}

func TestOddKeysAndValues(t *testing.T) {
	s := open(t, "p.db")
	keys := []string{"", " ", "'", `"`, "a'; DROP TABLE memory_log; --", "ключ", "😀", "a\x00b", "a\x00c", "a", "\x00", "\n", "%", "_", strings.Repeat("k", 100_000), "A", "Å", "A\u030a"}
	for i, key := range keys {
		remember(t, s, key, strconv.Itoa(i))
	}
	expectKeys(t, s, keys...)
	for i, key := range keys {
		expect(t, s, key, math.MaxInt64, strconv.Itoa(i))
	}
	for _, value := range []string{`"a\u0000b"`, "raw \x00 NUL", strings.Repeat("v", 1<<20), "not JSON", ""} {
		remember(t, s, "value", value)
		if got, ok, err := s.Recall(bg, "value"); got != value || !ok || err != nil {
			t.Errorf("%.30q comes back as %.30q, %v, %v", value, got, ok, err)
		}
	}
}

func TestSurvivesReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "p.db")
	s, err := Open(bg, path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Path() != path {
		t.Errorf("path %q, want %q", s.Path(), path)
	}
	remember(t, s, "k", "1")
	forget(t, s, "k")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	s = open(t, path)
	remember(t, s, "k", "2")
	expect(t, s, "k", 3, "2")
	expect(t, s, "k", 2, "-")
}

func TestAfterClose(t *testing.T) {
	s, err := Open(bg, ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	remember(t, s, "k", "1")
	expectKeys(t, s, "k")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, recall := s.Recall(bg, "k")
	_, keys := s.Keys(bg)
	_, history := s.History(bg, "k")
	_, length := s.Len(bg)
	for what, err := range map[string]error{"remember": s.Remember(bg, "k", "1"), "forget": s.Forget(bg, "k"), "recall": recall, "keys": keys, "history": history, "len": length} {
		if err == nil || err.Error() != "persistent memory ':memory:': it is closed" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestModesOfFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "a", "b", "p.db"))
	remember(t, s, "k", "1")
	for name, want := range map[string]os.FileMode{"a": 0o700, "a/b": 0o700, "a/b/p.db": 0o600, "a/b/p.db-wal": 0o600, "a/b/p.db-shm": 0o600} {
		stat, err := os.Stat(filepath.Join(dir, name))
		if err != nil || stat.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, stat, err, want)
		}
	}
}

func TestRelativePathsAndOddNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"p.db", "./q.db", "sub/dir/r.db", "with space?x=1#y%20z.db", "file:colon.db", "ünï😀.db", "?mode=ro", "a'b\"c.db", "~/x.db"} {
		s, err := Open(bg, path)
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		remember(t, s, "path", strconv.Quote(path))
		if s.Path() != path {
			t.Errorf("path %q, want %q", s.Path(), path)
		}
		if stat, err := os.Stat(path); err != nil || !stat.Mode().IsRegular() {
			t.Errorf("%q is not there: %v", path, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(put("target.db", ""), link); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	statement(t, other, `CREATE TABLE memory_log (a, b)`)
	const table = `CREATE TABLE %s (version INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL%s, op TEXT NOT NULL, value TEXT, timestamp REAL NOT NULL)`
	greedy, once, view := filepath.Join(dir, "greedy.db"), filepath.Join(dir, "once.db"), filepath.Join(dir, "view.db")
	statement(t, greedy, fmt.Sprintf(table, "memory_log", ""))
	statement(t, greedy, `CREATE TRIGGER t AFTER INSERT ON memory_log BEGIN DELETE FROM memory_log; END`)
	statement(t, once, fmt.Sprintf(table, "memory_log", " UNIQUE ON CONFLICT IGNORE"))
	statement(t, view, fmt.Sprintf(table, "other", ""))
	statement(t, view, `CREATE VIEW memory_log AS SELECT * FROM other`)
	text := put("text.db", "hello, this is some text and no database at all")
	for path, want := range map[string]string{
		text: "the file is no SQLite database",
		put("zeros.db", strings.Repeat("\x00", 5000)): "the file is no SQLite database",
		dir:                                  "it is no file",
		link:                                 "it is a symbolic link",
		greedy:                               "its table memory_log is not one of a Sense memory",
		once:                                 "its table memory_log is not one of a Sense memory",
		view:                                 "its table memory_log is not one of a Sense memory",
		other:                                "its table memory_log is not one of a Sense memory",
		text + "/p.db":                       text + ": not a directory",
		"":                                   "the path is empty",
		"a\x00b":                             "the path contains a NUL character",
		dir + "/" + strings.Repeat("x", 300): dir + "/" + strings.Repeat("x", 300) + ": file name too long",
	} {
		s, err := Open(bg, path)
		if err == nil {
			_ = s.Close()
			t.Errorf("%q opens", path)
			continue
		}
		if got := err.Error(); got != "cannot open persistent memory '"+path+"': "+want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// statement runs one SQL statement on a file.
func statement(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(query)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(bg, path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		remember(t, s, fmt.Sprintf("key %d", i), strconv.Quote(strings.Repeat("v", 200)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(data); i++ {
		data[i] = 0xA5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if _, err := s.Keys(bg); err == nil || err.Error() != "persistent memory '"+path+"': the file is damaged" {
		t.Errorf("keys of a damaged file: %v", err)
	}
	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(bg, path); err == nil {
		_, err = s.Keys(bg)
		_ = s.Close()
		if err == nil {
			t.Error("a truncated file has keys")
		}
	} else if !strings.Contains(err.Error(), "the file is damaged") {
		t.Errorf("a truncated file: %v", err)
	}
}

func TestForeignDatabaseGetsTheTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	statement(t, path, `CREATE TABLE t (a)`)
	s := open(t, path)
	remember(t, s, "k", "1")
	expectKeys(t, s, "k")
}

func TestRowsWithoutValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	statement(t, path, createTable)
	statement(t, path, `INSERT INTO memory_log (key, op, value, timestamp) VALUES ('k', 'remember', NULL, 9e99), ('n', 'remember', 5, 7), ('x', 'other', '1', 7)`)
	s := open(t, path)
	expect(t, s, "k", 1, "null")
	expect(t, s, "n", 2, "5")
	expect(t, s, "x", 3, "-")
	expectKeys(t, s, "k", "n")
	if history, err := s.History(bg, "k"); err != nil || len(history) != 1 || !history[0].Time.IsZero() {
		t.Errorf("history %v, %v", history, err)
	}
}

func TestSchemaIsTheOriginals(t *testing.T) {
	s := open(t, "p.db")
	remember(t, s, "k", "1")
	var schema string
	if err := s.db.QueryRow(`SELECT GROUP_CONCAT(cid || ' ' || name || ' ' || type || ' ' || "notnull" || ' ' || pk, ', ') FROM pragma_table_info('memory_log')`).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	if want := "0 version INTEGER 0 1, 1 key TEXT 1 0, 2 op TEXT 1 0, 3 value TEXT 0 0, 4 timestamp REAL 1 0"; schema != want {
		t.Errorf("columns %s, want %s", schema, want)
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		var got string
		if err := s.db.QueryRow(`PRAGMA ` + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
		}
	}
	var kind string
	if err := s.db.QueryRow(`SELECT typeof(timestamp) FROM memory_log`).Scan(&kind); err != nil || kind != "real" {
		t.Errorf("type of the time: %s, %v", kind, err)
	}
}

func TestContextEndsAWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	holder := hold(t, path)
	ctx, cancel := context.WithCancel(bg)
	done := make(chan error, 1)
	go func() { done <- s.Remember(ctx, "k", "1") }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was canceled: %v", err)
	}
	if _, _, err := s.Recall(bg, "k"); err != nil {
		t.Errorf("reading beside a writer: %v", err)
	}
	go func() { done <- s.Remember(bg, "k", "2") }()
	holder()
	if err := <-done; err != nil {
		t.Errorf("a wait that was worth it: %v", err)
	}
	expect(t, s, "k", math.MaxInt64, "2")
}

// hold takes the write lock of a file and gives what lets go of it.
func hold(t *testing.T, path string) func() {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { _, _ = tx.Rollback(), db.Close() })
}

func TestBusyForTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	path := filepath.Join(t.TempDir(), "p.db")
	s := open(t, path)
	defer hold(t, path)()
	start := time.Now()
	err := s.Remember(bg, "k", "1")
	if want := "persistent memory '" + path + "': it is in use by another process that did not finish within 5 seconds"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if waited := time.Since(start); waited < busyWait {
		t.Errorf("gave up after %v", waited)
	}
}

func TestOneFileInManyStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	var working sync.WaitGroup
	for w := range 8 {
		working.Go(func() {
			s, err := Open(bg, path)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 25 {
				if err := s.Remember(bg, fmt.Sprint(w), strconv.Itoa(i)); err != nil {
					t.Error(err)
				}
				if got, ok, err := s.Recall(bg, fmt.Sprint(w)); got != strconv.Itoa(i) || !ok || err != nil {
					t.Errorf("%d: %s, %v, %v", i, got, ok, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	s := open(t, path)
	if n, err := s.Len(bg); n != 8 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	for w := range 8 {
		history, err := s.History(bg, fmt.Sprint(w))
		if err != nil || len(history) != 25 {
			t.Errorf("%d: %d versions, %v", w, len(history), err)
		}
	}
}

func TestOneStoreInManyGoroutines(t *testing.T) {
	s := open(t, "p.db")
	var working sync.WaitGroup
	for w := range 10 {
		working.Go(func() {
			for i := range 20 {
				if err := s.Remember(bg, "same", strconv.Itoa(w*100+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	history, err := s.History(bg, "same")
	if err != nil || len(history) != 200 {
		t.Fatalf("%d versions, %v", len(history), err)
	}
	for i, v := range history {
		if v.Version != int64(i+1) {
			t.Errorf("version %d stands at %d", v.Version, i)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ file, dir, path, why string }{
		{"/a/b.sns", "", "/a/.sense_memory/m.sense_memory.db", WhyBeside},
		{"b.sns", "", here + "/.sense_memory/m.sense_memory.db", WhyBeside},
		{"x/../y/b.sns", "", here + "/y/.sense_memory/m.sense_memory.db", WhyBeside},
		{"", "", "m.sense_memory.db", WhyWorking},
		{"/a/b.sns", "/store", "/store/m.sense_memory.db", WhyEnvironment},
		{"", "rel/../y/", "rel/../y/m.sense_memory.db", WhyEnvironment},
		{"/a/b.sns", " ", " /m.sense_memory.db", WhyEnvironment},
		{"/a/b.sns", "/", "/m.sense_memory.db", WhyEnvironment},
	} {
		getenv := func(name string) string {
			if name != "SENSE_MEMORY_DIR" {
				t.Errorf("asked for %s", name)
			}
			return test.dir
		}
		if path, why := DefaultPath("m", test.file, getenv); path != test.path || why != test.why {
			t.Errorf("%q with %q: %q, %q; want %q, %q", test.file, test.dir, path, why, test.path, test.why)
		}
	}
}
