package mcp

import (
	"reflect"
	"strings"
	"testing"
)

// A36, A37 and the rules of result blocks.
func TestRenderResult(t *testing.T) {
	tests := []struct{ name, result, want string }{
		{"one text, unchanged", `{"content":[{"type":"text","text":" a\n "}]}`, " a\n "},
		{"two texts", `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`, "one\ntwo"},
		{"image", `{"content":[{"type":"image","mimeType":"image/png","data":"AAA="}]}`, "[image image/png, 2 bytes]"},
		{"image without padding", `{"content":[{"type":"image","mimeType":"image/png","data":"AAA"}]}`, "[image image/png, 2 bytes]"},
		{"image that is none", `{"content":[{"type":"image","data":"***"}]}`, "[image, 0 bytes]"},
		{"text, audio, text", `{"content":[{"type":"text","text":"a"},{"type":"audio","mimeType":"audio/wav","data":"AAAA"},{"type":"text","text":"b"}]}`, "a\n[audio audio/wav, 3 bytes]\nb"},
		{"text resource", `{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"inside"}}]}`, "inside"},
		{"empty text resource", `{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":""}}]}`, ""},
		{"binary resource", `{"content":[{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"AAAA"}}]}`, "[resource application/pdf, 3 bytes, file:///a.pdf]"},
		{"link", `{"content":[{"type":"resource_link","uri":"file:///b","name":"b"}]}`, "[resource link file:///b, b]"},
		{"link without a name", `{"content":[{"type":"resource_link","uri":"file:///b"}]}`, "[resource link file:///b]"},
		{"unknown", `{"content":[{"type":"vid\u001beo"}]}`, `[content block of type 'vid\u001beo']`},
		{"no type", `{"content":[{"text":"x"}]}`, "[content block without a type]"},
		{"wrong kinds", `{"content":[{"type":"text","text":5},{"type":"text","text":"b"},{"type":7}]}`, "[content block of type 'unreadable text']\nb\n[content block of type 'unreadable']"},
		{"bare string", `{"content":"hello"}`, "hello"},
		{"single block", `{"content":{"type":"text","text":"hello"}}`, "hello"},
		{"null content", `{"content":null}`, ""},
		{"structured added", `{"content":[{"type":"text","text":"2 items"}],"structuredContent":{"items":[1,2]}}`, "2 items\n{\"items\":[1,2]}"},
		{"structured repeats", `{"content":[{"type":"text","text":"{\"b\":2, \"a\":1}"}],"structuredContent":{"a":1,"b":2}}`, `{"b":2, "a":1}`},
		{"structured differs in a digit", `{"content":[{"type":"text","text":"{\"a\":9007199254740993}"}],"structuredContent":{"a":9007199254740992}}`, "{\"a\":9007199254740993}\n{\"a\":9007199254740992}"},
		{"wrapped text", `{"content":[{"type":"text","text":"hi"}],"structuredContent":{"result":"hi"}}`, "hi"},
		{"wrapped number", `{"content":[{"type":"text","text":"3"}],"structuredContent":{"result":3}}`, "3"},
		{"wrapped list", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"x\":1}"}],"structuredContent":{"result":["a",{"x":1}]}}`, "a\n{\"x\":1}"},
		{"wrapped list that differs", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"result":["a","c"]}}`, "a\nb\n{\"result\":[\"a\",\"c\"]}"},
		{"wrapped under another name", `{"content":[{"type":"text","text":"hi"}],"structuredContent":{"content":"hi"}}`, "hi"},
		{"one member that tells something", `{"content":[{"type":"text","text":"36"}],"structuredContent":{"temperature":36}}`, "36\n{\"temperature\":36}"},
		{"structured null", `{"content":[{"type":"text","text":"a"}],"structuredContent":null}`, "a"},
		{"nothing", `{}`, ""},
		{"failure without words", `{"isError":true,"content":[{"type":"text","text":"  "}]}`, "the tool reports a failure and gives no reason"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parseResult([]byte(tt.result))
			if err != nil || r.Text != tt.want {
				t.Errorf("got %q, %v, want %q", r.Text, err, tt.want)
			}
		})
	}
}

func TestResultParts(t *testing.T) {
	r, err := parseResult([]byte(`{"content":[{"type":"image","mimeType":"image/png","data":"AQI="},{"type":"resource_link","uri":"u","name":"n","mimeType":"m"}],"_meta":{"k":1},"structuredContent":{"a": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Meta) != `{"k":1}` || string(r.Structured) != `{"a": 1}` || len(r.Blocks) != 2 {
		t.Errorf("%+v", r)
	}
	if b := r.Blocks[0]; b.Type != "image" || b.MIMEType != "image/png" || string(b.Data) != "\x01\x02" {
		t.Errorf("image %+v", b)
	}
	if b := r.Blocks[1]; b.URI != "u" || b.Name != "n" || b.MIMEType != "m" {
		t.Errorf("link %+v", b)
	}
}

func TestBadResults(t *testing.T) {
	deep := `{"content":` + strings.Repeat("[", 250) + strings.Repeat("]", 250) + `}`
	for raw, want := range map[string]string{`[]`: "the server's answer is not valid", `{`: "the server's answer is not valid", `{"isError":"yes"}`: "not valid", deep: "nested 251 deep, more than 200"} {
		if _, err := parseResult([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", raw, err)
		}
	}
}

// FuzzQuickResult: what is read quickly is what encoding/json would have read.
func FuzzQuickResult(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a\n\u00e4"} , {"text":"b","type":"text","annotations":{"x":[1,"]"]}}],"isError":false}`,
		`{ "content" : [ ] , "isError" : true , "_meta" : null , "structuredContent" : { "a" : 1.50 } }`,
		`{"content":[{"type":"image","data":"AA=="}]}`, `{"content":[{"text":"a"}]}`, `{"content":[{"type":"text","text":5}]}`,
		`{"content":"a"}`, `{"isError":"x"}`, `{"isError":null}`, `{"Content":[]}`, `{}`, `[]`, `5`, `{"content":[`, `{"content":[{"type":"text","type":"image"}]}`,
		"{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}", `{"content":[{"\u0074ype":"text"}]}`, `{"content":[{"type":"text"}],"content":[]}`, `{"_meta":1,"_meta":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		quick, ok := quickResult(raw)
		if !ok {
			return
		}
		slow, err := anyResult(raw)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if len(quick.Blocks) == 0 && len(slow.Blocks) == 0 {
			quick.Blocks, slow.Blocks = nil, nil
		}
		if !reflect.DeepEqual(quick, slow) {
			t.Errorf("%q gives %+v, want %+v", raw, quick, slow)
		}
	})
}

// The kind of result that nearly all servers send is read quickly.
func TestUsualResultsAreQuick(t *testing.T) {
	for _, raw := range []string{
		`{"content":[{"type":"text","text":"Echo: hello"}]}`,
		`{"content":[{"type":"text","text":"x","annotations":{"priority":1}}],"structuredContent":{"result":"x"},"isError":false,"_meta":{}}`,
	} {
		if _, ok := quickResult([]byte(raw)); !ok {
			t.Errorf("%s is not", raw)
		}
	}
}
