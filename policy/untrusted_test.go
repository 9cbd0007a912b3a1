package policy

import "testing"

func TestUntrusted(t *testing.T) {
	c := &Ceiling{}
	if err := c.Untrusted("--untrusted", "mcp.web", "net.http", "mcp.mail.read_*"); err != nil {
		t.Fatal(err)
	}
	if err := c.AskAfterUntrusted("sense.toml", "email.*", "mcp.mail.send"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		capability, tool string
		untrusted, asks  bool
	}{
		{"mcp.web", "fetch", true, false}, {"mcp.web", "", true, false}, {"mcp.webs", "fetch", false, false}, {"net.http", "a.b", true, false},
		{"mcp.mail", "read_all", true, false}, {"mcp.mail", "send", false, true}, {"mcp.mail", "", false, false},
		{"email.send", "", false, true}, {"email", "", false, false}, {"email.a.b", "", false, true}, {"fs.read", "", false, false},
	}
	for _, tt := range tests {
		if got := c.IsUntrusted(tt.capability, tt.tool); got != tt.untrusted {
			t.Errorf("%s %s: untrusted %v", tt.capability, tt.tool, got)
		}
		d, asks := c.AsksAfterUntrusted(tt.capability, tt.tool)
		if asks != tt.asks || asks && (d.Allowed || d.Note() == "") {
			t.Errorf("%s %s: asks %v, %+v", tt.capability, tt.tool, asks, d)
		}
	}
	var none *Ceiling
	if _, asks := none.AsksAfterUntrusted("email.send", ""); asks || none.IsUntrusted("mcp.web", "") {
		t.Error("no ceiling asks")
	}
	if c.Untrusted("--untrusted", "a..b") == nil || c.AskAfterUntrusted("x", "") == nil {
		t.Error("malformed patterns are taken")
	}
	if d := Decide(c, "email.send", nil, nil); !d.Allowed {
		t.Errorf("by itself it denies nothing: %+v", d)
	}
}
