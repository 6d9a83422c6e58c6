package protocol3

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// AuthorizedURL names the client in the query of the hub's WebSocket URL (P-2, P-3). The result contains the access key: it
// belongs in no log.
func AuthorizedURL(hub, userAgent, accessKey string, allowPlaintext bool) (string, error) {
	if userAgent == "" || accessKey == "" || strings.Contains(userAgent, ":") {
		return "", ErrBadArgument
	}
	u, err := url.Parse(hub)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(hub, "#\\") || !isPort(u) {
		return "", ErrBadEndpoint
	}
	switch {
	case u.Scheme == "ws" && !allowPlaintext:
		return "", ErrPlaintextEndpoint
	case u.Scheme != "ws" && u.Scheme != "wss":
		return "", ErrBadEndpoint
	}
	address, query, _ := strings.Cut(hub, "?")
	if u.Path == "" {
		address += "/"
	}
	fields := slices.DeleteFunc(strings.Split(query, "&"), func(field string) bool {
		name, _, _ := strings.Cut(field, "=")
		decoded, err := url.QueryUnescape(name)
		return field == "" || err == nil && decoded == "authorization"
	})
	authorization := base64.StdEncoding.EncodeToString([]byte(userAgent + ":" + accessKey))
	fields = append(fields, "authorization="+url.QueryEscape(authorization))
	return address + "?" + strings.Join(fields, "&"), nil
}

// isPort tells whether the port is 1 to 65535, or none is given.
func isPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port > 0
}
