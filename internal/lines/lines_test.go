package lines

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	const limit = 40
	long := strings.Repeat("x", 100)
	r := bufio.NewReaderSize(strings.NewReader("a\n"+long+"\n b \r\n\n"+strings.Repeat("y", limit-1)+"\nend"), 16)
	var got []string
	for {
		line, tooLong, err := Read(r, limit)
		got = append(got, fmt.Sprintf("%s %v", line, tooLong))
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a false", " true", "b false", " false", strings.Repeat("y", limit-1) + " false", "end false"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReadTooLongAtTheEnd(t *testing.T) {
	line, tooLong, err := Read(bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 100)), 16), 40)
	if line != nil || !tooLong || err != io.EOF {
		t.Errorf("%q %v %v", line, tooLong, err)
	}
}
