package protocol3

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
)

// AuthorizedURL names the client in the query of the hub's WebSocket URL (P-2, P-3). The result contains the access key: it
// belongs in no log.
func AuthorizedURL(hub, userAgent, accessKey string, allowPlaintext bool) (string, error) {
	u, err := url.Parse(hub)
	if err != nil {
		return "", err
	}
	if u.Scheme != "wss" && !(u.Scheme == "ws" && allowPlaintext) {
		return "", errors.New("the address has no TLS, or is none of a WebSocket")
	}
	if userAgent == "" || strings.Contains(userAgent, ":") {
		return "", errors.New("a user agent is not empty and has no colon")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	query := u.Query()
	query.Set("authorization", base64.StdEncoding.EncodeToString([]byte(userAgent+":"+accessKey)))
	u.RawQuery = query.Encode()
	return u.String(), nil
}
