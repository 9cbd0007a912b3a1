package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
)

const (
	busyWait = 5 * time.Second       // how long a file in use by others is waited for
	busyStep = 50 * time.Millisecond // how long SQLite itself waits before retry calls it again
)

// The table of the original implementation.
const createTable = `CREATE TABLE IF NOT EXISTS memory_log (
	version INTEGER PRIMARY KEY AUTOINCREMENT,
	key TEXT NOT NULL,
	op TEXT NOT NULL,
	value TEXT,
	timestamp REAL NOT NULL
)`

// opening lets one Store be opened at a time: with some lock implementations closing a file that was just made would
// take away the locks that another Store in this process has on it.
var opening sync.Mutex

// lockPerFile chooses the kind of file lock that does not go away when somebody else in the process, a program that
// reads the file as a file say, closes it. Where the system has none SQLite stays with what it has.
var lockPerFile = sync.OnceFunc(func() { _, _ = sqlite.OFDLocking(true) })

// Open opens the persistent memory in the file at path, relative to the working folder, and makes folders (0700) and
// file (0600) when they are missing. ":memory:" stands for a store without a file, that ends with Close.
//
// The error says in one line what is wrong: the file can not be made or read, it is a symbolic link (which is refused,
// since it could lead to a file that is none of the program's business), no SQLite file, damaged, or a SQLite file
// whose table memory_log belongs to something else.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path, now: time.Now}
	dsn, err := prepare(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open persistent memory '%s': %w", path, err)
	}
	opening.Lock()
	defer opening.Unlock()
	lockPerFile()
	if s.db, err = sql.Open("sqlite", dsn); err != nil {
		return nil, fmt.Errorf("cannot open persistent memory '%s': %w", path, plain(err))
	}
	s.db.SetMaxOpenConns(1)
	if err := s.setUp(ctx); err != nil {
		_ = s.db.Close()
		return nil, fmt.Errorf("cannot open persistent memory '%s': %w", path, errors.Unwrap(err))
	}
	return s, nil
}

// prepare makes the file where there is none and gives the name under which SQLite opens it.
func prepare(path string) (dsn string, err error) {
	options := fmt.Sprintf("?_pragma=busy_timeout(%d)&_pragma=synchronous(FULL)&_pragma=trusted_schema(0)&_txlock=immediate&_defensive=1&_dqs=0",
		busyStep.Milliseconds())
	if path == ":memory:" {
		return path + options, nil
	}
	if path == "" {
		return "", errors.New("the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path contains a NUL character")
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := makeFile(full); err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(full)
	if !strings.HasPrefix(slashed, "/") { // a drive of Windows
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String() + options, nil
}

// makeFile makes an empty file, for the user only, and the folders above it. A file that exists is left alone.
func makeFile(path string) error {
	opening.Lock()
	defer opening.Unlock()
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return cause(err)
	}
	switch stat, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return cause(err)
	case stat.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link")
	case !stat.Mode().IsRegular():
		return errors.New("it is no file")
	default:
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err != nil {
		return cause(err)
	}
	syncFolder(folder)
	return file.Close()
}

// syncFolder makes sure that a new name in a folder survives a power loss, on systems that can.
func syncFolder(folder string) {
	if dir, err := os.Open(folder); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

// cause gives the cause of a file error with the file it is about, which may be a folder above ours.
func cause(err error) error {
	var bad *fs.PathError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", bad.Path, bad.Err)
	}
	return err
}

// setUp switches the file to write-ahead logging and makes the table, both only when that is not done yet: a file
// that others have prepared can be opened while they are writing to it.
func (s *Store) setUp(ctx context.Context) error {
	if err := s.retry(ctx, func() error { return s.useLog(ctx) }); err != nil {
		return err
	}
	var columns string
	read := func() error {
		const query = `SELECT IFNULL(GROUP_CONCAT(name, ' '), '') FROM (SELECT name FROM pragma_table_info('memory_log') ORDER BY name)`
		return s.db.QueryRowContext(ctx, query).Scan(&columns)
	}
	if err := s.retry(ctx, read); err != nil {
		return err
	}
	if columns == "" {
		return s.retry(ctx, func() error {
			_, err := s.db.ExecContext(ctx, createTable)
			return err
		})
	}
	for _, want := range []string{"key", "op", "timestamp", "value", "version"} {
		if !strings.Contains(" "+columns+" ", " "+want+" ") {
			return s.explain(errForeign)
		}
	}
	return s.keepsRows(ctx)
}

var errForeign = errors.New("its table memory_log is not one of a Sense memory")

// keepsRows makes sure that nothing in the file takes away or replaces what is written: a trigger, a view in the place
// of the table, a rule that rows must be unique.
func (s *Store) keepsRows(ctx context.Context) error {
	var odd int
	err := s.retry(ctx, func() error {
		const query = `SELECT (SELECT COUNT(*) FROM sqlite_schema WHERE type = 'trigger' OR type = 'view' AND name = 'memory_log' COLLATE NOCASE)
			+ (SELECT COUNT(*) FROM pragma_index_list('memory_log') WHERE "unique" = 1)`
		return s.db.QueryRowContext(ctx, query).Scan(&odd)
	})
	if err == nil && odd > 0 {
		err = s.explain(errForeign)
	}
	return err
}

func (s *Store) useLog(ctx context.Context) error {
	var mode string
	if err := s.db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil || mode == "wal" || mode == "memory" {
		return err
	}
	return s.db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
}
