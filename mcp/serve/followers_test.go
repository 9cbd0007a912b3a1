package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// watched is a server with one resource, which tells its clients of a change when it
// is read.
func watched() *Server {
	s := &Server{Name: "watched", Version: "1"}
	s.Resources = []Resource{{URI: "a://b", Name: "b", Read: func(_ context.Context, c *Call) (*Result, error) {
		s.Updated("a://b")
		s.Updated("a://other")
		_, err := c.Ask(context.Background(), "May I?")
		return &Result{Structured: []byte(fmt.Sprintf(`{"contents":[{"uri":%q,"text":%q}]}`, c.URI, err))}, nil
	}}}
	return s
}

// A client of an older revision subscribes and unsubscribes; whoever reads cannot be
// asked.
func TestSubscribe(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Stdio(context.Background(), watched(), in, out); _ = out.Close() }()
	send := make(chan string, 2) // a write may wait for an answer to be read
	go func() {
		for line := range send {
			_, _ = io.WriteString(client, line)
		}
		_ = client.Close()
	}()
	send <- hello
	lines, told, id := bufio.NewScanner(answers), 0, 10
	ask := func(method string) (answer string) {
		id++
		send <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"uri":"a://b"}}`+"\n", id, method)
		for lines.Scan() {
			line := lines.Text()
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
				return line
			}
			if strings.Contains(line, "resources/updated") {
				if told++; !strings.Contains(line, `"uri":"a://b"`) {
					t.Errorf("told %s", line)
				}
			}
		}
		t.Fatalf("no answer to %s: %v", method, lines.Err())
		return ""
	}
	if line := ask("resources/read"); told != 0 || !strings.Contains(line, errAsksNot.Error()) {
		t.Errorf("told %d times, read %s", told, line)
	}
	ask("resources/subscribe")
	reads := 0
	for ; told == 0; reads++ { // what is told may come after the answer
		ask("resources/read")
	}
	ask("resources/unsubscribe")
	for range 3 {
		ask("resources/read")
	}
	if told > reads {
		t.Errorf("told %d times of %d changes", told, reads)
	}
	close(send)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// No more is followed than can be, and what is ended is forgotten.
func TestFollowers(t *testing.T) {
	var f followers
	for i := range maxFollowed + 5 {
		f.add(follower{uri: fmt.Sprint(i), who: "x"})
	}
	f.add(follower{uri: fmt.Sprint(maxFollowed), who: "x"})
	if len(f.list) != maxFollowed || f.list[0].uri != "5" || f.list[maxFollowed-1].uri != fmt.Sprint(maxFollowed) {
		t.Errorf("%d followed, from %s to %s", len(f.list), f.list[0].uri, f.list[maxFollowed-1].uri)
	}
	f.drop("x", "7")
	f.drop("y", "")
	if len(f.list) != maxFollowed-1 {
		t.Errorf("%d followed", len(f.list))
	}
	if f.drop("x", ""); len(f.list) != 0 {
		t.Errorf("%d left", len(f.list))
	}
}
