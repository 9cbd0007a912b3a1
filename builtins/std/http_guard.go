package std

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/idna"

	"github.com/sense-lang/sense/eval"
)

// reach says who may connect to an address.
type reach uint8

const (
	public    reach = iota // any program
	private                // only a program whose own URL names the host
	forbidden              // nobody: such an address is no server's
)

// special are the blocks of addresses that are not public.
var special = []struct {
	block string
	reach reach
}{
	{"0.0.0.0/8", forbidden}, {"10.0.0.0/8", private}, {"100.64.0.0/10", private}, {"127.0.0.0/8", private},
	{"169.254.0.0/16", forbidden}, // also the servers of clouds that give out keys
	{"172.16.0.0/12", private}, {"192.0.0.0/24", private}, {"192.0.2.0/24", private}, {"192.88.99.0/24", private},
	{"192.168.0.0/16", private}, {"198.18.0.0/15", private}, {"198.51.100.0/24", private}, {"203.0.113.0/24", private},
	{"224.0.0.0/4", forbidden}, {"240.0.0.0/4", forbidden},
	{"::/128", forbidden}, {"::1/128", private}, {"::/96", private}, {"100::/64", private}, {"2001::/32", private},
	{"2001:db8::/32", private}, {"fc00::/7", private}, {"fe80::/10", forbidden}, {"fec0::/10", private}, {"ff00::/8", forbidden},
	{"fd00:ec2::254/128", forbidden}, // a cloud's server of keys
}

// reachOf classes an address. One that carries an IPv4 address is classed as
// that one, since that is where it leads.
func reachOf(ip netip.Addr) reach {
	ip = inner(ip.WithZone("").Unmap())
	worst := public
	for _, s := range special {
		if netip.MustParsePrefix(s.block).Contains(ip) {
			worst = max(worst, s.reach)
		}
	}
	return worst
}

// inner takes the IPv4 address out of those of NAT64 and 6to4.
func inner(ip netip.Addr) netip.Addr {
	b := ip.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip), netip.MustParsePrefix("64:ff9b:1::/48").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:]))
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

// parseURL reads a URL and makes its host canonical, so that what is checked is
// what is connected to.
func parseURL(text string) (*url.URL, string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, "", fmt.Errorf("%s is no URL", eval.Quote(shortened(text)))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Hostname() == "" {
		return nil, "", fmt.Errorf("%s is no URL that begins with http:// or https:// and a host", eval.Quote(shortened(text)))
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return nil, "", err
	}
	port := u.Port()
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return nil, "", fmt.Errorf("%s is no port", eval.Quote(port))
	}
	u.Host = host
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != "" {
		u.Host += ":" + port
	}
	u.Fragment, u.RawFragment = "", ""
	return u, host, nil
}

// shortened takes a query, which may hold secrets, and a user off a text that
// is shown, and cuts it.
func shortened(text string) string {
	text, _, _ = strings.Cut(text, "?")
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			text = scheme + "://" + rest[at+1:]
		}
	}
	if len(text) > 100 {
		text = strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}

// canonicalHost gives the one spelling of a host. The many ways in which an
// address can be written as a number are refused, as programs read them
// differently.
func canonicalHost(host string) (string, error) {
	bad := fmt.Errorf("%s is no host", eval.Quote(shortened(host)))
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" {
			return "", bad
		}
		return ip.Unmap().String(), nil
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil && !plainName(host) {
		return "", bad
	}
	if err != nil { // an underscore, for one
		ascii = strings.ToLower(strings.TrimSuffix(host, "."))
	}
	if ip, err := netip.ParseAddr(ascii); err == nil {
		return ip.Unmap().String(), nil // of other scripts' digits
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if last == "" || ascii[0] == '.' || strings.Contains(ascii, "..") || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", bad
	}
	return ascii, nil
}

// plainName reports whether a host is made of letters, digits, hyphens,
// underscores and dots.
func plainName(host string) bool {
	return strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && !strings.Contains(host, "..")
}

// privateSuffixes end names that are not of the public net.
var privateSuffixes = []string{
	".localhost", ".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".home.arpa", ".corp", ".private", ".test",
}

// privateName reports whether a name is one of a private net.
func privateName(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, s := range privateSuffixes {
		if strings.HasSuffix(host, s) {
			return true
		}
	}
	return false
}

// checkHost says whether a host, as a URL spells it, may be asked; named is the
// one that the program's own URL names.
func checkHost(host, named string) error {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if privateName(host) && host != named {
			return &blocked{host: host}
		}
		return nil
	}
	switch r := reachOf(ip); {
	case r == forbidden:
		return &blocked{host: host, ip: ip, never: true}
	case r == private && host != named:
		return &blocked{host: host, ip: ip}
	}
	return nil
}

// blocked is the refusal of a connection.
type blocked struct {
	host  string
	ip    netip.Addr
	never bool
}

func (b *blocked) Error() string {
	where := "the host " + eval.Quote(b.host)
	if b.ip.IsValid() && b.ip.String() != b.host {
		where += " leads to the address " + b.ip.String() + ", which"
	}
	if b.never {
		return where + " is never connected to"
	}
	return where + " is private: only the program's own URL can name it"
}

// dialer connects for the transport. Names were checked before; here the
// address that a name leads to is, whatever the name service says this time.
// What is allowed depends on the name alone, so a kept connection may serve
// any request for it.
func (c *client) dialer(resolver *net.Resolver) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		_, literal := netip.ParseAddr(host)
		limit := public
		if literal == nil || privateName(host) {
			limit = private
		}
		if c.isProxy(host) {
			limit = forbidden // the user's own choice
		}
		d := net.Dialer{Resolver: resolver, Control: func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if r := reachOf(ap.Addr()); r > limit {
				return &blocked{host: host, ip: ap.Addr().Unmap(), never: r == forbidden}
			}
			return nil
		}}
		return d.DialContext(ctx, network, addr)
	}
}

// asBlocked finds the refusal in an error.
func asBlocked(err error) *blocked {
	var b *blocked
	if errors.As(err, &b) {
		return b
	}
	return nil
}
