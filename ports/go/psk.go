package protocol3

import (
	"crypto/sha256"

	"golang.org/x/crypto/argon2"
)

// Salt is the salt from which a hub's PSK is derived (P-44).
func Salt(nodeID string) []byte {
	salt := sha256.Sum256([]byte(nodeID))
	return salt[:]
}

// DerivePSK derives the 32 bytes of the PSK. It takes 64 MiB and about a tenth of a second.
func DerivePSK(password, nodeID string) []byte {
	return argon2.IDKey([]byte(password), Salt(nodeID), 3, 64*1024, 1, 32)
}
