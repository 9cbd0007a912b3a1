package std_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sense-lang/sense/builtins/std"
)

func TestText(t *testing.T) {
	new(program).check(t, []row{
		{code: `text.match("(\\d+)-(x)?", "ab 12-")`, want: "[12-, 12, nil]"},
		{code: `text.match("^b", "ab")`, want: "nil"},
		{code: `text.find_all("[a-zé]+", "ab cé")`, want: "[ab, cé]"},
		{code: `text.find_all("(\\w)(\\d)", "a1 b2")`, want: "[[a1, a, 1], [b2, b, 2]]"},
		{code: `text.find_all("x", "abc")`, want: "[]"},
		{code: `text.replace("(\\w+)@(?P<host>\\w+)", "me@home", "${host}/$1")`, want: "home/me"},
		{code: `text.replace("\\d+", "a1b22", lambda m: f"<{m}>")`, want: "a<1>b<22>"},
		{code: `text.replace("(a)(\\d)", "a1", lambda m: m[2] + m[1])`, want: "1a"},
		{code: `text.replace("x*", "ab", "-")`, want: "-a-b-"},
		{code: `text.replace("a", "a", lambda m: 1)`, fails: "std.text.replace: the function for 'by' must give a String, got Int"},
		{code: `text.replace("a", "a", 1)`, fails: "value of type Int is not callable"},
		{code: `text.split(",\\s*", "a, b,c")`, want: "[a, b, c]"},
		{code: `text.split(",", ",a,")`, want: "[, a, ]"},
		{code: `text.split("", "abc")`, want: "[a, b, c]"},
		{code: `text.split(",", "")`, want: "[]"},
		{code: `text.escape("a.b*c")`, want: `a\.b\*c`},
		{code: `text.match("(", "a")`, fails: "std.text.match: bad pattern: missing closing ): `(`"},
		{code: `text.match("a".repeat(70000), "a")`, fails: "std.text.match: the pattern is longer than 65536 bytes"},
		{code: `text.match("a", 1)`, fails: "std.text.match() expects a String for 'text', got Int"},
		{code: `text.find_all("", "a".repeat(1100000))`, fails: "std.text.find_all: there are over 1048576 matches"},
	})
}

func TestMath(t *testing.T) {
	new(program).check(t, []row{
		{code: `math.pi, math.e, math.tau`, want: "3.141592653589793 2.718281828459045 6.283185307179586"},
		{code: `math.inf, -math.inf, math.nan`, want: "inf -inf nan"},
		{code: `math.floor(2.7), math.ceil(2.1), math.trunc(-2.7), math.floor(-2.1)`, want: "2 3 -2 -3"},
		{code: `math.floor(1e20), math.floor(2 ** 80)`, want: "100000000000000000000 1208925819614629174706176"},
		{code: `math.sqrt(16), math.exp(0), math.pow(2, 0.5)`, want: "4.0 1.0 1.4142135623730951"},
		{code: `math.log(1), math.log(8, 2), math.log(1000, 10), math.log2(8), math.log10(1000)`, want: "0.0 3.0 3.0 3.0 3.0"},
		{code: `math.sin(0), math.cos(0), math.tan(0), math.asin(0), math.acos(1), math.atan(0)`, want: "0.0 1.0 0.0 0.0 0.0 0.0"},
		{code: `math.sinh(0), math.cosh(0), math.tanh(0), math.atan2(0, 1), math.hypot(3, 4)`, want: "0.0 1.0 0.0 0.0 5.0"},
		{code: `math.degrees(math.pi), math.radians(180)`, want: "180.0 3.141592653589793"},
		{code: `math.gcd(12, -18), math.lcm(4, 6), math.lcm(0, 3), math.isqrt(10 ** 40 + 5)`, want: "6 12 0 100000000000000000000"},
		{code: `math.factorial(0), math.factorial(20), math.factorial(25)`, want: "1 2432902008176640000 15511210043330985984000000"},
		{code: `math.is_nan(math.nan), math.is_nan(1), math.is_inf(-math.inf), math.is_inf(2)`, want: "true false true false"},
		{code: `math.sqrt(math.inf), math.sin(math.nan), math.exp(-math.inf)`, want: "inf nan 0.0"},
		{code: `math.sqrt(-1)`, fails: "std.math.sqrt: not defined for -1"},
		{code: `math.log(0)`, fails: "std.math.log: not defined for 0"},
		{code: `math.log(8, 1)`, fails: "std.math.log: not defined for 8, 1"},
		{code: `math.log(-1, 2)`, fails: "std.math.log: not defined for -1, 2"},
		{code: `math.pow(0, -1)`, fails: "std.math.pow: not defined for 0, -1"},
		{code: `math.exp(1000)`, fails: "std.math.exp: the result is too large for 1000"},
		{code: `math.sinh(-1000)`, fails: "std.math.sinh: the result is too large for -1000"},
		{code: `math.asin(2)`, fails: "std.math.asin: not defined for 2"},
		{code: `math.floor(math.inf)`, fails: "std.math.floor: not defined for inf"},
		{code: `math.gcd(1, 2.0)`, fails: "std.math.gcd() expects an Int for 'b', got Float"},
		{code: `math.isqrt(-1)`, fails: "std.math.isqrt: not defined for -1"},
		{code: `math.factorial(-1)`, fails: "std.math.factorial: 'n' must be from 0 to 20000, got -1"},
	})
}

func TestTime(t *testing.T) {
	p := &program{o: std.Options{Clock: func() time.Time { return time.Date(2026, 1, 31, 9, 30, 0, 123456789, time.UTC) }}}
	p.check(t, []row{
		{code: `time.now()`, want: "1769851800.123456"},
		{code: `time.iso(time.now())`, want: "2026-01-31T09:30:00.123456Z"},
		{code: `time.iso(0), time.iso(-1), time.iso(1.5)`, want: "1970-01-01T00:00:00Z 1969-12-31T23:59:59Z 1970-01-01T00:00:01.5Z"},
		{code: `time.parse("2026-01-31T09:30:00Z"), time.parse("2026-01-31 09:30"), time.parse("2026-01-31")`, want: "1769851800.0 1769851800.0 1769817600.0"},
		{code: `time.parse("2026-01-31t10:30:00.25+01:00"), time.parse("2026-01-31T09:30:00z")`, want: "1769851800.25 1769851800.0"},
		{code: `time.parse("Sat, 31 Jan 2026 09:30:00 GMT")`, want: "1769851800.0"},
		{code: `time.monotonic() >= 0, time.monotonic() <= time.monotonic()`, want: "true true"},
		{code: `time.sleep(0), time.sleep(0.001)`, want: "nil nil"},
		{code: `time.parse("31.1.2026")`, fails: "std.time.parse: '31.1.2026' is no time such as 2026-01-31T09:30:00Z"},
		{code: `time.parse("2026-02-30")`, fails: "std.time.parse: '2026-02-30' is no time such as 2026-01-31T09:30:00Z"},
		{code: `time.iso(1e20)`, fails: "std.time.iso: 1e+20 is not within the years 0 to 9999"},
		{code: `time.iso(math.nan)`, fails: "std.time.iso: nan is not within the years 0 to 9999"},
		{code: `time.sleep(nil)`, fails: "std.time.sleep() expects a number for 'seconds', got Nil"},
	})
}

func TestRandom(t *testing.T) {
	const draw = `
import std.random
random.seed(%)
print(random.int(1, 6), random.int(-10 ** 30, 10 ** 30), random.float(), random.choice(["a", "b", "c"]), random.shuffle([1, 2, 3, 4, 5]))`
	p := new(program)
	seeded := func(seed string) string {
		t.Helper()
		out, err := p.run(strings.Replace(draw, "%", seed, 1))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	// The stream of a seed is a promise: these values must never change.
	if got, want := seeded("42"), "5 312559471531342111149485118970 0.4661013535987243 a [4, 2, 3, 5, 1]"; got != want {
		t.Errorf("seed 42 gives %s, want %s", got, want)
	}
	if first := seeded("42"); first != seeded("42") || first == seeded("43") || seeded("1") == seeded(`"1"`) {
		t.Error("a seed does not decide what follows, or two seeds give the same")
	}
	p.check(t, []row{
		{code: `random.int(5, 5)`, want: "5"},
		{code: `sorted(random.shuffle([3, 1, 2]))`, want: "[1, 2, 3]"},
		{code: `all(range(1000).map(lambda i: random.int(1, 3) in [1, 2, 3]))`, want: "true"},
		{code: `all(range(1000).map(lambda i: 0 <= random.float() and random.float() < 1))`, want: "true"},
		{code: `random.int(2, 1)`, fails: "std.random.int: 'most' must not be below 'least', got 2, 1"},
		{code: `random.int(1, 2.0)`, fails: "std.random.int() expects an Int for 'most', got Float"},
		{code: `random.choice([])`, fails: "std.random.choice: the Array is empty"},
		{code: `random.choice("abc")`, fails: "std.random.choice() expects an Array for 'array', got String"},
		{code: `random.shuffle({})`, fails: "std.random.shuffle() expects an Array for 'array', got Map"},
		{code: `random.seed(1.5)`, fails: "std.random.seed() expects an Int or a String for 'n', got Float"},
	})
}

func TestRandomWithoutSeedDiffers(t *testing.T) {
	const src = "import std.random\nprint(random.int(0, 10 ** 30))"
	a, err := new(program).run(src)
	b, err2 := new(program).run(src)
	if err != nil || err2 != nil || a == b {
		t.Errorf("two programs drew %s and %s (%v, %v)", a, b, err, err2)
	}
}

func TestEnv(t *testing.T) {
	vars := map[string]string{"A": "1", "B": "", "BAD": "x\xff"}
	p := &program{o: std.Options{
		Getenv:  func(n string) string { return vars[n] },
		Environ: func() []string { return []string{"B=", "A=1", "=odd", "BAD=x\xff", "A=1"} },
		Args:    []string{"one", "--two", "b\xffd"},
	}}
	p.check(t, []row{
		{code: `env.get("A"), env.get("B"), env.get("C"), env.get("C", "d"), env.get("BAD")`, want: "1  nil d x\uFFFD"},
		{code: `env.names()`, want: "[A, B, BAD]"},
		{code: `env.args()`, want: "[one, --two, b\uFFFDd]"},
		{code: `env.get(1)`, fails: "std.env.get() expects a String for 'name', got Int"},
	})
	new(program).check(t, []row{{code: `env.get("HOME"), env.names(), env.args()`, want: "nil [] []"}})
}

func TestHash(t *testing.T) {
	new(program).check(t, []row{
		{code: `hash.md5("")`, want: "d41d8cd98f00b204e9800998ecf8427e"},
		{code: `hash.sha1("abc")`, want: "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{code: `hash.sha256("abc")`, want: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{code: `hash.sha512("abc")[:16]`, want: "ddaf35a193617aba"},
		{code: `hash.hmac("Jefe", "what do ya want for nothing?")`, want: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{code: `hash.hmac("Jefe", "what do ya want for nothing?", "md5")`, want: "750c783e6ab0b503eaa86e310a5db738"},
		{code: `hash.equal("a", "a"), hash.equal("a", "b")`, want: "true false"},
		{code: `hash.hmac("k", "t", "crc32")`, fails: "std.hash.hmac: unknown algorithm 'crc32' (there are md5, sha1, sha256, sha512)"},
		{code: `hash.sha256(1)`, fails: "std.hash.sha256() expects a String for 'text', got Int"},
	})
}

// Without a client nobody listens, and nobody can be asked.
func TestServeWithoutClient(t *testing.T) {
	const nobody = ": only a tool that `sense mcp serve` offers has a client to ask"
	new(program).check(t, []row{
		{code: `serve.progress(1), serve.progress(1.5, 2, "x"), serve.progress(done: 1, message: "x")`, want: "nil nil nil"},
		{code: `serve.log("x"), serve.log("x", "debug"), serve.log("x", level: "emergency")`, want: "nil nil nil"},
		{code: `serve.progress("1")`, fails: "std.serve.progress() expects a number for 'done', got String"},
		{code: `serve.log(1)`, fails: "std.serve.log() expects a String for 'message', got Int"},
		{code: `serve.log("x", "loud")`, fails: "std.serve.log: there is no level 'loud' (there are debug, info, notice, warning, error, critical, alert, emergency)"},
		{code: `serve.form("?", {"a": "String"})`, fails: "std.serve.form" + nobody},
		{code: `serve.form("?", [])`, fails: "std.serve.form() expects a Map for 'fields', got Array"},
		{code: `serve.form("?", {"a": "Text"})`, fails: "std.serve.form: the field 'a' has the unknown type 'Text' (there are String, Int, Float, Bool)"},
		{code: `serve.form("?", {"a": 1})`, fails: "std.serve.form: the field 'a' must be the name of a type or a Map, got Int"},
		{code: `serve.form("?", {"a": {"default": print}})`, fails: "std.serve.form: the field 'a': JSON has nothing for a Function"},
		{code: `serve.sample("?")`, fails: "std.serve.sample" + nobody},
		{code: `serve.sample("?", 0)`, fails: "std.serve.sample: 'max_tokens' must be from 1 to 1048576, got 0"},
	})
}

func TestBase64(t *testing.T) {
	new(program).check(t, []row{
		{code: `base64.encode("hé"), base64.encode(""), base64.encode_url("hé?>")`, want: "aMOp  aMOpPz4"},
		{code: `base64.decode("aMOp"), base64.decode("YQ=="), base64.decode("YQ"), base64.decode("aMOp\n Pz4="), base64.decode("aMOpPz4")`, want: "hé a a hé?> hé?>"},
		{code: `base64.decode("Pz8-"), base64.decode("Pz8+")`, want: "??> ??>"},
		{code: `base64.decode("YQ=")`, fails: "std.base64.decode: the padding is wrong"},
		{code: `base64.decode("Y===")`, fails: "std.base64.decode: the padding is wrong"},
		{code: `base64.decode("Y")`, fails: "std.base64.decode: the text is not Base64"},
		{code: `base64.decode("Y!==")`, fails: "std.base64.decode: the text is not Base64"},
		{code: `base64.decode("/w==")`, fails: "std.base64.decode: what it stands for is not UTF-8 text"},
		{code: `base64.encode(1)`, fails: "std.base64.encode() expects a String for 'text', got Int"},
	})
}

func TestCSV(t *testing.T) {
	new(program).check(t, []row{
		{code: `csv.parse("a,b\n1,\"x,\"\"y\"\"\"\n")`, want: `[[a, b], [1, x,"y"]]`},
		{code: `csv.parse("a,b\r\n1\r\n")`, want: "[[a, b], [1]]"},
		{code: `csv.parse(json.parse('"\\ufeff"') + "n;m\n1;2", header: true, separator: ";")`, want: "[{n: 1, m: 2}]"},
		{code: `csv.parse(""), csv.parse("a\n", header: true)`, want: "[] []"},
		{code: `csv.dump([["a", 1], [nil, true], ["x,y", "q\"q"]])`, want: "a,1\n,true\n\"x,y\",\"q\"\"q\"\n"},
		{code: `csv.dump([{"a": 1, "b": 2.5}, {"b": 4, "a": 3}], "\t")`, want: "a\tb\n1\t2.5\n3\t4\n"},
		{code: `csv.dump([])`, want: ""},
		{code: `csv.parse(csv.dump([[""], ["a"], ["", ""]]))`, want: "[[], [a], [, ]]"},
		{code: `csv.parse("a\n\"b")`, fails: `std.csv.parse: line 2, column 3: extraneous or missing " in quoted-field`},
		{code: `csv.parse("a\nb\"c")`, fails: `std.csv.parse: line 2, column 2: bare " in non-quoted-field`},
		{code: `csv.parse("a,b\n1", header: true)`, fails: "std.csv.parse: line 2: the row has 1 field(s), the first row 2"},
		{code: `csv.parse("a,a\n1,2", header: true)`, fails: "std.csv.parse: line 1: the name 'a' stands twice in the first row"},
		{code: `csv.parse("a", separator: "ab")`, fails: "std.csv.parse: 'separator' must be one character, no quote and no line end, got 'ab'"},
		{code: `csv.parse("a", separator: "\n")`, fails: `std.csv.parse: 'separator' must be one character, no quote and no line end, got '\n'`},
		{code: `csv.dump([1])`, fails: "std.csv.dump: row 0: a row must be an Array or a Map, got Int"},
		{code: `csv.dump([[1], {"a": 1}])`, fails: "std.csv.dump: row 1: rows must all be Arrays or all be Maps"},
		{code: `csv.dump([{"a": 1}, [1]])`, fails: "std.csv.dump: row 1: rows must all be Arrays or all be Maps"},
		{code: `csv.dump([{"a": 1}, {"b": 1}])`, fails: "std.csv.dump: row 1: no key 'a'"},
		{code: `csv.dump([{"a": 1}, {"a": 1, "b": 1}])`, fails: "std.csv.dump: row 1: it has keys that the first row lacks"},
		{code: `csv.dump([[[1]]])`, fails: "std.csv.dump: row 0: a field cannot be Array"},
		{code: `csv.dump("a")`, fails: "std.csv.dump() expects an Array for 'rows', got String"},
	})
}
