package protocol3

import "unicode/utf8"

const (
	// MaxChunk is the longest payload of a frame that is sent (P-81).
	MaxChunk = 65000
	// MaxLength is the length of the longest message that is delivered (P-87).
	MaxLength = 32 << 20
)

// Kind is what a message is: JSON or Binary.
type Kind string

const (
	JSON   Kind = "json"
	Binary Kind = "binary"
)

// The markers of frames.
const (
	wholeJSON byte = iota
	wholeBinary
	firstJSON
	firstBinary
	middle
	final
)

// SplitMessage cuts a message into frames (P-80 to P-82).
func SplitMessage(kind Kind, message []byte) [][]byte {
	marker := wholeJSON
	if kind == Binary {
		marker = wholeBinary
	}
	if len(message) <= MaxChunk {
		return [][]byte{frame(marker, message)}
	}
	frames := [][]byte{frame(marker+firstJSON, message[:MaxChunk])}
	for message = message[MaxChunk:]; len(message) > MaxChunk; message = message[MaxChunk:] {
		frames = append(frames, frame(middle, message[:MaxChunk]))
	}
	return append(frames, frame(final, message))
}

func frame(marker byte, payload []byte) []byte {
	return append(append(make([]byte, 0, 1+len(payload)), marker), payload...)
}

// Reassembler puts frames together again.
type Reassembler struct {
	// MaxLength is the length of the longest message to deliver (P-88); nil: MaxLength of the protocol.
	MaxLength *int

	isOpen bool
	kind   Kind
	length int
	data   []byte
}

// Push takes a frame. It returns a Message or a Dropped when one is complete, else nil.
func (r *Reassembler) Push(frame []byte) (Event, error) {
	if len(frame) == 0 {
		return nil, ErrEmptyPlaintext
	}
	marker, payload := frame[0], frame[1:]
	switch {
	case marker > final:
		return nil, ErrUnknownMarker
	case marker < middle && r.isOpen:
		return nil, ErrMessageWhileOpen
	case marker >= middle && !r.isOpen:
		return nil, ErrChunkWithoutStart
	case marker == wholeJSON || marker == firstJSON:
		*r = Reassembler{MaxLength: r.MaxLength, isOpen: true, kind: JSON}
	case marker < middle:
		*r = Reassembler{MaxLength: r.MaxLength, isOpen: true, kind: Binary}
	}
	longest := MaxLength
	if r.MaxLength != nil {
		longest = *r.MaxLength
	}
	r.length += len(payload)
	if r.length > longest {
		r.data = nil
	} else {
		r.data = append(r.data, payload...)
	}
	if marker >= firstJSON && marker <= middle {
		return nil, nil
	}
	whole := *r
	*r = Reassembler{MaxLength: r.MaxLength}
	switch {
	case whole.length > longest:
		return Dropped{whole.kind, whole.length, "too-large"}, nil
	case whole.kind == JSON && !utf8.Valid(whole.data):
		return Dropped{whole.kind, whole.length, "not-utf8"}, nil
	}
	return Message{whole.kind, whole.data}, nil
}
