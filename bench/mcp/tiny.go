package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
)

// tinyArg makes this program the tiny server.
const tinyArg = "tiny-server"

// tiny is the fastest server that can be written with little: it cuts what it needs
// out of the line and parses nothing. It is over when its input ends.
func tiny() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		id := between(line, `"id":`, ",}")
		var result string
		switch {
		case bytes.Contains(line, []byte(`"tools/call"`)):
			result = `{"content":[{"type":"text","text":"Echo: ` + between(line, `"message":"`, `"`) + `"}]}`
		case bytes.Contains(line, []byte(`"tools/list"`)):
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}]}`
		case bytes.Contains(line, []byte(`"initialize"`)):
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}`
		case id != "":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", id)
			continue
		default:
			continue // a notification
		}
		_, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n")
	}
}

// between gives what stands between from and the first of the characters of to, ""
// where from is not there.
func between(line []byte, from, to string) string {
	i := bytes.Index(line, []byte(from))
	if i < 0 {
		return ""
	}
	i += len(from)
	end := bytes.IndexAny(line[i:], to)
	return string(bytes.TrimSpace(line[i : i+max(end, 0)]))
}
