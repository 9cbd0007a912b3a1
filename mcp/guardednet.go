package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
)

// reach says how far an address is from us.
type reach int

const (
	reachNone    reach = iota // nothing of ours: link-local, multicast, unspecified
	reachPublic               // the Internet
	reachPrivate              // the local network
	reachLoopback
)

var (
	sharedNet   = netip.MustParsePrefix("100.64.0.0/10") // carriers' private network
	thisNet     = netip.MustParsePrefix("0.0.0.0/8")     // leads to ourselves
	reservedNet = netip.MustParsePrefix("240.0.0.0/4")
	cloudKeys   = netip.MustParseAddr("fd00:ec2::254") // a cloud's server of keys
)

// carriers are the blocks of IPv6 addresses that carry an IPv4 one, which is
// where they lead, and at which byte.
var carriers = []struct {
	block netip.Prefix
	at    int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2}, {netip.MustParsePrefix("::/96"), 12},
}

// carried takes the IPv4 address out of one that carries it.
func carried(ip netip.Addr) netip.Addr {
	if ip.Is6() && !ip.IsLoopback() && !ip.IsUnspecified() {
		b := ip.As16()
		for _, c := range carriers {
			if c.block.Contains(ip) {
				return netip.AddrFrom4([4]byte(b[c.at : c.at+4]))
			}
		}
	}
	return ip
}

func reachOf(ip netip.Addr) reach {
	ip = carried(ip.Unmap().WithZone(""))
	switch {
	case !ip.IsValid(), ip.IsMulticast(), ip.IsLinkLocalUnicast(), thisNet.Contains(ip), ip.IsUnspecified(), reservedNet.Contains(ip), ip == cloudKeys:
		return reachNone
	case ip.IsLoopback():
		return reachLoopback
	case ip.IsPrivate(), sharedNet.Contains(ip):
		return reachPrivate
	}
	return reachPublic
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && reachOf(ip) == reachLoopback
}

// newAuthTransport makes the transport to authorization servers, whose
// addresses a server tells us and may lie about: it connects to public
// addresses, and to loopback or the local network only if the server itself is
// there. The address is judged when the connection is made, after names were
// resolved.
func newAuthTransport(server *url.URL) *http.Transport {
	t := newTransport()
	if u, err := http.ProxyFromEnvironment(&http.Request{URL: server}); err == nil && u != nil {
		return t // the proxy connects, so it has to judge
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			switch r := reachOf(to.Addr()); r {
			case reachPublic:
				return nil
			case reachNone:
			default:
				if serverReach(ctx, server) == r {
					return nil
				}
			}
			return fmt.Errorf("the address %s is not one that the server may send us to", to.Addr())
		}}
		return dialer.DialContext(ctx, network, address)
	}
	return t
}

// serverReach tells where a server is.
func serverReach(ctx context.Context, server *url.URL) reach {
	if isLoopback(server.Hostname()) {
		return reachLoopback
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", server.Hostname())
	if err != nil || len(ips) == 0 {
		return reachNone
	}
	return reachOf(ips[0])
}

// authRedirect limits the redirects of authorization servers. What is posted to
// them are codes, secrets and tokens, which go to nobody they do not name
// themselves.
func authRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("the authorization server redirects more than 5 times")
	}
	if req.URL.Scheme != "https" && !isLoopback(req.URL.Hostname()) {
		return errors.New("the authorization server redirects to an address that is not https")
	}
	if from := via[len(via)-1]; via[0].Method == http.MethodPost && !sameOrigin(from.URL, req.URL) && !upgrade(from.URL, req.URL) {
		return errors.New("the authorization server redirects what is posted to it to another origin, '" + show(req.URL) + "', which is not followed")
	}
	return nil
}
