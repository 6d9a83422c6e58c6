package protocol3

import (
	"encoding/hex"
	"slices"
	"strconv"
)

const maxEnvelope = 256 << 10

// input is what an envelope is to a session (P-28).
type input int

const (
	inputHello input = iota
	inputOffer
	inputNoise // message 1 or a later one: a client need not tell them apart
	inputOther
)

type envelope struct {
	input   input
	payload map[string]any
	noise   map[string]any // nil if noise is absent or no object
}

// readEnvelope reads a message in the clear (P-22 to P-28).
func readEnvelope(text []byte) (*envelope, error) {
	if len(text) > maxEnvelope {
		return nil, ErrEnvelopeTooLarge
	}
	value, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	object, _ := value.(map[string]any)
	msgType, isString := object["msg_type"].(string)
	if !isString {
		return nil, ErrBadEnvelope
	}
	payload, isObject := object["payload"].(map[string]any)
	if !isObject {
		return nil, ErrBadPayload
	}
	e := &envelope{input: inputOther, payload: payload}
	switch msgType {
	case "hello":
		e.input = inputHello
	case "shake", "handshake":
		e.input = inputOffer
		e.noise, _ = payload["noise"].(map[string]any)
		if _, hasMsg := e.noise["msg"]; hasMsg {
			e.input = inputNoise
		}
	}
	return e, nil
}

func helloEnvelope(payload map[string]any) []byte {
	return Canonical(map[string]any{
		"msg_type": "hello", "payload": payload, "metadata": map[string]any{}, "route": []any{},
		"node": nil, "target_site_id": nil, "target_pubkey": nil, "source_peer": nil,
	})
}

func noiseEnvelope(noise map[string]any) []byte {
	return Canonical(map[string]any{
		"msg_type": "shake", "payload": map[string]any{"noise": noise}, "metadata": map[string]any{}, "route": []any{},
	})
}

// decodeHex reads a Noise message (P-27).
func decodeHex(value any) ([]byte, error) {
	digits, isString := value.(string)
	message, err := hex.DecodeString(digits)
	if !isString || err != nil {
		return nil, ErrBadHex
	}
	return message, nil
}

// readNodeID reads the payload of the hub's HELLO (P-29).
func readNodeID(payload map[string]any) (string, error) {
	value, isThere := payload["node_id"]
	if !isThere {
		return "", ErrMissingNodeID
	}
	nodeID, _ := value.(string)
	if nodeID == "" || len(nodeID) > maxNodeID {
		return "", ErrBadNodeID
	}
	return nodeID, nil
}

// readOffer reads the payload of the offer (P-30, P-31).
func readOffer(payload map[string]any) (patterns, suites []string, err error) {
	number, _ := payload["max_protocol_version"].(Number)
	// A number beyond float64 is read as infinite, with its sign, which is what counts.
	if version, _ := strconv.ParseFloat(string(number), 64); number == "" || version < 3 {
		return nil, nil, ErrProtocolVersion
	}
	value, isThere := payload["noise"]
	offer, isObject := value.(map[string]any)
	if isThere && !isObject {
		return nil, nil, ErrBadPayload
	}
	patterns, hasPatterns := stringList(offer["patterns"])
	suites, hasSuites := stringList(offer["suites"])
	if !hasPatterns || !hasSuites {
		return nil, nil, ErrBadOffer
	}
	// Every hub offers these (P-166).
	if !slices.Contains(patterns, XXpsk2) || !slices.Contains(suites, ChaChaPoly) {
		return nil, nil, ErrBadOffer
	}
	return patterns, suites, nil
}

func stringList(value any) ([]string, bool) {
	list, isList := value.([]any)
	texts := make([]string, len(list))
	for i, item := range list {
		text, isString := item.(string)
		if !isString {
			return nil, false
		}
		texts[i] = text
	}
	return texts, isList
}

// readEncoding reads the payload of message 2 (P-62).
func readEncoding(payload []byte) (*string, error) {
	if len(payload) == 0 {
		return nil, nil
	}
	value, err := ParseJSON(payload)
	object, isObject := value.(map[string]any)
	if err != nil || !isObject {
		// One ciphertext can be made to open under many PSKs, and is noise under all but one (P-168).
		return nil, ErrPayloadNotAuthentic
	}
	switch encoding := object["encoding"].(type) {
	case nil:
		return nil, nil
	case string:
		return &encoding, nil
	}
	return nil, ErrBadHandshakePayload
}
