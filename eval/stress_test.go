package eval_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// stress has eight agents that do everything at once with shared arrays, maps,
// text, a memory, tools, actions, errors, mailboxes and async tools.
const stress = `shared = []
table = {}
memory mem: "shared"
n = 0
irreversible action note(who: Int, what: Array):
    n += 1
async tool later(x: Int) "later":
    shared.push(x)
    return x + 1
tool now(x: Int) requires stress.now "now":
    return x * 2
def work(who):
    policy:
        allow stress.now
    for i in range(ROUNDS):
        table[f"{who}-{i % 7}"] = i
        shared.push(who)
        if len(shared) > 100: shared = []
        mem.remember(f"k{who}", i)
        if mem.recall(f"k{who}") != i: raise "lost a value of its own"
        a = note(who, [i])
        a.verify()
        a.commit()
        try:
            if i % 3 == 0: raise f"on purpose {i}"
            x = now(i)
        catch e:
            x = e.message
        if await(later(i)) != i + 1: raise "a wrong answer"
        s = table.keys().join(",")
        z = audit_log()
        if len(z) < i: raise "a short audit"
    return who
AGENTSSTARTSfor x in range(8): await(all[x])
print(n)
`

// TestAgentsUnderStress runs eight agents for as long as SENSE_STRESS says, in
// programs of a few rounds; make soak does ten minutes under the race detector.
func TestAgentsUnderStress(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("SENSE_STRESS"))
	if err != nil {
		long = 0 // once
	}
	var agents, starts, names strings.Builder
	for _, w := range "01234567" {
		agents.WriteString("async agent a" + string(w) + ":\n    work(" + string(w) + ")\n")
		starts.WriteString("start(a" + string(w) + ")\n")
		names.WriteString("a" + string(w) + ", ")
	}
	src := strings.NewReplacer("AGENTS", agents.String(), "STARTS", starts.String()+"all = ["+names.String()+"]\n", "ROUNDS", "20").Replace(stress)
	runs := 0
	for began := time.Now(); runs == 0 || time.Since(began) < long; runs++ {
		p := newProgram(t, context.Background(), nil)
		if out, err := p.run(t, src); err != nil || out != "160\n" {
			t.Fatalf("run %d: %q, %v", runs, out, err)
		}
		p.Close()
	}
	t.Logf("%d programs of 8 agents", runs)
}
