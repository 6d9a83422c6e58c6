// Command adapter answers the judge: one JSON request per line of its input, one JSON response per line of its output.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"protocol3"
)

// hexBytes is how bytes travel in requests and responses.
type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.AppendDecode([]byte{}, text)
	return err
}

// response has the fields of one response but its id.
type response map[string]any

var errDeclined = errors.New("declined")

// traced is what the port has computed since the last response.
var traced []response

func trace(values map[string]any) {
	for name, value := range values {
		if bytes, isBytes := value.([]byte); isBytes {
			values[name] = hexBytes(bytes)
		}
	}
	traced = append(traced, values)
}

// handler answers one operation, from the request's text.
type handler func(request []byte) (response, error)

// on makes a handler of a function that takes the fields of its operation.
func on[Request any](answer func(Request) (response, error)) handler {
	return func(text []byte) (response, error) {
		var request Request
		if err := json.Unmarshal(text, &request); err != nil {
			return nil, err
		}
		return answer(request)
	}
}

func main() {
	log.SetFlags(0)
	var c connection
	var s client
	operations := map[string]handler{
		"canonical-json": on(canonicalJSON),
		"prologue":       on(prologue),
		"select":         on(selectNoise),
		"psk":            on(psk),
		"handshake":      on(c.operate),
		"seal":           on(c.seal),
		"open":           on(c.open),
		"split":          on(split),
		"reassemble":     on(reassemble),
		"session":        on(s.operate),
		"authorization":  on(authorization),
		"encode-binary":  on(encodeBinary),
		"decode-binary":  on(decodeBinary),
	}
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for {
		var text json.RawMessage
		if err := in.Decode(&text); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		var request struct {
			ID json.RawMessage `json:"id"`
			Op string          `json:"op"`
		}
		if err := json.Unmarshal(text, &request); err != nil {
			log.Fatal(err)
		}
		answer, err := response(nil), errDeclined
		if operation, isKnown := operations[request.Op]; isKnown {
			answer, err = operation(text)
		}
		var code protocol3.Error
		switch {
		case err == errDeclined:
			answer = response{"declined": true}
		case errors.As(err, &code):
			if answer == nil {
				answer = response{}
			}
			answer["error"] = code
		case err != nil:
			log.Fatal(err)
		case answer == nil:
			answer = response{}
		}
		answer["id"] = request.ID
		if traced != nil {
			answer["trace"], traced = traced, nil
		}
		if err := out.Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
}

func canonicalJSON(request struct {
	Text  *string
	Bytes hexBytes
}) (response, error) {
	text := []byte(request.Bytes)
	if request.Text != nil {
		text = []byte(*request.Text)
	}
	value, err := protocol3.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	return response{"canonical": hexBytes(protocol3.Canonical(value))}, nil
}

func prologue(request struct{ Hello, Handshake, ProtocolName string }) (response, error) {
	hello, err := protocol3.ParseJSON([]byte(request.Hello))
	if err != nil {
		return nil, err
	}
	offer, err := protocol3.ParseJSON([]byte(request.Handshake))
	if err != nil {
		return nil, err
	}
	return response{"prologue": hexBytes(protocol3.Prologue(hello, offer, request.ProtocolName))}, nil
}

func selectNoise(request struct {
	Patterns, Suites, Own []string
	Pinned                bool
}) (response, error) {
	pattern, suite, err := protocol3.Select(request.Patterns, request.Suites, request.Own, request.Pinned)
	if err != nil {
		return nil, err
	}
	return response{"pattern": pattern, "suite": suite, "protocolName": protocol3.ProtocolName(pattern, suite)}, nil
}

func authorization(request struct {
	Address, UserAgent, AccessKey string
	AllowPlaintext                bool
}) (response, error) {
	url, err := protocol3.AuthorizedURL(request.Address, request.UserAgent, request.AccessKey, request.AllowPlaintext)
	if err != nil {
		return nil, err
	}
	return response{"url": url}, nil
}

func psk(request struct{ Password, NodeID string }) (response, error) {
	return response{"psk": hexBytes(protocol3.DerivePSK(request.Password, request.NodeID))}, nil
}

func encodeBinary(request struct {
	MsgType, Metadata, Payload, BinType string
	Bytes                               hexBytes
}) (response, error) {
	message := protocol3.BinaryMessage{Type: request.MsgType, PayloadType: request.BinType, Bytes: request.Bytes}
	var err error
	if message.Metadata, err = objectIn(request.Metadata); err != nil {
		return nil, err
	}
	if request.MsgType != "bin" {
		if message.Payload, err = objectIn(request.Payload); err != nil {
			return nil, err
		}
	}
	return field("message")(protocol3.EncodeBinary(message))
}

func objectIn(text string) (map[string]any, error) {
	value, err := protocol3.ParseJSON([]byte(text))
	fields, _ := value.(map[string]any)
	return fields, err
}

func decodeBinary(request struct {
	Message     hexBytes
	MaxInflated *int
}) (response, error) {
	most := protocol3.MaxLength
	if request.MaxInflated != nil {
		most = *request.MaxInflated
	}
	message, err := protocol3.DecodeBinary(request.Message, most)
	if err != nil {
		return nil, err
	}
	fields := response{"msgType": message.Type, "metadata": json.RawMessage(protocol3.Canonical(message.Metadata))}
	if message.Type == "bin" {
		fields["binType"], fields["bytes"] = message.PayloadType, hexBytes(message.Bytes)
	} else {
		fields["payload"] = json.RawMessage(protocol3.Canonical(message.Payload))
	}
	return fields, nil
}
