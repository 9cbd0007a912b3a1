package audit

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const ordinaryWords = `the server answered that a bearer of bad news and a basic understanding of authorization tokens cannot be
 told from internationalization task risk disk desk sk key secret password passwords keyboard action denied policy approval
 repository createIssue list_files read_output sk_test_the_whole_pipeline sk_live_migration_of_volumes hf_transfer_enabled_by_default
 npm_config_registry_and_cache pypi-publish-with-trusted-publishers glpat-format ghost_town gho_st AKITA ASIAGO AIzawl eyJect eyebrow`

func words(r *rand.Rand, n int, by string) string {
	all := strings.Fields(ordinaryWords)
	out := make([]string, n)
	for i := range out {
		out[i] = all[r.IntN(len(all))]
		if r.IntN(500) == 0 { // long words with a number are rare, and look like a key after "bearer"
			out[i] = "internationalization2026"
		}
	}
	return strings.Join(out, by)
}

func bytesOf(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return b
}

func hexOf(r *rand.Rand, digits int) string { return hex.EncodeToString(bytesOf(r, digits/2)) }

func uuidOf(r *rand.Rand) string {
	h := hexOf(r, 32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-" + h[16:20] + "-" + h[20:]
}

// ordinary are the kinds of strings that a log of a program holds and that are
// no secrets, however random some of them look.
var ordinary = map[string]func(r *rand.Rand) string{
	"prose":        func(r *rand.Rand) string { return words(r, 3+r.IntN(30), " ") },
	"path":         func(r *rand.Rand) string { return "/" + words(r, 2+r.IntN(6), "/") + ".py" },
	"windows path": func(r *rand.Rand) string { return `C:\` + words(r, 2+r.IntN(6), `\`) },
	"url": func(r *rand.Rand) string {
		return "https://" + words(r, 1, "") + ".example.org:8443/" + words(r, 3, "/") + "?q=" + words(r, 2, "%20") + "&page=" + fmt.Sprint(r.IntN(99)) + "#" + words(r, 1, "")
	},
	"uuid":      uuidOf,
	"git hash":  func(r *rand.Rand) string { return "commit " + hexOf(r, 40) + "\nbasic " + hexOf(r, 12) },
	"digest":    func(r *rand.Rand) string { return "sha256:" + hexOf(r, 64) },
	"integrity": func(r *rand.Rand) string { return "sha512-" + base64.StdEncoding.EncodeToString(bytesOf(r, 64)) },
	"image": func(r *rand.Rand) string {
		return "data:image/png;base64,iVBORw0KGgo" + base64.StdEncoding.EncodeToString(bytesOf(r, 300+r.IntN(3000)))
	},
	"base64 for URLs": func(r *rand.Rand) string { return base64.RawURLEncoding.EncodeToString(bytesOf(r, 300+r.IntN(1000))) },
	"json": func(r *rand.Rand) string {
		b, _ := json.Marshal(map[string]any{words(r, 1, ""): words(r, 4, " "), "id": r.Int64(), "tags": strings.Fields(words(r, 5, " ")), "ok": true})
		return string(b)
	},
	"json as base64": func(r *rand.Rand) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"a":"` + words(r, 9, " ") + `"}`))
	},
	"code": func(r *rand.Rand) string {
		return fmt.Sprintf("func %s(%s string) error { return errors.New(%q) }", words(r, 1, ""), words(r, 1, ""), words(r, 5, " "))
	},
	"css": func(r *rand.Rand) string {
		return fmt.Sprintf(".sk-container-id-%d > .%s { color: #%s }", r.IntN(99), words(r, 3, "-"), hexOf(r, 6))
	},
	"csv": func(r *rand.Rand) string {
		return words(r, 4, ",") + fmt.Sprintf(",%d,%.4f,%s", r.Int32(), r.Float64(), uuidOf(r))
	},
	"int":  func(r *rand.Rand) string { return fmt.Sprint(r.Uint64(), r.Uint64()) },
	"nums": func(r *rand.Rand) string { return fmt.Sprint(r.NormFloat64()*1e9, r.ExpFloat64(), -r.Int64()) },
	"date": func(r *rand.Rand) string {
		return fmt.Sprintf("20%02d-%02d-%02dT%02d:%02d:%02d.%09dZ", r.IntN(99), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e9))
	},
	"hex colours": func(r *rand.Rand) string {
		return "#" + hexOf(r, 6) + " #" + strings.ToUpper(hexOf(r, 8)) + " rgb(" + fmt.Sprint(r.IntN(256)) + ",0,0)"
	},
	"npm package": func(r *rand.Rand) string {
		return fmt.Sprintf("@%s/%s@%d.%d.%d-beta.%d", words(r, 1, ""), words(r, 3, "-"), r.IntN(20), r.IntN(20), r.IntN(99), r.IntN(9))
	},
	"go module": func(r *rand.Rand) string {
		return fmt.Sprintf("example.org/%s v0.0.0-2026%010d-%s h1:%s=", words(r, 2, "/"), r.IntN(1e9), hexOf(r, 12), base64.StdEncoding.EncodeToString(bytesOf(r, 32)))
	},
	"mail": func(r *rand.Rand) string {
		return words(r, 2, ".") + "@example.org, Message-ID: <" + uuidOf(r) + "@mail.example.org>"
	},
	"header": func(r *rand.Rand) string {
		return "x-request-id: " + uuidOf(r) + "\r\netag: W/\"" + hexOf(r, 32) + "\""
	},
	"certificate": func(r *rand.Rand) string {
		return "-----BEGIN CERTIFICATE-----\n" + base64.StdEncoding.EncodeToString(bytesOf(r, 600)) + "\n-----END CERTIFICATE-----\n"
	},
	"public key": func(r *rand.Rand) string {
		return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + base64.StdEncoding.EncodeToString(bytesOf(r, 33)) + " " + words(r, 1, "") + "@host"
	},
	"aws resource": func(r *rand.Rand) string {
		return fmt.Sprintf("arn:aws:iam::%012d:role/%s i-%s", r.IntN(1e12), words(r, 2, "-"), hexOf(r, 16))
	},
	"mcp result": func(r *rand.Rand) string {
		return fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"structuredContent":{"sha":%q,"node_id":%q},"isError":false}`, words(r, 8, " "), hexOf(r, 40), base64.StdEncoding.EncodeToString(bytesOf(r, 24)))
	},
	"other scripts": func(r *rand.Rand) string {
		return "日本語のテキスト と кириллица, " + words(r, 3, "、") + " 👩‍👩‍👧 می‌خواهم"
	},
	"log line": func(r *rand.Rand) string {
		return fmt.Sprintf("level=info ts=%d trace_id=%s span_id=%s msg=%q", r.Int64(), hexOf(r, 32), hexOf(r, 16), words(r, 6, " "))
	},
}

// At most one in a thousand of 10,000 ordinary strings of many kinds may be
// taken for a secret, with 200 secrets registered; as a field of an entry too.
func TestOrdinaryStringsStay(t *testing.T) {
	const total, allowed = 10_000, 10
	var r Redactor
	rnd := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		r.Add(randomText(rnd, MinSecret+rnd.IntN(40)))
	}
	each, done, wrong := total/len(ordinary)+1, 0, 0
	for _, kind := range slices.Sorted(maps.Keys(ordinary)) {
		for range min(each, total-done) {
			s := ordinary[kind](rnd)
			done++
			if r.Redact(s) == s && r.Value("result", s) == any(s) {
				continue
			}
			if wrong++; wrong <= 20 {
				t.Logf("%s: %.300q -> %.300q", kind, s, r.Redact(s))
			}
		}
	}
	t.Logf("%d of %d strings of %d kinds", wrong, done, len(ordinary))
	if wrong > allowed || done != total {
		t.Errorf("%d of %d were taken for secrets, at most %d may be", wrong, done, allowed)
	}
}

// A name that a program declares stays in what is written about it.
func TestRedactPublicNames(t *testing.T) {
	var none *Redactor
	none.Public("deploy-to-production")
	var r Redactor
	r.Add("deploy-to-production")
	if got := r.name("deploy-to-production"); got != Mark("deploy-to-production") {
		t.Errorf("a name that nothing declares: %s", got)
	}
	r.Public("deploy-to-production")
	if got := r.name("deploy-to-production"); got != "deploy-to-production" {
		t.Errorf("a declared name: %s", got)
	}
	if got := r.Redact("deploy-to-production"); got != Mark("deploy-to-production") {
		t.Errorf("elsewhere: %s", got)
	}
}
