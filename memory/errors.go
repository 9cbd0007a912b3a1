package memory

import (
	"context"
	"errors"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// isBusy tells whether another connection was in the way.
func isBusy(err error) bool {
	code := primary(err)
	return code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED
}

// primary gives the primary result code of SQLite, 0 for errors of other origin.
func primary(err error) int {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return 0
	}
	return failure.Code() & 0xff
}

// plain puts an error into words that need no knowledge of SQLite. Ends of a context stay recognisable.
func plain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch primary(err) {
	case 0:
		if err.Error() == "sql: database is closed" {
			return errors.New("it is closed")
		}
		return err
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return errors.New("it is in use by another process that did not finish within 5 seconds")
	case lib.SQLITE_NOTADB:
		return errors.New("the file is no SQLite database")
	case lib.SQLITE_CORRUPT, lib.SQLITE_FORMAT:
		return errors.New("the file is damaged")
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return errors.New("the file or its folder can not be written")
	case lib.SQLITE_CANTOPEN:
		return errors.New("the file can not be opened")
	case lib.SQLITE_FULL:
		return errors.New("the disk is full")
	case lib.SQLITE_IOERR:
		return errors.New("the disk reports an error")
	case lib.SQLITE_TOOBIG:
		return errors.New("the value is too big")
	case lib.SQLITE_INTERRUPT:
		return context.Canceled
	}
	return err
}
