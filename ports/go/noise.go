package protocol3

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"

	"github.com/flynn/noise"
)

// maxMessage is the length of the longest Noise message (P-58).
const maxMessage = noise.MaxMsgLen

const tagLength = 16

// HandshakeConfig says what a Handshake needs. Keys are 32 bytes, private unless the name says otherwise.
type HandshakeConfig struct {
	Initiator       bool
	Pattern, Suite  string
	Prologue        []byte
	PSK             []byte
	StaticKey       []byte
	EphemeralKey    []byte // nil: fresh random bytes
	RemoteStaticKey []byte // public; of KKpsk0 only
	Trace           Trace  // nil: none
}

// Trace gets the prologue, each new key k, and k, nonce and ad of each call of the cipher, for comparing two implementations.
// They are secret, but for the prologue.
type Trace func(values map[string]any)

// Handshake is a Noise handshake of github.com/flynn/noise, held to what the protocol demands beyond that library: lengths,
// which part of a message did not open, and that a failure is final.
type Handshake struct {
	state             *noise.HandshakeState
	opened            *int  // how many parts of messages have opened so far
	shortest          []int // the shortest length of each message
	err               error
	initiator, isDone bool
	send, receive     *noise.CipherState
}

// NewHandshake begins a handshake.
func NewHandshake(c HandshakeConfig) (*Handshake, error) {
	h := &Handshake{opened: new(int), initiator: c.Initiator}
	cipher, err := cipherOf(c.Suite)
	if err != nil {
		return nil, err
	}
	static, err := keyPair(c.StaticKey)
	if err != nil {
		return nil, err
	}
	config := noise.Config{
		CipherSuite:   noise.NewCipherSuite(x25519{noise.DH25519}, watched{cipher, h.opened, c.Trace}, noise.HashSHA256),
		Random:        rand.Reader,
		Initiator:     c.Initiator,
		Prologue:      c.Prologue,
		PresharedKey:  c.PSK,
		StaticKeypair: static,
	}
	// noise takes Config.EphemeralKeypair for pre-messages only; the key of the token e is what it reads from Random.
	if c.EphemeralKey != nil {
		config.Random = bytes.NewReader(c.EphemeralKey)
	}
	switch c.Pattern {
	case XXpsk2:
		config.Pattern, config.PresharedKeyPlacement = noise.HandshakeXX, 2
		h.shortest = []int{48, 96, 64}
	case KKpsk0:
		config.Pattern, config.PresharedKeyPlacement = noise.HandshakeKK, 0
		config.PeerStatic = c.RemoteStaticKey
		h.shortest = []int{48, 48}
	default:
		return nil, fmt.Errorf("no pattern of the protocol: %q", c.Pattern)
	}
	// Without the check, noise would take a PSK of no bytes for a handshake without one.
	if len(c.PSK) != 32 || c.Pattern == KKpsk0 && len(c.RemoteStaticKey) != 32 {
		return nil, ErrBadLength
	}
	if c.Trace != nil {
		c.Trace(map[string]any{"prologue": c.Prologue})
	}
	h.state, err = noise.NewHandshakeState(config)
	return h, err
}

// Write seals the next message.
func (h *Handshake) Write(payload []byte) ([]byte, error) {
	if h.err != nil || h.isDone {
		return nil, ErrWrongState
	}
	// noise limits the payload, not the message.
	if len(payload)+h.shortest[h.state.MessageIndex()] > maxMessage {
		return nil, ErrMessageTooLong
	}
	message, first, second, err := h.state.WriteMessage(nil, payload)
	if err != nil {
		h.err = err
		return nil, err
	}
	h.split(first, second)
	return message, nil
}

// Read opens the next message. Nothing that it says may be used unless it returns no error.
func (h *Handshake) Read(message []byte) ([]byte, error) {
	if h.err != nil || h.isDone {
		return nil, ErrWrongState
	}
	payload, first, second, err := h.read(message)
	if err != nil {
		h.err = err
		return nil, err
	}
	h.split(first, second)
	return payload, nil
}

func (h *Handshake) read(message []byte) ([]byte, *noise.CipherState, *noise.CipherState, error) {
	index := h.state.MessageIndex()
	if len(message) < h.shortest[index] {
		return nil, nil, nil, ErrMessageTooShort
	}
	if len(message) > maxMessage {
		return nil, nil, nil, ErrMessageTooLong
	}
	hadStatic := len(h.state.PeerStatic()) > 0
	*h.opened = 0
	payload, first, second, err := h.state.ReadMessage(nil, message)
	var code Error
	switch {
	case err == nil || errors.As(err, &code):
	case index > 0 && !hadStatic && *h.opened == 0:
		err = ErrStaticKeyNotAuthentic
	default:
		err = ErrPayloadNotAuthentic
	}
	return payload, first, second, err
}

func (h *Handshake) split(first, second *noise.CipherState) {
	if first == nil {
		return
	}
	h.isDone = true
	h.send, h.receive = first, second
	if !h.initiator {
		h.send, h.receive = second, first
	}
}

// RemoteStaticKey returns the public key of the other side, as soon as it is known.
func (h *Handshake) RemoteStaticKey() []byte { return h.state.PeerStatic() }

// Split returns the handshake hash and the ciphers of both directions, once the last message is through (P-54).
func (h *Handshake) Split() (hash []byte, send, receive *Cipher, err error) {
	if !h.isDone {
		return nil, nil, nil, ErrWrongState
	}
	return h.state.ChannelBinding(), &Cipher{state: h.send}, &Cipher{state: h.receive}, nil
}

// Cipher seals or opens the transport messages of one direction.
type Cipher struct {
	state *noise.CipherState
	err   error
}

// NewCipher returns a Cipher with this key, whose next message has this counter.
func NewCipher(suite string, key [32]byte, counter uint64) (*Cipher, error) {
	cipher, err := cipherOf(suite)
	if err != nil {
		return nil, err
	}
	all := noise.NewCipherSuite(noise.DH25519, cipher, noise.HashSHA256)
	return &Cipher{state: noise.UnsafeNewCipherState(all, key, counter)}, nil
}

// Seal seals a frame.
func (c *Cipher) Seal(frame []byte) ([]byte, error) {
	if len(frame)+tagLength > maxMessage {
		return nil, ErrMessageTooLong
	}
	message, err := c.state.Encrypt(nil, nil, frame)
	if err != nil {
		return nil, ErrNonceExhausted
	}
	return message, nil
}

// Open opens a transport message. After one that does not open, none does (P-77); noise would go on.
func (c *Cipher) Open(message []byte) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	frame, err := c.open(message)
	c.err = err
	return frame, err
}

func (c *Cipher) open(message []byte) ([]byte, error) {
	if len(message) < tagLength {
		return nil, ErrMessageTooShort
	}
	if len(message) > maxMessage {
		return nil, ErrMessageTooLong
	}
	frame, err := c.state.Decrypt(nil, nil, message)
	switch {
	case errors.Is(err, noise.ErrMaxNonce):
		return nil, ErrNonceExhausted
	case err != nil:
		return nil, ErrNotAuthentic
	}
	return frame, nil
}

func cipherOf(suite string) (noise.CipherFunc, error) {
	switch suite {
	case ChaChaPoly:
		return noise.CipherChaChaPoly, nil
	case AESGCM:
		return noise.CipherAESGCM, nil
	}
	return nil, fmt.Errorf("no suite of the protocol: %q", suite)
}

func keyPair(private []byte) (noise.DHKey, error) {
	if len(private) != 32 {
		return noise.DHKey{}, ErrBadLength
	}
	return noise.DH25519.GenerateKeypair(bytes.NewReader(private))
}

// x25519 gives the error of a low-order key its code (P-55). noise returns it among others.
type x25519 struct{ noise.DHFunc }

func (x x25519) DH(private, public []byte) ([]byte, error) {
	secret, err := x.DHFunc.DH(private, public)
	if err != nil {
		return nil, ErrLowOrderKey
	}
	return secret, nil
}

// watched counts what has opened. noise has one error for a static key and a payload that are not authentic, and which of
// them it was tells the cause (P-71).
type watched struct {
	noise.CipherFunc
	opened *int
	trace  Trace
}

func (w watched) Cipher(key [32]byte) noise.Cipher {
	if w.trace != nil {
		w.trace(map[string]any{"k": key[:]})
	}
	return watchedCipher{w.CipherFunc.Cipher(key), w, key}
}

type watchedCipher struct {
	noise.Cipher
	watched
	key [32]byte
}

func (w watchedCipher) call(n uint64, ad []byte) {
	if w.trace != nil {
		w.trace(map[string]any{"k": w.key[:], "nonce": strconv.FormatUint(n, 10), "ad": bytes.Clone(ad)})
	}
}

func (w watchedCipher) Encrypt(out []byte, n uint64, ad, plaintext []byte) []byte {
	w.call(n, ad)
	return w.Cipher.Encrypt(out, n, ad, plaintext)
}

func (w watchedCipher) Decrypt(out []byte, n uint64, ad, message []byte) ([]byte, error) {
	w.call(n, ad)
	plaintext, err := w.Cipher.Decrypt(out, n, ad, message)
	if err == nil {
		*w.opened++
	}
	return plaintext, err
}
