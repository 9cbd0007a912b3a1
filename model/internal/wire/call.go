// Package wire is what the clients of all vendors share: one way to send a
// request again when that helps, one way to say what went wrong, and the
// reading and repair of JSON that vendors' libraries are too strict for.
//
// A vendor's library is given a Call as its HTTP client. The Call sends the
// request, repeats it where it may, and hands the library either a whole and
// well-formed answer or an error in plain words.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sense-lang/sense/model"
)

// Limits on what is read from a service, in bytes.
const (
	maxAnswer = 32 << 20
	maxError  = 64 << 10
)

// DefaultTimeout bounds a request where Options.Timeout is 0.
const DefaultTimeout = 10 * time.Minute

// Call is the HTTP client of one request. It implements the Do method that
// vendors' libraries ask for.
type Call struct {
	// Options are the client's.
	Options *model.Options
	// Edit has the last word on the request's body, a JSON object; nil leaves
	// it alone.
	Edit func(body map[string]json.RawMessage) error
	// Answer checks the body of an answer that came in one piece and gives it
	// as the library reads it.
	Answer func(body []byte) ([]byte, error)
	// Stream, where not nil, is how an answer in pieces is read.
	Stream *Stream
}

// Run calls f with a context that ends with Options.Timeout and puts its error
// in the words of model.Client: ctx's error where ctx ended, else an
// *model.Error that names no key and no Go type.
func Run(ctx context.Context, o *model.Options, f func(context.Context) (*model.Turn, error)) (*model.Turn, error) {
	limit := o.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(withAttempts(ctx), limit)
	defer cancel()
	turn, err := f(limited)
	if err == nil {
		return turn, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var known *model.Error
	switch {
	case errors.As(err, &known):
	case limited.Err() != nil || isTimeout(err):
		known = &model.Error{Kind: model.KindTimeout, Msg: "no answer within " + plainDuration(limit)}
	default:
		known = unreadable(err)
	}
	return nil, &model.Error{Status: known.Status, Kind: known.Kind, Msg: clean(known.Msg, o.APIKey)}
}

// Do sends the request, and again after failures that may pass.
func (c *Call) Do(req *http.Request) (*http.Response, error) {
	body, err := c.body(req)
	if err != nil {
		return nil, err
	}
	for tries := attemptsOf(req.Context()); ; tries.failed++ {
		res, err := c.attempt(req, body)
		if err == nil {
			return res, nil
		}
		var f *failure
		if !errors.As(err, &f) || !f.retry || tries.failed >= retries(c.Options) {
			return nil, err
		}
		if !c.pause(req.Context(), f.delay(tries.failed)) {
			return nil, err
		}
	}
}

// retries is how often a request is sent again.
func retries(o *model.Options) int {
	if o.Retries != nil {
		return *o.Retries
	}
	return 2
}

// body reads the request's body and makes it what shall go out.
func (c *Call) body(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil || c.Edit == nil {
		return Unescape(body), err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	if err := c.Edit(fields); err != nil {
		return nil, err
	}
	body, err = json.Marshal(fields)
	return Unescape(body), err
}

// pause waits before the next attempt; false where there is no time for it.
func (c *Call) pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	if c.Options.Sleep != nil {
		return c.Options.Sleep(ctx, d) == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// attempt sends the request once. The response's body is whole and checked, or
// a stream that checks itself.
func (c *Call) attempt(req *http.Request, body []byte) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	r := req.Clone(req.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	res, err := c.client().Do(r)
	if err != nil {
		return nil, connectionFailure(req, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, c.refusal(res)
	}
	if c.Stream != nil && isEventStream(res) {
		res.Body = c.Stream.body(res.Body, req)
		return res, nil
	}
	return c.whole(req, res)
}

// whole reads an answer in one piece, whether or not a stream was asked for:
// some servers do not stream.
func (c *Call) whole(req *http.Request, res *http.Response) (*http.Response, error) {
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, connectionFailure(req, err)
	}
	if len(body) > maxAnswer {
		return nil, Nonsense("the answer is larger than %d MiB", maxAnswer>>20)
	}
	if err := checkJSON(body); err != nil {
		return nil, err
	}
	if c.Stream != nil {
		body, err = c.Stream.Whole(body)
	} else {
		body, err = c.Answer(body)
	}
	if err != nil {
		return nil, err
	}
	if c.Stream != nil {
		res.Header.Set("Content-Type", "text/event-stream")
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	res.ContentLength = int64(len(body))
	return res, nil
}

// refusal reads an answer that is not 200 OK.
func (c *Call) refusal(res *http.Response) error {
	defer res.Body.Close()
	// What is missing of a refusal's text is no error of its own.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxError))
	now := time.Now
	if c.Options.Now != nil {
		now = c.Options.Now
	}
	return statusFailure(res, body, now())
}

// client is the HTTP client: the one given, or one of our own, that follows no
// redirect, because the key and the prompt are for the named address only.
func (c *Call) client() *http.Client {
	base := c.Options.HTTPClient
	if base == nil {
		base = ownClient()
	}
	h := *base
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &h
}

// ownClient shares connections between requests, and with nothing else.
var ownClient = sync.OnceValue(func() *http.Client {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{}
	}
	return &http.Client{Transport: t.Clone()}
})

func isEventStream(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return strings.EqualFold(kind, "text/event-stream")
}
