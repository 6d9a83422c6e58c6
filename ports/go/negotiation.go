package protocol3

import "slices"

// Patterns and suites of the protocol.
const (
	XXpsk2     = "XXpsk2"
	KKpsk0     = "KKpsk0"
	ChaChaPoly = "25519_ChaChaPoly_SHA256"
	AESGCM     = "25519_AESGCM_SHA256"
)

// ProtocolName is the Noise name of a pattern with a suite (P-49).
func ProtocolName(pattern, suite string) string { return "Noise_" + pattern + "_" + suite }

// Select chooses suite and pattern (P-34 to P-36). own are the suites of the client in its order of preference.
func Select(patterns, suites, own []string, pinned bool) (pattern, suite string, err error) {
	i := slices.IndexFunc(own, func(s string) bool { return slices.Contains(suites, s) })
	if i < 0 {
		return "", "", ErrNoCommonSuite
	}
	switch {
	case pinned && slices.Contains(patterns, KKpsk0):
		return KKpsk0, own[i], nil
	case slices.Contains(patterns, XXpsk2):
		return XXpsk2, own[i], nil
	}
	return "", "", ErrNoCommonPattern
}

// Prologue joins the canonical payloads of HELLO and offer with the protocol name (P-41).
func Prologue(hello, offer any, protocolName string) []byte {
	return slices.Concat(Canonical(hello), Canonical(offer), []byte(protocolName))
}
