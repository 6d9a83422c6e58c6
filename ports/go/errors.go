// Package protocol3 is the client's side of HiveMind's protocol 3, written from docs/reference/protocol.md and the vectors alone.
// It does no input or output: a Session takes what arrives and returns events.
package protocol3

// Error is a code of docs/reference/errors.md, by which the judge and the logs tell causes apart. The peer never sees one.
type Error string

func (e Error) Error() string { return string(e) }

const (
	ErrBadUTF8       Error = "bad-utf8"
	ErrBadJSON       Error = "bad-json"
	ErrDuplicateKey  Error = "duplicate-key"
	ErrLoneSurrogate Error = "lone-surrogate"
	ErrJSONDepth     Error = "json-depth"
	ErrNotJSON       Error = "not-json"

	ErrEnvelopeTooLarge     Error = "envelope-too-large"
	ErrBadEnvelope          Error = "bad-envelope"
	ErrBadPayload           Error = "bad-payload"
	ErrUnexpectedMessage    Error = "unexpected-message"
	ErrHandshakeBeforeHello Error = "handshake-before-hello"
	ErrMissingNodeID        Error = "missing-node-id"
	ErrBadNodeID            Error = "bad-node-id"
	ErrProtocolVersion      Error = "protocol-version"
	ErrBadOffer             Error = "bad-offer"
	ErrNoCommonSuite        Error = "no-common-suite"
	ErrNoCommonPattern      Error = "no-common-pattern"

	ErrBadHex                Error = "bad-hex"
	ErrMessageTooShort       Error = "message-too-short"
	ErrMessageTooLong        Error = "message-too-long"
	ErrLowOrderKey           Error = "low-order-key"
	ErrStaticKeyNotAuthentic Error = "static-key-not-authentic"
	ErrPayloadNotAuthentic   Error = "payload-not-authentic"
	ErrPSKDiffers            Error = "psk-differs"
	ErrKKFailed              Error = "kk-failed"
	ErrBadHandshakePayload   Error = "bad-handshake-payload"
	ErrUnknownHub            Error = "unknown-hub"
	ErrHubKeyChanged         Error = "hub-key-changed"
	ErrTextAfterReady        Error = "text-after-ready"
	ErrNotAuthentic          Error = "not-authentic"
	ErrNonceExhausted        Error = "nonce-exhausted"
	ErrEmptyPlaintext        Error = "empty-plaintext"
	ErrUnknownMarker         Error = "unknown-marker"
	ErrChunkWithoutStart     Error = "chunk-without-start"
	ErrMessageWhileOpen      Error = "message-while-open"
	ErrBadBinaryMessage      Error = "bad-binary-message"
	ErrBinaryVersion         Error = "binary-version"
	ErrReservedCode          Error = "reserved-code"
	ErrBadMetadata           Error = "bad-metadata"
	ErrBadCompression        Error = "bad-compression"
	ErrBadLength             Error = "bad-length"
	ErrBadArgument           Error = "bad-argument"
	ErrBadEndpoint           Error = "bad-endpoint"
	ErrPlaintextEndpoint     Error = "plaintext-endpoint"
	ErrWrongState            Error = "wrong-state"
	ErrSessionOver           Error = "session-over"
	ErrAccessRefused         Error = "access-refused"
	ErrNegotiationRefused    Error = "negotiation-refused"
	ErrKKRefused             Error = "kk-refused"
	ErrClientKeyRefused      Error = "client-key-refused"
	ErrRefused               Error = "refused"
	ErrUnavailable           Error = "unavailable"
	ErrDropped               Error = "dropped"
	ErrTimeout               Error = "timeout"
)
