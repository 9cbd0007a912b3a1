// Package memory keeps what a Sense program remembers in an SQLite file: a log to which every change adds a row with
// the next version, so that the past stays readable. The file has the table of the original implementation and its
// values are written as that one writes them; both may use the same file, also at the same time.
//
// The tour: store.go is the store, open.go finds and prepares the file, errors.go puts SQLite's errors into plain
// words, json.go turns values into the stored text and back, path.go says where a memory without a path lies.
package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"
)

// Store is an open persistent memory. Its methods may be called from several goroutines. Each of them waits up to five
// seconds for other processes that use the file, or until its context ends.
type Store struct {
	db   *sql.DB
	path string
	now  func() time.Time
}

// Version is one row of the log.
type Version struct {
	Version int64     // 1 for the first change of the whole memory
	Op      string    // "remember" or "forget"
	Value   string    // the stored JSON text; empty for "forget"
	Time    time.Time // when it was written, to the microsecond, in local time
}

// Operations of a Version.
const (
	OpRemember = "remember"
	OpForget   = "forget"
)

// Path gives the path the store was opened with.
func (s *Store) Path() string { return s.path }

// Close ends the use of the file. Calls made afterwards fail; a second Close does nothing.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return s.explain(err)
	}
	return nil
}

// Remember stores valueJSON, a JSON text as EncodeJSON makes it, under key. When it returns nil the value is on the
// disk: neither a crash nor, as far as the disk keeps its promises, a power loss takes it away.
func (s *Store) Remember(ctx context.Context, key, valueJSON string) error {
	return s.add(ctx, key, OpRemember, sql.NullString{String: valueJSON, Valid: true})
}

// Forget removes key. The log gets a row even when there was none.
func (s *Store) Forget(ctx context.Context, key string) error {
	return s.add(ctx, key, OpForget, sql.NullString{})
}

func (s *Store) add(ctx context.Context, key, op string, value sql.NullString) error {
	return s.retry(ctx, func() error {
		const insert = `INSERT INTO memory_log (key, op, value, timestamp) VALUES (?, ?, ?, ?)`
		_, err := s.db.ExecContext(ctx, insert, key, op, value, seconds(s.now()))
		return err
	})
}

// Recall gives the JSON text stored under key; ok is false when there is none.
func (s *Store) Recall(ctx context.Context, key string) (valueJSON string, ok bool, err error) {
	return s.AsOf(ctx, key, math.MaxInt64)
}

// AsOf gives what Recall would have given after the change numbered version.
func (s *Store) AsOf(ctx context.Context, key string, version int64) (valueJSON string, ok bool, err error) {
	err = s.retry(ctx, func() error {
		const latest = `SELECT op, value FROM memory_log WHERE key = ? AND version <= ? ORDER BY version DESC LIMIT 1`
		var op string
		var value sql.NullString
		err := s.db.QueryRowContext(ctx, latest, key, version).Scan(&op, &value)
		valueJSON, ok = text(op, value), op == OpRemember
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil || !ok {
		return "", false, err
	}
	return valueJSON, true, nil
}

// text gives the JSON text of a row; one that remembers without a value, which none of ours does, stands for null.
func text(op string, value sql.NullString) string {
	if op == OpRemember && !value.Valid {
		return "null"
	}
	return value.String
}

// Keys lists the keys that hold a value, in the order in which these values were set.
func (s *Store) Keys(ctx context.Context) ([]string, error) {
	var keys []string
	err := s.retry(ctx, func() error {
		const query = `SELECT key FROM (SELECT key, op, MAX(version) AS version FROM memory_log GROUP BY key) WHERE op = 'remember' ORDER BY version`
		rows, err := s.db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		keys = []string{}
		for rows.Next() {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			keys = append(keys, key)
		}
		return rows.Err()
	})
	return keys, err
}

// Len counts the keys that hold a value.
func (s *Store) Len(ctx context.Context) (int, error) {
	var n int
	err := s.retry(ctx, func() error {
		const query = `SELECT COUNT(*) FROM (SELECT op, MAX(version) FROM memory_log GROUP BY key) WHERE op = 'remember'`
		return s.db.QueryRowContext(ctx, query).Scan(&n)
	})
	return n, err
}

// History lists all changes of key, oldest first; none for a key that was never used.
func (s *Store) History(ctx context.Context, key string) ([]Version, error) {
	var history []Version
	err := s.retry(ctx, func() error {
		const query = `SELECT version, op, value, timestamp FROM memory_log WHERE key = ? ORDER BY version`
		rows, err := s.db.QueryContext(ctx, query, key)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		history = []Version{}
		for rows.Next() {
			var v Version
			var value sql.NullString
			var at float64
			if err := rows.Scan(&v.Version, &v.Op, &value, &at); err != nil {
				return err
			}
			v.Value, v.Time = text(v.Op, value), fromSeconds(at)
			history = append(history, v)
		}
		return rows.Err()
	})
	return history, err
}

// retry runs f again while the file is in use by others, for busyWait at most. SQLite waits by itself too, but in some
// states gives up at once, and in longer and longer steps that let busier processes win every time.
func (s *Store) retry(ctx context.Context, f func() error) error {
	for end := time.Now().Add(busyWait); ; {
		err := f()
		if err == nil {
			return nil
		}
		if !isBusy(err) || time.Now().After(end) {
			return s.explain(err)
		}
		select {
		case <-ctx.Done():
			return s.explain(ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

func (s *Store) explain(err error) error {
	return fmt.Errorf("persistent memory '%s': %w", s.path, plain(err))
}

// seconds gives a time as the log keeps it.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func fromSeconds(s float64) time.Time {
	if math.IsNaN(s) || math.Abs(s) > 1e11 {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(s * 1e6)))
}
