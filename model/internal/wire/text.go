package wire

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxText is how much of a service's own words an error repeats, in characters.
const maxText = 300

// shorten puts s on one line without control and invisible characters and cuts
// it, never inside a character.
func shorten(s string) string {
	if len(s) > 16*maxText {
		s = s[:16*maxText]
	}
	s = strings.ToValidUTF8(s, "�")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText]) + "…"
}

// shortBody describes a body that is no JSON: a web page by its title, anything
// else by its first words.
func shortBody(body []byte, contentType string) string {
	if len(bytes.TrimSpace(body)) == 0 {
		return ""
	}
	if !isHTML(body, contentType) {
		return shorten(string(body))
	}
	if title := pageTitle(body); title != "" {
		return "a web page titled '" + title + "'"
	}
	return "a web page"
}

func isHTML(body []byte, contentType string) bool {
	if strings.Contains(strings.ToLower(contentType), "html") {
		return true
	}
	head := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return bytes.HasPrefix(head, []byte("<!doctype")) || bytes.HasPrefix(head, []byte("<html"))
}

func pageTitle(body []byte) string {
	low := bytes.ToLower(body)
	start := bytes.Index(low, []byte("<title>"))
	if start < 0 || len(low) != len(body) {
		return ""
	}
	rest := body[start+len("<title>"):]
	end := bytes.Index(low[start:], []byte("</title>"))
	if end < 0 {
		return ""
	}
	title := shorten(html.UnescapeString(string(rest[:end-len("<title>")])))
	if utf8.RuneCountInString(title) > 80 {
		title = string([]rune(title)[:80]) + "…"
	}
	return title
}

// checkJSON is the error of a body that is no JSON.
func checkJSON(body []byte) error {
	switch {
	case json.Valid(body):
		return nil
	case len(bytes.TrimSpace(body)) == 0:
		return Nonsense("the service answered with nothing")
	case isHTML(body, ""):
		return Nonsense("the service answered with %s, not JSON; is the address right?", shortBody(body, "text/html"))
	}
	var any json.RawMessage
	err := json.Unmarshal(body, &any)
	text := []rune(shorten(string(body)))
	if len(text) > 60 {
		text = append(text[:60], '…')
	}
	return Nonsense("the answer is not valid JSON (%v): %s", err, string(text))
}

// keyShape matches what keys of the usual vendors look like.
var keyShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:sk|pk|rk)-[A-Za-z0-9_*.-]{8,}|\bBearer\s+[A-Za-z0-9_.~+/=*-]{8,}`)
})

// clean takes secrets out of an error's text: the key itself and whatever looks
// like one.
func clean(msg, key string) string {
	if key = strings.TrimSpace(key); len(key) >= 6 {
		msg = strings.ReplaceAll(msg, key, "[key]")
		for n := len(key) - 1; n >= 6; n-- { // where the text was cut within it
			msg = strings.ReplaceAll(msg, key[:n]+"…", "[key]…")
		}
	}
	return keyShape().ReplaceAllString(msg, "[key]")
}

// Unescape writes <, > and & in JSON text as themselves. Go's encoder escapes
// them for the sake of web pages; a model reads the escapes.
func Unescape(body []byte) []byte {
	if !bytes.Contains(body, []byte(`\u00`)) {
		return body
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 >= len(body) {
			out = append(out, body[i])
			i++
			continue
		}
		if i+6 <= len(body) {
			switch string(body[i : i+6]) {
			case `\u003c`:
				out = append(out, '<')
				i += 6
				continue
			case `\u003e`:
				out = append(out, '>')
				i += 6
				continue
			case `\u0026`:
				out = append(out, '&')
				i += 6
				continue
			}
		}
		out = append(out, body[i], body[i+1])
		i += 2
	}
	return out
}
