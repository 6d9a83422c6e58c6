package main

import (
	"crypto/sha256"
	"errors"
	"strconv"

	"protocol3"
)

// connection is the handshake and its transport, of which the adapter holds one.
type connection struct {
	handshake     *protocol3.Handshake
	send, receive *protocol3.Cipher
}

func (c *connection) operate(request struct {
	Do, Role, Pattern, Suite string

	Prologue, PSK, StaticKey, EphemeralKey, RemoteStaticKey, Payload, Message hexBytes
}) (response, error) {
	switch request.Do {
	case "start":
		handshake, err := protocol3.NewHandshake(protocol3.HandshakeConfig{
			Initiator: request.Role == "initiator",
			Pattern:   request.Pattern, Suite: request.Suite,
			Prologue: request.Prologue, PSK: request.PSK,
			StaticKey: request.StaticKey, EphemeralKey: request.EphemeralKey, RemoteStaticKey: request.RemoteStaticKey,
			Trace: trace,
		})
		*c = connection{handshake: handshake}
		return nil, err
	case "write":
		return field("message")(c.handshake.Write(request.Payload))
	case "read":
		return field("payload")(c.handshake.Read(request.Message))
	case "split":
		hash, send, receive, err := c.handshake.Split()
		if err != nil {
			return nil, err
		}
		c.send, c.receive = send, receive
		return response{"handshakeHash": hexBytes(hash), "remoteStaticKey": hexBytes(c.handshake.RemoteStaticKey())}, nil
	}
	return nil, errDeclined
}

// field makes a response of one field out of bytes, or of an error.
func field(name string) func([]byte, error) (response, error) {
	return func(bytes []byte, err error) (response, error) {
		if err != nil {
			return nil, err
		}
		return response{name: hexBytes(bytes)}, nil
	}
}

type transportRequest struct {
	Suite, Counter       string
	Key                  hexBytes
	Plaintexts, Messages []hexBytes
}

// cipher returns the cipher that the request describes, or else that of the handshake.
func (r transportRequest) cipher(ofHandshake *protocol3.Cipher) (*protocol3.Cipher, error) {
	if r.Suite == "" {
		return ofHandshake, nil
	}
	counter, err := strconv.ParseUint(r.Counter, 10, 64)
	if err != nil {
		return nil, err
	}
	return protocol3.NewCipher(r.Suite, [32]byte(r.Key), counter)
}

func (c *connection) seal(request transportRequest) (response, error) {
	cipher, err := request.cipher(c.send)
	if err != nil {
		return nil, err
	}
	return results("message", request.Plaintexts, cipher.Seal)
}

func (c *connection) open(request transportRequest) (response, error) {
	cipher, err := request.cipher(c.receive)
	if err != nil {
		return nil, err
	}
	return results("plaintext", request.Messages, cipher.Open)
}

// results applies a function to each input.
func results(name string, inputs []hexBytes, apply func([]byte) ([]byte, error)) (response, error) {
	all := []response{}
	for _, input := range inputs {
		output, err := apply(input)
		var code protocol3.Error
		switch {
		case err == nil:
			all = append(all, response{name: hexBytes(output)})
		case errors.As(err, &code):
			all = append(all, response{"error": code})
		default:
			return nil, err
		}
	}
	return response{"results": all}, nil
}

// pattern returns these bytes of the message of every length: byte i is i mod 127.
func pattern(offset, length int) []byte {
	message := make([]byte, length)
	for i := range message {
		message[i] = byte((offset + i) % 127)
	}
	return message
}

func digest(data []byte) hexBytes {
	sum := sha256.Sum256(data)
	return sum[:]
}

func split(request struct {
	Kind   protocol3.Kind
	Length int
}) (response, error) {
	frames := []response{}
	for _, frame := range protocol3.SplitMessage(request.Kind, pattern(0, request.Length)) {
		frames = append(frames, response{"marker": frame[0], "length": len(frame) - 1, "sha256": digest(frame[1:])})
	}
	return response{"frames": frames}, nil
}

func reassemble(request struct {
	Frames []struct {
		Bytes          *hexBytes
		Marker         byte
		Offset, Length int
	}
	MaxMessage *int
}) (response, error) {
	reassembler := protocol3.Reassembler{MaxLength: request.MaxMessage}
	events := []response{}
	for _, frame := range request.Frames {
		bytes := append([]byte{frame.Marker}, pattern(frame.Offset, frame.Length)...)
		if frame.Bytes != nil {
			bytes = *frame.Bytes
		}
		event, err := reassembler.Push(bytes)
		if err != nil {
			return response{"events": events}, err
		}
		switch e := event.(type) {
		case protocol3.Message:
			events = append(events, response{"type": "message", "kind": e.Kind, "length": len(e.Data), "sha256": digest(e.Data)})
		case protocol3.Dropped:
			events = append(events, response{"type": "dropped", "kind": e.Kind, "length": e.Length, "reason": e.Reason})
		}
	}
	return response{"events": events}, nil
}
