package fileserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxRead is how many bytes one call may read or give.
const maxRead = 64 << 20

// open opens a regular file for reading. Opening never blocks, whatever the name turns out to be.
func (f *folder) open(name string) (*os.File, int64, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, f.failed("open", name, err)
	}
	stat, err := file.Stat()
	switch {
	case err != nil:
		err = f.failed("fstat", name, err)
	case stat.IsDir():
		err = errors.New("EISDIR: illegal operation on a directory, read")
	case !stat.Mode().IsRegular():
		err = fmt.Errorf("not a regular file: %s", f.abs(name))
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, stat.Size(), nil
}

// content reads a whole file of at most limit bytes.
func (f *folder) content(name string, limit int64) ([]byte, error) {
	file, size, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if size > limit {
		return nil, f.tooLarge(name, size, limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, f.failed("read", name, err)
	}
	if int64(len(data)) > limit {
		return nil, f.tooLarge(name, int64(len(data)), limit)
	}
	return data, nil
}

func (f *folder) tooLarge(name string, size, limit int64) error {
	return fmt.Errorf("File too large: %s has %d bytes, more than the limit of %d; use read_text_file with head or tail",
		f.abs(name), size, limit)
}

func readText(ctx context.Context, f *folder, a args) (string, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return "", err
	}
	head, tail := a.count("head"), a.count("tail")
	switch {
	case head > 0 && tail > 0:
		return "", errors.New("Cannot specify both head and tail parameters simultaneously")
	case head > 0:
		return f.head(ctx, name, head)
	case tail > 0:
		return f.tail(ctx, name, tail)
	}
	data, err := f.content(name, maxRead)
	return string(data), err
}

// head gives the first lines of a file.
func (f *folder) head(ctx context.Context, name string, lines int) (string, error) {
	file, size, err := f.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	var text []byte
	for r := bufio.NewReaderSize(file, 64<<10); lines > 0; {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxRead {
			return "", f.tooLarge(name, size, maxRead)
		}
		switch {
		case err == nil:
			lines--
		case errors.Is(err, io.EOF):
			lines = 0
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", f.failed("read", name, err)
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
	return string(bytes.TrimSuffix(text, []byte("\n"))), nil
}

// tail gives the last lines of a file; a newline at its end begins one more, empty line.
func (f *folder) tail(ctx context.Context, name string, lines int) (string, error) {
	file, size, err := f.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	var text []byte
	chunk := int64(64 << 10)
	for at := size; at > 0 && bytes.Count(text, []byte("\n")) < lines; chunk = min(2*chunk, 4<<20) {
		from := max(0, at-chunk)
		if size-from > maxRead {
			return "", f.tooLarge(name, size, maxRead)
		}
		part := make([]byte, at-from)
		if _, err := file.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return "", f.failed("read", name, err)
		}
		text, at = append(part, text...), from
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
	return unixLines(lastLines(string(text), lines)), nil
}

// lastLines cuts text down to its last lines.
func lastLines(text string, lines int) string {
	start := len(text)
	for ; lines > 0; lines-- {
		newline := strings.LastIndexByte(text[:start], '\n')
		if newline < 0 {
			return text
		}
		start = newline
	}
	return text[start+1:]
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// readMany reads several files. All of them together are bounded as one is.
func readMany(ctx context.Context, f *folder, a args) (string, error) {
	left, parts := int64(maxRead), []string(nil)
	for _, asked := range a.strings("paths") {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		name, err := f.resolve(asked)
		var data []byte
		if err == nil {
			data, err = f.content(name, left)
		}
		if err != nil {
			parts = append(parts, fmt.Sprintf("%s: Error - %s", asked, err))
			continue
		}
		left -= int64(len(data))
		parts = append(parts, fmt.Sprintf("%s:\n%s\n", asked, data))
	}
	return strings.Join(parts, "\n---\n"), nil
}

// mediaOutput is the schema of what read_media_file gives.
const mediaOutput = `{"type":"object","properties":{"content":{"type":"array","items":{"anyOf":[` +
	`{"type":"object","properties":{"type":{"type":"string","enum":["image","audio"]},"data":{"type":"string"},"mimeType":{"type":"string"}},` +
	`"required":["type","data","mimeType"],"additionalProperties":false},` +
	`{"type":"object","properties":{"type":{"type":"string","const":"resource"},"resource":{"type":"object",` +
	`"properties":{"uri":{"type":"string"},"mimeType":{"type":"string"},"blob":{"type":"string"}},"required":["uri","blob"],"additionalProperties":false}},` +
	`"required":["type","resource"],"additionalProperties":false}]}}},"required":["content"],"additionalProperties":false}`

// mediaType names the content of a file by its extension.
func mediaType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".bmp":
		return "image/bmp"
	case ".svg":
		return "image/svg+xml"
	case ".mp3":
		return "audio/mpeg"
	case ".wav":
		return "audio/wav"
	case ".ogg":
		return "audio/ogg"
	case ".flac":
		return "audio/flac"
	}
	return "application/octet-stream"
}

func readMedia(_ context.Context, f *folder, a args) (*mcp.CallToolResult, error) {
	name, err := f.resolve(a.text("path"))
	if err != nil {
		return nil, err
	}
	raw, err := f.content(name, maxRead/2)
	if err != nil {
		return nil, err
	}
	data, kind := base64.StdEncoding.EncodeToString(raw), mediaType(name)
	var block mcp.Content
	switch {
	case strings.HasPrefix(kind, "image/"):
		block = mcp.NewImageContent(data, kind)
	case strings.HasPrefix(kind, "audio/"):
		block = mcp.NewAudioContent(data, kind)
	default:
		uri := url.URL{Scheme: "file", Path: filepath.ToSlash(f.abs(name))}
		block = mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: uri.String(), MIMEType: kind, Blob: data})
	}
	content := []mcp.Content{block}
	return &mcp.CallToolResult{Content: content, StructuredContent: map[string]any{"content": content}}, nil
}
