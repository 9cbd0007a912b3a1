package wire

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sense-lang/sense/model"
)

// maxDelay is the longest wait before an attempt, whatever the service asks.
const maxDelay = 60 * time.Second

// failure is an attempt that failed.
type failure struct {
	cause *model.Error
	retry bool
	// after is how long the service asks to wait; negative where it does not.
	after time.Duration
}

func (f *failure) Error() string { return f.cause.Msg }
func (f *failure) Unwrap() error { return f.cause }

// delay is how long to wait after the n-th attempt, counted from 0: what the
// service asks, else half a second doubled each time up to eight seconds, less
// up to a quarter so that many clients do not come back at once.
func (f *failure) delay(n int) time.Duration {
	if f.after >= 0 {
		return min(f.after, maxDelay)
	}
	d := min(500*time.Millisecond<<min(n, 10), 8*time.Second)
	return d - time.Duration(rand.Int64N(int64(d)/4))
}

// Nonsense is the error of an answer that makes no sense.
func Nonsense(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.KindAnswer, Msg: fmt.Sprintf(format, args...)}
}

// statusFailure says what an answer that is not 200 OK means.
func statusFailure(res *http.Response, body []byte, now time.Time) *failure {
	status := res.StatusCode
	code, text := errorText(body, res.Header.Get("Content-Type"))
	msg := "HTTP " + strconv.Itoa(status)
	if name := statusName(status); name != "" {
		msg += " " + name
	}
	if to := res.Header.Get("Location"); status >= 300 && status < 400 && to != "" {
		text = "redirected to " + redactURL(to) + "; redirects are not followed"
	}
	if text != "" {
		msg += ": " + text
	}
	f := &failure{cause: &model.Error{Status: status, Kind: kindOf(status, code), Msg: msg}, after: retryAfter(res.Header, now)}
	f.retry = mayPass(status)
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		f.retry = true
	case "false":
		f.retry = false
	}
	if f.cause.Kind == model.KindQuota {
		f.retry = false
	}
	return f
}

// mayPass reports whether a refusal may be gone at the next attempt.
func mayPass(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

func kindOf(status int, code string) model.Kind {
	switch {
	case code == "insufficient_quota" || status == http.StatusPaymentRequired:
		return model.KindQuota
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return model.KindAuth
	case status == http.StatusTooManyRequests || status == 529:
		return model.KindRateLimit
	case status >= 500:
		return model.KindServer
	}
	return model.KindRequest
}

func statusName(status int) string {
	if status == 529 {
		return "Overloaded"
	}
	return http.StatusText(status)
}

// retryAfter reads how long the service asks to wait: milliseconds, seconds or
// a date. It is negative where the service does not say or makes no sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d := delayOf(h.Get("Retry-After-Ms"), time.Millisecond); d >= 0 {
		return d
	}
	v := h.Get("Retry-After")
	if d := delayOf(v, time.Second); d >= 0 {
		return d
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return -1
}

// delayOf reads a number of units; anything above the longest wait is that.
func delayOf(s string, unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if (err != nil && !errors.Is(err, strconv.ErrRange)) || !(f >= 0) {
		return -1
	}
	if f >= float64(maxDelay/unit) {
		return maxDelay
	}
	return time.Duration(f * float64(unit))
}

// errorText finds the code and the message in the body of a refusal, whichever
// of the usual shapes it has, and is short about anything else.
func errorText(body []byte, contentType string) (code, text string) {
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return "", shortBody(body, contentType)
	}
	inner := top
	if raw, ok := top["error"]; ok {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) == nil && m != nil {
			inner = m
		} else if s := jsonText(raw); s != "" {
			return "", shorten(s)
		}
	}
	code = jsonText(inner["code"])
	if kind := jsonText(inner["type"]); kind == "insufficient_quota" {
		code = kind
	}
	for _, key := range []string{"message", "detail", "error_description", "msg"} {
		if s := jsonText(inner[key]); s != "" {
			return code, shorten(s)
		}
	}
	return code, shorten(string(body))
}

// jsonText gives a JSON string's text, or a list of them joined; else "".
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	return ""
}

// connectionFailure says why no answer, or only a part of one, came.
func connectionFailure(req *http.Request, err error) error {
	if ctxErr := req.Context().Err(); ctxErr != nil {
		return ctxErr
	}
	host := req.URL.Host
	f := &failure{cause: &model.Error{Kind: model.KindConnection}, retry: true, after: -1}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		f.cause.Kind, f.retry = model.KindTimeout, false
		f.cause.Msg = "no answer from " + host + " in time"
	case errors.As(err, &dns):
		f.cause.Msg = "cannot find the host " + req.URL.Hostname()
	case errors.As(err, &cert):
		f.cause.Msg, f.retry = "the certificate of "+host+" is not valid: "+shorten(cert.Err.Error()), false
	case errors.Is(err, syscall.ECONNREFUSED):
		f.cause.Msg = "cannot connect to " + host + ": connection refused"
	case isCutOff(err):
		f.cause.Msg = "the connection to " + host + " was closed before the whole answer had come"
	default:
		f.cause.Msg = "cannot reach " + host + ": " + shorten(innermost(err).Error())
	}
	return f
}

func isCutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || strings.Contains(err.Error(), "server closed idle connection")
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// innermost is the error that the others wrap, which says least about Go.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// redactURL gives a URL without what may be secret in it.
func redactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "an address that is not valid"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return shorten(u.String())
}

// unreadable is the error for what a vendor's library could not read. The
// library's own words name its types, so they are left out.
func unreadable(err error) *model.Error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return Nonsense("the answer is not valid JSON: %s", syntax.Error())
	}
	return Nonsense("the answer has a form that is not understood")
}

// plainDuration writes a limit as people say it.
func plainDuration(d time.Duration) string {
	switch {
	case d%time.Minute == 0 && d > time.Minute:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	case d >= time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	return d.String()
}
