package protocol3

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A JSON value is nil, a bool, a Number, a string, a []any or a map[string]any. encoding/json does not serve here: it takes
// the last of two equal keys, replaces lone surrogates, and escapes what canonical JSON leaves literal.

// Number is a number as the token it came as (P-20).
type Number string

const maxDepth = 64

// ParseJSON reads one JSON value (P-11 to P-16).
func ParseJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, ErrBadUTF8
	}
	p := parser{text: text}
	value, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(text) {
		return nil, ErrBadJSON
	}
	return value, nil
}

type parser struct {
	text []byte
	at   int
}

// peek returns the next byte, or 0 at the end: a NUL begins nothing in JSON.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) space() {
	for p.take(' ') || p.take('\t') || p.take('\n') || p.take('\r') {
	}
}

func (p *parser) value(depth int) (any, error) {
	p.space()
	switch p.peek() {
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	case '"':
		return p.string()
	case 't':
		return p.word("true", true)
	case 'f':
		return p.word("false", false)
	case 'n':
		return p.word("null", nil)
	}
	return p.number()
}

func (p *parser) word(word string, value any) (any, error) {
	for i := range len(word) {
		if !p.take(word[i]) {
			return nil, ErrBadJSON
		}
	}
	return value, nil
}

func (p *parser) object(depth int) (any, error) {
	if depth > maxDepth {
		return nil, ErrJSONDepth
	}
	p.take('{')
	object := map[string]any{}
	if p.space(); p.take('}') {
		return object, nil
	}
	for {
		if p.space(); p.peek() != '"' {
			return nil, ErrBadJSON
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if _, isThere := object[key]; isThere {
			return nil, ErrDuplicateKey
		}
		if p.space(); !p.take(':') {
			return nil, ErrBadJSON
		}
		if object[key], err = p.value(depth); err != nil {
			return nil, err
		}
		if p.space(); p.take('}') {
			return object, nil
		}
		if !p.take(',') {
			return nil, ErrBadJSON
		}
	}
}

func (p *parser) array(depth int) (any, error) {
	if depth > maxDepth {
		return nil, ErrJSONDepth
	}
	p.take('[')
	array := []any{}
	if p.space(); p.take(']') {
		return array, nil
	}
	for {
		value, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
		if p.space(); p.take(']') {
			return array, nil
		}
		if !p.take(',') {
			return nil, ErrBadJSON
		}
	}
}

func (p *parser) digits() bool {
	start := p.at
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at > start
}

func (p *parser) number() (any, error) {
	start := p.at
	p.take('-')
	if !p.take('0') && !p.digits() {
		return nil, ErrBadJSON
	}
	if p.take('.') && !p.digits() {
		return nil, ErrBadJSON
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return nil, ErrBadJSON
		}
	}
	return Number(p.text[start:p.at]), nil
}

func (p *parser) string() (string, error) {
	p.take('"')
	var out []byte
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < 0x20:
			return "", ErrBadJSON
		case c != '\\':
			out = append(out, c)
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return "", ErrBadJSON
}

// escape reads what follows a backslash.
func (p *parser) escape() (rune, error) {
	c := p.peek()
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		high, err := p.unit()
		if err != nil || !utf16.IsSurrogate(high) {
			return high, err
		}
		if !p.take('\\') || !p.take('u') {
			return 0, ErrLoneSurrogate
		}
		low, err := p.unit()
		if err != nil {
			return 0, err
		}
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			return r, nil
		}
		return 0, ErrLoneSurrogate
	}
	return 0, ErrBadJSON
}

// unit reads four hex digits.
func (p *parser) unit() (rune, error) {
	if p.at+4 > len(p.text) {
		return 0, ErrBadJSON
	}
	digits := string(p.text[p.at : p.at+4])
	unit, err := strconv.ParseUint(digits, 16, 16)
	if err != nil {
		return 0, ErrBadJSON
	}
	p.at += 4
	return rune(unit), nil
}

// Canonical writes a value of ParseJSON as canonical JSON (P-17 to P-20).
func Canonical(value any) []byte { return appendJSON(nil, value) }

func appendJSON(out []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case Number:
		return append(out, v...)
	case string:
		return appendString(out, v)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, item)
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		// Go compares strings by their UTF-8, which is the order of code points.
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, key), ':')
			out = appendJSON(out, v[key])
		}
		return append(out, '}')
	}
	panic(fmt.Sprintf("no JSON value: %T", value))
}

var escapes = map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}

func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		c := s[i]
		if escape, isShort := escapes[c]; isShort {
			out = append(out, escape...)
		} else if c < 0x20 {
			out = fmt.Appendf(out, `\u%04x`, c)
		} else {
			out = append(out, c)
		}
	}
	return append(out, '"')
}
