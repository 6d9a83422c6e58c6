package main

import (
	"encoding/json"
	"fmt"

	"protocol3"
)

// client is the session of which the adapter holds one.
type client struct{ session *protocol3.Session }

type sessionRequest struct {
	Do, Role string

	SiteID                  string
	StaticKey, EphemeralKey hexBytes
	Pins, PSKs              map[string]hexBytes
	Suspects                []string
	Suites, Patterns        []string
	Hello                   string
	OnKKFailure, Trust      string
	StaticKeyIsFresh        bool

	Text   *string
	Bytes  hexBytes
	PSK    hexBytes
	Kind   protocol3.Kind
	Code   json.RawMessage
	Status int
	Reason string
	Cause  protocol3.Error
}

func (c *client) operate(request sessionRequest) (response, error) {
	switch request.Do {
	case "open":
		if request.Role != "client" {
			c.session = nil
			return nil, errDeclined
		}
		return written(nil, c.open(request))
	case "start":
		return written(c.session.Start())
	case "receive":
		if request.Text != nil {
			return written(c.session.ReceiveText(*request.Text), nil)
		}
		return written(c.session.ReceiveBytes(request.Bytes), nil)
	case "psk":
		return written(c.session.ProvidePSK(request.PSK))
	case "send":
		message := []byte(request.Bytes)
		if request.Text != nil {
			message = []byte(*request.Text)
		}
		sealed, err := c.session.Send(request.Kind, message)
		if err != nil {
			return nil, err
		}
		messages := []hexBytes{}
		for _, message := range sealed {
			messages = append(messages, message)
		}
		return response{"messages": messages}, nil
	case "closed":
		closing := protocol3.Closing{Status: request.Status, Reason: request.Reason, Cause: request.Cause}
		if string(request.Code) == `"timeout"` {
			closing.IsTimeout = true
		} else if request.Code != nil {
			if err := json.Unmarshal(request.Code, &closing.Code); err != nil {
				return nil, err
			}
		}
		return written(c.session.Closed(closing), nil)
	}
	return nil, errDeclined
}

func (c *client) open(request sessionRequest) error {
	config := protocol3.Config{
		SiteID: request.SiteID, StaticKey: request.StaticKey, EphemeralKey: request.EphemeralKey,
		Pins: map[string][]byte{}, PSKs: map[string][]byte{},
		Suites: request.Suites, Patterns: request.Patterns,
		KeepPin:    request.OnKKFailure == "keep-pin",
		Suspects:   map[string]bool{},
		PinnedOnly: request.Trust == "pinned-only",
		KeyIsFresh: request.StaticKeyIsFresh,
		Trace:      trace,
	}
	for nodeID, pin := range request.Pins {
		config.Pins[nodeID] = pin
	}
	for _, nodeID := range request.Suspects {
		config.Suspects[nodeID] = true
	}
	for nodeID, psk := range request.PSKs {
		config.PSKs[nodeID] = psk
	}
	if request.Hello != "" {
		hello, err := protocol3.ParseJSON([]byte(request.Hello))
		if err != nil {
			return err
		}
		config.Hello, _ = hello.(map[string]any)
	}
	session, err := protocol3.NewSession(config)
	c.session = session
	return err
}

// written writes events as the judge reads them.
func written(events []protocol3.Event, err error) (response, error) {
	if err != nil {
		return nil, err
	}
	all := []response{}
	for _, event := range events {
		all = append(all, writtenEvent(event))
	}
	return response{"events": all}, nil
}

func writtenEvent(event protocol3.Event) response {
	switch e := event.(type) {
	case protocol3.Transmit:
		if e.Data != nil {
			return response{"type": "transmit", "bytes": hexBytes(e.Data)}
		}
		return response{"type": "transmit", "text": e.Text}
	case protocol3.PSKNeeded:
		return response{"type": "psk-needed", "nodeId": e.NodeID, "salt": hexBytes(e.Salt)}
	case protocol3.PSK:
		return response{"type": "psk", "nodeId": e.NodeID, "key": hexBytes(e.Key)}
	case protocol3.PSKSuspect:
		return response{"type": "psk-suspect", "nodeId": e.NodeID}
	case protocol3.NewHub:
		return response{"type": "new-hub", "nodeId": e.NodeID}
	case protocol3.StaticKeyFresh:
		return response{"type": "static-key-fresh", "nodeId": e.NodeID}
	case protocol3.Pin:
		pin := response{"type": "pin", "nodeId": e.NodeID, "key": hexBytes(e.Key)}
		if e.Replaces != nil {
			pin["replaces"] = hexBytes(e.Replaces)
		}
		return pin
	case protocol3.PinSuspect:
		return response{"type": "pin-suspect", "nodeId": e.NodeID}
	case protocol3.Ready:
		return response{
			"type": "ready", "nodeId": e.NodeID, "pattern": e.Pattern, "suite": e.Suite,
			"handshakeHash": hexBytes(e.HandshakeHash), "hubKey": hexBytes(e.HubKey),
			"sessionId": e.SessionID, "encoding": e.Encoding,
		}
	case protocol3.Message:
		if e.Kind == protocol3.JSON {
			return response{"type": "message", "kind": e.Kind, "text": string(e.Data)}
		}
		return response{"type": "message", "kind": e.Kind, "bytes": hexBytes(e.Data)}
	case protocol3.Dropped:
		return response{"type": "dropped", "kind": e.Kind, "length": e.Length, "reason": e.Reason}
	case protocol3.Close:
		return response{"type": "close", "code": e.Code, "error": e.Err}
	case protocol3.Ended:
		return response{"type": "ended", "reason": e.Reason, "retry": e.Retry, "error": e.Err}
	}
	panic(fmt.Sprintf("unknown event %T", event))
}
