package std

import (
	"net/netip"
	"testing"
)

func TestReachOf(t *testing.T) {
	for text, want := range map[string]reach{
		"8.8.8.8": public, "1.1.1.1": public, "172.32.0.1": public, "100.128.0.1": public, "2606:4700::1111": public, "::ffff:8.8.8.8": public,
		"64:ff9b::808:808": public, "2002:808:808::": public,
		"127.0.0.1": private, "127.255.0.1": private, "10.1.2.3": private, "172.16.0.1": private, "172.31.255.255": private, "192.168.1.1": private,
		"100.64.0.1": private, "198.18.0.1": private, "::1": private, "fd00::1": private, "::ffff:10.0.0.1": private, "::10.0.0.1": private,
		"64:ff9b::a00:1": private, "2002:a00:1::": private, "2001:0:1::": private,
		"169.254.169.254": forbidden, "fe80::1": forbidden, "0.0.0.0": forbidden, "::": forbidden, "224.0.0.1": forbidden, "255.255.255.255": forbidden,
		"ff02::1": forbidden, "::ffff:169.254.169.254": forbidden, "64:ff9b::a9fe:a9fe": forbidden, "2002:a9fe:a9fe::": forbidden, "fd00:ec2::254": forbidden,
	} {
		if got := reachOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

func TestCanonicalHost(t *testing.T) {
	for text, want := range map[string]string{
		"Example.COM": "example.com", "example.com.": "example.com", "127.0.0.1": "127.0.0.1", "::1": "::1", "0:0:0:0:0:0:0:1": "::1",
		"::ffff:10.0.0.1": "10.0.0.1", "bücher.example": "xn--bcher-kva.example", "１２７.０.０.１": "127.0.0.1", "my_host": "my_host",
		"A_b.example": "a_b.example", "1.example": "1.example", "ⓔxample.com": "example.com",
		"2130706433": "", "127.1": "", "0177.0.0.1": "", "0x7f.0.0.1": "", "x.0x7f": "", "1.2.3.4.5": "", "999.0.0.1": "", "x.1": "",
		"": "", ".": "", "..": "", "a..b": "", "a b": "", "fe80::1%eth0": "", "a/b": "", "a%00b": "", "exa\x00mple": "", "256.256.256.256": "",
	} {
		got, err := canonicalHost(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q becomes %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for _, c := range []struct {
		host, named string
		ok          bool
	}{
		{"example.com", "a.example", true}, {"8.8.8.8", "a.example", true},
		{"localhost", "localhost", true}, {"localhost", "a.example", false}, {"localhost", "127.0.0.1", false},
		{"127.0.0.1", "127.0.0.1", true}, {"127.0.0.1", "127.0.0.2", false}, {"10.0.0.1", "a.example", false},
		{"nas.local", "nas.local", true}, {"nas.local", "a.example", false}, {"x.localhost", "a.example", false},
		{"169.254.169.254", "169.254.169.254", false}, {"0.0.0.0", "0.0.0.0", false},
	} {
		if err := checkHost(c.host, c.named); (err == nil) != c.ok {
			t.Errorf("%s where the URL names %s: %v", c.host, c.named, err)
		}
	}
}

func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://a.example", "http://a.example:80/x", true}, {"https://a.example", "https://A.EXAMPLE:443", true},
		{"http://a.example", "https://a.example", false}, {"http://a.example", "http://b.a.example", false}, {"http://a.example", "http://a.example:81", false},
	} {
		x, _, err := parseURL(c.a)
		y, _, err2 := parseURL(c.b)
		if err != nil || err2 != nil || (origin(x) == origin(y)) != c.same {
			t.Errorf("%s and %s: %v %v", c.a, c.b, err, err2)
		}
	}
}
