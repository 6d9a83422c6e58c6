package protocol3

import (
	"bytes"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"unicode/utf8"
)

// Config says who a client is, and what it has stored.
type Config struct {
	SiteID       string
	StaticKey    []byte            // private, 32 bytes, for as long as the identity lives
	EphemeralKey []byte            // for tests; nil: fresh random bytes
	Pins         map[string][]byte // the public key of each pinned hub, by node id
	PSKs         map[string][]byte // stored PSKs, by node id
	Suites       []string          // in order of preference; nil: both
	Patterns     []string          // those that may be used; nil: both
	Hello        map[string]any    // further fields of the payload of HELLO
	Suspects     map[string]bool   // the hubs whose pins are suspect: XXpsk2 tests them (P-114)
	KeepPin      bool              // never replace a pin (P-115)
	PinnedOnly   bool              // trust pinned hubs only (P-121)
	Trace        Trace             // of the handshake; nil: none
	KeyIsFresh   bool              // no hub has accepted the static key yet: warn before a pinned one sees it (P-122)
}

const (
	maxNodeID          = 4096
	maxMessage2Payload = 64
)

// message2Fields are the lengths of the keys and tags of message 2.
var message2Fields = map[string]int{XXpsk2: 32 + 48 + 16, KKpsk0: 32 + 16}

type state int

const (
	awaitingHello state = iota
	awaitingOffer
	awaitingPSK
	awaitingMessage2
	ready
	failed
	closed
)

// Session is the client's side of one connection. It is not safe for use by several goroutines at once.
type Session struct {
	config    Config
	state     state
	isStarted bool

	nodeID         string
	hello, offer   map[string]any // the payloads, which the prologue binds
	pattern, suite string
	pin            []byte
	unproved       []byte // the PSK that was provided, until message 2 has opened
	handshake      *Handshake
	send, receive  *Cipher
	in             Reassembler

	isEstablished bool  // whether the handshake was completed
	wasHeard      bool  // whether a transport message of the hub has opened
	err           error // the first error
	isOwnFault    bool  // whether err is a fault of this side
	isDoubted     bool  // whether a KKpsk0 has failed
	isSuspect     bool  // whether the pin is suspect
}

// NewSession returns the session of a connection that is about to be made.
func NewSession(config Config) (*Session, error) {
	if len(config.StaticKey) != 32 {
		return nil, ErrBadLength
	}
	for _, stored := range []map[string][]byte{config.Pins, config.PSKs} {
		for _, key := range stored {
			if len(key) != 32 {
				return nil, ErrBadArgument // an unreadable pin does not mean that the hub was never seen (P-120)
			}
		}
	}
	if config.Suites == nil {
		config.Suites = []string{ChaChaPoly, AESGCM}
	}
	if config.Patterns == nil {
		config.Patterns = []string{XXpsk2, KKpsk0}
	}
	return &Session{config: config}, nil
}

// Start announces the client, which only MQTT needs (P-143).
func (s *Session) Start() ([]Event, error) {
	if s.isStarted || s.state != awaitingHello {
		return nil, ErrWrongState
	}
	s.isStarted = true
	return []Event{Transmit{Text: string(helloEnvelope(map[string]any{"pubkey": nil, "site_id": ""}))}}, nil
}

// ReceiveText takes a text message of the hub.
func (s *Session) ReceiveText(text string) []Event {
	return s.receiveCleartext([]byte(text), true)
}

// ReceiveBytes takes a binary message of the hub.
func (s *Session) ReceiveBytes(data []byte) []Event {
	if s.state != ready {
		return s.receiveCleartext(data, false)
	}
	// What is an envelope as a whole was never sealed (P-102).
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		if _, err := readEnvelope(data); err == nil {
			return s.receiveCleartext(data, false)
		}
	}
	frame, err := s.receive.Open(data)
	if err != nil {
		return s.fail(err)
	}
	s.wasHeard = true
	event, err := s.in.Push(frame)
	if err != nil {
		return s.fail(err)
	}
	if event == nil {
		return nil
	}
	return []Event{event}
}

func (s *Session) receiveCleartext(text []byte, isText bool) []Event {
	if s.state >= failed {
		return nil
	}
	e, err := readEnvelope(text)
	if s.state == ready {
		if err != nil || e.input == inputOther || e.input != inputNoise && !isText {
			return s.fail(ErrTextAfterReady)
		}
		return nil
	}
	if err != nil {
		return s.fail(err)
	}
	switch {
	case e.input == inputOther:
		return s.fail(ErrUnexpectedMessage)
	case s.state <= awaitingOffer && e.input == inputHello:
		return s.takeHello(e.payload)
	case s.state == awaitingHello:
		return s.fail(ErrHandshakeBeforeHello)
	case s.state == awaitingOffer && e.input == inputOffer:
		return s.takeOffer(e.payload)
	case s.state == awaitingOffer:
		return s.fail(ErrUnexpectedMessage)
	case s.state == awaitingMessage2 && e.input == inputNoise:
		return s.takeMessage2(e.noise["msg"])
	}
	return nil // a repeat (P-99)
}

func (s *Session) takeHello(payload map[string]any) []Event {
	nodeID, err := readNodeID(payload)
	if err != nil {
		return s.fail(err)
	}
	s.nodeID, s.hello, s.state = nodeID, payload, awaitingOffer
	return nil
}

func (s *Session) takeOffer(payload map[string]any) []Event {
	patterns, suites, err := readOffer(payload)
	if err != nil {
		return s.fail(err)
	}
	s.offer = payload
	pin, isPinned := s.config.Pins[s.nodeID]
	if !isPinned && s.config.PinnedOnly {
		return s.fail(ErrUnknownHub)
	}
	s.pin, s.isSuspect = pin, isPinned && s.config.Suspects[s.nodeID]
	patterns = slices.DeleteFunc(patterns, func(p string) bool { return !slices.Contains(s.config.Patterns, p) })
	if s.pattern, s.suite, err = Select(patterns, suites, s.config.Suites, isPinned && !s.isSuspect); err != nil {
		return s.fail(err)
	}
	var events []Event
	if !isPinned && len(s.config.Pins) > 0 {
		events = append(events, NewHub{s.nodeID})
	}
	if psk, isStored := s.config.PSKs[s.nodeID]; isStored {
		return append(events, s.sendMessage1(psk)...)
	}
	s.state = awaitingPSK
	return append(events, PSKNeeded{s.nodeID, Salt(s.nodeID)})
}

// ProvidePSK answers PSKNeeded. A PSK that comes late or twice does nothing (P-48).
func (s *Session) ProvidePSK(psk []byte) ([]Event, error) {
	switch {
	case s.state < awaitingPSK:
		return nil, ErrWrongState
	case s.state > awaitingPSK:
		return nil, nil
	case len(psk) != 32:
		return nil, ErrBadLength
	}
	s.unproved = bytes.Clone(psk)
	return s.sendMessage1(psk), nil
}

func (s *Session) sendMessage1(psk []byte) []Event {
	config := HandshakeConfig{
		Initiator: true, Pattern: s.pattern, Suite: s.suite,
		Prologue: Prologue(s.hello, s.offer, ProtocolName(s.pattern, s.suite)),
		PSK:      psk, StaticKey: s.config.StaticKey, EphemeralKey: s.config.EphemeralKey, Trace: s.config.Trace,
	}
	if s.pattern == KKpsk0 {
		config.RemoteStaticKey = s.pin
	}
	handshake, err := NewHandshake(config)
	if err != nil {
		return s.failHere(err)
	}
	payload := map[string]any{"binarize": false, "encodings": []any{}}
	message, err := handshake.Write(Canonical(payload))
	if err != nil {
		return s.failHere(err)
	}
	s.handshake, s.state = handshake, awaitingMessage2
	noise := map[string]any{"pattern": s.pattern, "suite": s.suite, "msg": hex.EncodeToString(message)}
	return []Event{Transmit{Text: string(noiseEnvelope(noise))}}
}

func (s *Session) takeMessage2(msg any) []Event {
	message, err := decodeHex(msg)
	if err == nil && len(message) > message2Fields[s.pattern]+maxMessage2Payload {
		err = ErrMessageTooLong // before anything is opened (P-167)
	}
	var payload []byte
	if err == nil {
		payload, err = s.handshake.Read(message)
	}
	var encoding *string
	if err == nil {
		encoding, err = readEncoding(payload)
	}
	if errors.Is(err, ErrBadHandshakePayload) {
		return s.fail(err)
	}
	if err != nil {
		return s.refuseMessage2(err)
	}
	// Only a peer that knows the password learns that there is a pin (P-66).
	hubKey := s.handshake.RemoteStaticKey()
	isPinned := s.pin != nil && subtle.ConstantTimeCompare(s.pin, hubKey) == 1
	if s.pin != nil && !isPinned && (!s.isSuspect || s.config.KeepPin || s.config.PinnedOnly) {
		return s.fail(ErrHubKeyChanged)
	}
	var events []Event
	if s.unproved != nil {
		events = append(events, PSK{s.nodeID, s.unproved})
	}
	if s.pattern == XXpsk2 {
		message, err := s.handshake.Write(nil)
		if err != nil {
			return s.failHere(err)
		}
		if !isPinned {
			events = append(events, Pin{s.nodeID, hubKey, s.pin})
		} else if s.isSuspect {
			events = append(events, Pin{s.nodeID, hubKey, nil})
		}
		events = append(events, Transmit{Text: string(noiseEnvelope(map[string]any{"msg": hex.EncodeToString(message)}))})
	}
	return append(events, s.establish(hubKey, encoding)...)
}

// refuseMessage2 says what a message 2 that is not authentic means (P-116 to P-118).
func (s *Session) refuseMessage2(err error) []Event {
	isPayload := errors.Is(err, ErrPayloadNotAuthentic)
	var events []Event
	switch {
	case s.pattern == KKpsk0:
		if isPayload {
			err = ErrKKFailed
		}
		events = s.doubtPin()
	case isPayload:
		err = ErrPSKDiffers
		events = []Event{PSKSuspect{s.nodeID}}
	}
	return append(events, s.fail(err)...)
}

// doubtPin says that a KKpsk0 has failed. The pin stays: XXpsk2 shows whether it is stale (P-114).
func (s *Session) doubtPin() []Event {
	s.isDoubted = true
	return []Event{PinSuspect{s.nodeID}}
}

// establish begins the encrypted session with the client's HELLO (P-67, P-91).
func (s *Session) establish(hubKey []byte, encoding *string) []Event {
	hash, send, receive, err := s.handshake.Split()
	if err != nil {
		return s.failHere(err)
	}
	s.handshake, s.send, s.receive = nil, send, receive
	s.state, s.isEstablished = ready, true
	payload := map[string]any{
		"pubkey": nil, "site_id": s.config.SiteID,
		"session": map[string]any{"session_id": hex.EncodeToString(hash[:16])},
	}
	maps.Copy(payload, s.config.Hello)
	messages, err := s.seal(JSON, helloEnvelope(payload))
	if err != nil {
		return s.failHere(err)
	}
	var events []Event
	for _, message := range messages {
		events = append(events, Transmit{Data: message})
	}
	event := Ready{
		NodeID: s.nodeID, Pattern: s.pattern, Suite: s.suite,
		HandshakeHash: hash, HubKey: hubKey, Encoding: encoding,
	}
	session, _ := payload["session"].(map[string]any)
	if id, isString := session["session_id"].(string); isString {
		event.SessionID = &id
	}
	return append(events, event)
}

// Send seals a message. What it returns must be written to the connection, all of it and in this order (P-79).
func (s *Session) Send(kind Kind, message []byte) ([][]byte, error) {
	switch {
	case s.state >= failed:
		return nil, ErrSessionOver
	case s.state != ready:
		return nil, ErrWrongState
	case kind == JSON && !(utf8.Valid(message) && json.Valid(message)):
		return nil, ErrNotJSON
	}
	return s.seal(kind, message)
}

func (s *Session) seal(kind Kind, message []byte) ([][]byte, error) {
	frames := SplitMessage(kind, message)
	for i, frame := range frames {
		var err error
		if frames[i], err = s.send.Seal(frame); err != nil {
			return nil, err
		}
	}
	return frames, nil
}

// fail ends the session for good (P-104).
func (s *Session) fail(err error) []Event {
	s.err, s.state = err, failed
	s.handshake, s.send, s.receive, s.in = nil, nil, nil, Reassembler{}
	code := 1008
	if s.isEstablished {
		code = 1002
	}
	return []Event{Close{code, err}}
}

func (s *Session) failHere(err error) []Event {
	s.isOwnFault = true
	return s.fail(err)
}
