package protocol3

import (
	"bytes"
	"compress/zlib"
	"io"
	"slices"
)

// BinaryMessage is one of HiveMind's binary messages (P-171 to P-183).
type BinaryMessage struct {
	Type     string
	Metadata map[string]any
	// Payload is that of any type but bin.
	Payload map[string]any
	// PayloadType and Bytes are those of the type bin.
	PayloadType string
	Bytes       []byte
}

const (
	maxMetadata = 255
	typeBin     = "bin"
)

var (
	binaryTypes = []string{"shake", "bus", "shared_bus", "broadcast", "propagate", "escalate", "hello", "query",
		"cascade", "ping", "rendezvous", "", typeBin}
	payloadTypes = []string{"undefined", "raw_audio", "numpy_image", "file", "stt_audio_transcribe",
		"stt_audio_handle", "tts_audio"}
)

// EncodeBinary writes a message, without version and compression (P-183).
func EncodeBinary(m BinaryMessage) ([]byte, error) {
	code := slices.Index(binaryTypes, m.Type)
	if code < 0 || m.Type == "" {
		return nil, ErrBadArgument
	}
	metadata := Canonical(m.Metadata)
	if len(metadata) > maxMetadata {
		return nil, ErrMessageTooLong
	}
	head := append([]byte{0x80 | byte(code)<<1, byte(len(metadata))}, metadata...)
	if m.Type != typeBin {
		return append(head, Canonical(m.Payload)...), nil
	}
	kind := slices.Index(payloadTypes, m.PayloadType)
	if kind < 0 {
		return nil, ErrBadArgument
	}
	// All of it moves by four bits, and the type of the payload takes the last four.
	out := make([]byte, 0, len(head)+1+len(m.Bytes))
	var before byte
	for _, b := range head {
		out = append(out, before<<4|b>>4)
		before = b
	}
	return append(append(out, before<<4|byte(kind)), m.Bytes...), nil
}

// bitReader reads the bits of a message from left to right.
type bitReader struct {
	data []byte
	at   int
	err  error
}

func (r *bitReader) take(count int) (value int) {
	for range count {
		if r.at == 8*len(r.data) {
			r.err = ErrBadBinaryMessage
			return 0
		}
		value = value<<1 | int(r.data[r.at/8]>>(7-r.at%8)&1)
		r.at++
	}
	return value
}

// DecodeBinary reads a message. What is compressed may inflate to maxInflated bytes (P-182).
func DecodeBinary(message []byte, maxInflated int) (m BinaryMessage, err error) {
	r := bitReader{data: message}
	for r.take(1) == 0 {
		if r.err != nil || r.at == 8 {
			return m, ErrBadBinaryMessage
		}
	}
	if r.take(1) == 1 && r.take(8) > 1 {
		return m, ErrBinaryVersion
	}
	code := r.take(5)
	if code >= len(binaryTypes) || binaryTypes[code] == "" {
		return m, ErrReservedCode
	}
	m.Type = binaryTypes[code]
	isCompressed := r.take(1) == 1
	metadata := make([]byte, r.take(8))
	for i := range metadata {
		metadata[i] = byte(r.take(8))
	}
	kind := 0
	if m.Type == typeBin {
		kind = r.take(4)
	}
	switch {
	case r.err != nil:
		return m, r.err
	case kind >= len(payloadTypes):
		return m, ErrReservedCode
	case r.at%8 != 0:
		return m, ErrBadBinaryMessage
	}
	object := func(text []byte, notObject Error) (map[string]any, error) {
		if isCompressed {
			if text, err = inflate(text, maxInflated); err != nil {
				return nil, err
			}
		}
		value, err := ParseJSON(text)
		if err != nil {
			return nil, err
		}
		if fields, isObject := value.(map[string]any); isObject {
			return fields, nil
		}
		return nil, notObject
	}
	m.Metadata = map[string]any{}
	if len(metadata) > 0 {
		if m.Metadata, err = object(metadata, ErrBadMetadata); err != nil {
			return m, err
		}
	}
	rest := message[r.at/8:]
	if m.Type == typeBin {
		m.PayloadType, m.Bytes = payloadTypes[kind], rest
		return m, nil
	}
	m.Payload, err = object(rest, ErrBadPayload)
	return m, err
}

func inflate(stream []byte, most int) ([]byte, error) {
	reader, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil, ErrBadCompression
	}
	data, err := io.ReadAll(io.LimitReader(reader, int64(most)+1))
	if err != nil || len(data) > most {
		return nil, ErrBadCompression
	}
	return data, nil
}
