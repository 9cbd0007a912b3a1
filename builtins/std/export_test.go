package std

import "net/http"

// RedirectForTest makes the request that an answer of status 302 at one URL
// leads to.
func RedirectForTest(from, to string) (string, error) {
	u, host, err := parseURL(from)
	if err != nil {
		return "", err
	}
	r := &request{method: "GET", url: u, host: host, header: http.Header{}}
	err = r.redirect(302, to)
	return r.url.String(), err
}
