package model

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var wirePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func TestNames(t *testing.T) {
	long := strings.Repeat("l", 60)
	tests := []struct {
		name  string
		tools []ToolName
		want  []string // "" is any legal name
	}{
		{"Sense tools keep their names", []ToolName{{"", "add"}, {"", "_x-1"}}, []string{"add", "_x-1"}},
		{"A21 dots", []ToolName{{"fs", "read.file"}, {"fs", "echo"}}, []string{"mcp__fs__read_file", "mcp__fs__echo"}},
		{"A22 human names", []ToolName{{"s", "Dockerfile scan"}, {"s", "unicodé"}, {"s", "UPPER"}, {"s", "1st"}},
			[]string{"mcp__s__Dockerfile_scan", "mcp__s__unicod_", "mcp__s__UPPER", "mcp__s__1st"}},
		{"A23 long names", []ToolName{{"server-of-20-letters", long + "a"}, {"server-of-20-letters", long + "b"}}, []string{"", ""}},
		{"A24 one tool on two servers", []ToolName{{"a", "create_issue"}, {"b", "create_issue"}}, []string{"mcp__a__create_issue", "mcp__b__create_issue"}},
		{"folded alike", []ToolName{{"s", "read file"}, {"s", "read.file"}}, []string{"", ""}},
		{"the border between server and tool", []ToolName{{"a__b", "c"}, {"a", "b__c"}}, []string{"", ""}},
		{"a Sense tool that looks like another's", []ToolName{{"a", "b"}, {"", "mcp__a__b"}}, []string{"", "mcp__a__b"}},
		{"Sense tools with other letters", []ToolName{{"", "größe"}, {"", "größe2"}, {"", "grüße"}}, []string{"", "gr__e2", ""}},
		{"empty names", []ToolName{{"", ""}, {"s", ""}}, []string{"_", "mcp__s__"}},
		{"given twice", []ToolName{{"s", "t"}, {"s", "t"}}, []string{"mcp__s__t", "mcp__s__t"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := NewNames(tt.tools)
			for i, tool := range tt.tools {
				got := n.Wire(tool)
				if tt.want[i] != "" && got != tt.want[i] {
					t.Errorf("%v is %q, want %q", tool, got, tt.want[i])
				}
			}
			checkBijection(t, n, tt.tools)
		})
	}
}

func TestNamesUnknown(t *testing.T) {
	n := NewNames([]ToolName{{"s", "t"}})
	if w := n.Wire(ToolName{"s", "other"}); w != "" {
		t.Errorf("a tool not given has the name %q", w)
	}
	for _, near := range []string{"", "mcp__s__", "mcp__s__T", "mcp__s__t ", "s.t", "t"} {
		if tool, ok := n.Tool(near); ok {
			t.Errorf("%q stands for %v", near, tool)
		}
	}
	if _, ok := (&Names{}).Tool("x"); ok {
		t.Error("the zero value knows a tool")
	}
}

func TestNamesDoNotDependOnOrder(t *testing.T) {
	tools := []ToolName{{"s", "read file"}, {"s", "read.file"}, {"", "größe"}, {"a__b", "c"}, {"a", "b__c"}, {"s", strings.Repeat("x", 90)}}
	want := NewNames(tools)
	for range 50 {
		rand.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		got := NewNames(tools)
		for _, tool := range tools {
			if got.Wire(tool) != want.Wire(tool) {
				t.Fatalf("%v is %q and %q", tool, want.Wire(tool), got.Wire(tool))
			}
		}
	}
}

func TestToolNameString(t *testing.T) {
	if s := (ToolName{"", "t"}).String(); s != "t" {
		t.Error(s)
	}
	if s := (ToolName{"my server", "t.u"}).String(); s != "my server.t.u" {
		t.Error(s)
	}
}

// M3: whatever servers and tools are called, no name on the wire is ambiguous.
func TestNamesAreABijection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		tools := make([]ToolName, 1+r.IntN(12))
		for i := range tools {
			tools[i] = ToolName{randomName(r, 3), randomName(r, 4)}
			switch r.IntN(6) {
			case 0: // a Sense tool
				tools[i].Server = ""
			case 1: // a copy that differs in one place, perhaps only in what is folded
				if i > 0 {
					tools[i] = tools[r.IntN(i)]
					tools[i].Tool += string([]rune("._/ é")[r.IntN(5)])
				}
			case 2: // one that imitates another's name on the wire
				if i > 0 {
					tools[i] = ToolName{"", NewNames(tools[:i]).Wire(tools[r.IntN(i)])}
				}
			}
		}
		checkBijection(t, NewNames(tools), tools)
	}
}

func randomName(r *rand.Rand, parts int) string {
	pieces := []string{"a", "b", "_", "__", ".", "-", " ", "é", "日本", "mcp__", "\x00", "A", "1", strings.Repeat("x", 30), strings.Repeat("ö", 40), "а" /* Cyrillic */}
	var s strings.Builder
	for range r.IntN(parts + 1) {
		s.WriteString(pieces[r.IntN(len(pieces))])
	}
	return s.String()
}

func checkBijection(t *testing.T, n *Names, tools []ToolName) {
	t.Helper()
	owner := map[string]ToolName{}
	for _, tool := range tools {
		w := n.Wire(tool)
		if !wirePattern.MatchString(w) {
			t.Fatalf("%q has the name %q, which vendors refuse", tool, w)
		}
		if other, taken := owner[w]; taken && other != tool {
			t.Fatalf("%q stands for %q and %q", w, other, tool)
		}
		owner[w] = tool
		if back, ok := n.Tool(w); !ok || back != tool {
			t.Fatalf("%q is %q, which stands for %q", tool, w, back)
		}
	}
}
