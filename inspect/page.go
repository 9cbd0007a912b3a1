package inspect

import (
	"embed"
	"io"
	"log"
	"net/http"
)

//go:embed page
var page embed.FS

// files are the parts of the page by address.
var files = map[string]struct{ name, contentType string }{
	"/":         {"page/index.html", "text/html; charset=utf-8"},
	"/app.js":   {"page/app.js", "text/javascript; charset=utf-8"},
	"/app.css":  {"page/app.css", "text/css; charset=utf-8"},
	"/icon.svg": {"page/icon.svg", "image/svg+xml"},
}

// servePage gives a part of the page; ok is false where there is none.
func servePage(w http.ResponseWriter, r *http.Request) (ok bool) {
	f, known := files[r.URL.EscapedPath()]
	if !known || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	b, err := page.ReadFile(f.name)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", f.contentType)
	_, _ = w.Write(b) // nobody is left to tell
	return true
}

// discard is the log of the server: what a client does wrong is no news, and a
// log could hold what it sent.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }
