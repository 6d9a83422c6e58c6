package protocol3

// Closing is what is known of the end of a connection.
type Closing struct {
	IsTimeout bool   // the caller gave up waiting
	Code      int    // the close code of the WebSocket, or 0
	Status    int    // the HTTP status of a refused upgrade, or 0
	Reason    string // the close reason
	Cause     Error  // why there was no connection: ErrNotReachable, ErrCertificateRefused, ErrNotAHub, ErrBrokerRefused, or none
}

type closing int

const (
	loss closing = iota
	timeout
	unauthorized
	unavailable
	refusal
	noHub
)

// kind tells the kinds of closings apart (P-106).
func (c Closing) kind() closing {
	switch {
	case c.IsTimeout:
		return timeout
	case c.Status == 401 || c.Status == 403:
		return unauthorized
	case c.Status != 0 && c.Status < 500 && c.Status != 408 && c.Status != 429:
		return noHub
	case c.Status != 0 || c.Reason == "connection_limit":
		return unavailable
	case c.Code == 1008:
		return refusal
	}
	return loss
}

// Closed takes the end of the connection, and returns what it means (P-107; the tables of docs/reference/sessions.md). Only the first
// end counts.
func (s *Session) Closed(c Closing) []Event {
	before := s.state
	if before == closed {
		return nil
	}
	var events []Event
	ended := s.ending(c.kind(), c.Cause)
	if before == awaitingMessage2 && ended.Err == ErrKKRefused {
		if s.config.KeyIsFresh {
			events = []Event{StaticKeyFresh{s.nodeID}}
		}
		events = append(events, s.doubtPin()...)
	}
	if before != failed {
		s.fail(ended.Err)
	}
	s.state = closed
	return append(events, ended)
}

func (s *Session) ending(kind closing, cause Error) Ended {
	switch {
	case s.state == failed:
		return s.failure()
	case cause != "" && kind != timeout:
		return Ended{"dropped", "later", cause}
	case kind == noHub:
		return Ended{"dropped", "later", ErrNotAHub}
	case kind == timeout:
		return Ended{"timeout", "later", ErrTimeout}
	case kind == unavailable:
		return Ended{"dropped", "later", ErrUnavailable}
	case kind == loss || s.wasHeard:
		return Ended{"dropped", "now", ErrDropped}
	case kind == unauthorized || s.state < awaitingMessage2:
		return Ended{"refused", "later", ErrAccessRefused}
	case s.state == awaitingMessage2 && s.pattern == XXpsk2:
		return Ended{"refused", "later", ErrNegotiationRefused}
	case s.state == awaitingMessage2:
		return Ended{"refused", "now", ErrKKRefused}
	case s.pattern == XXpsk2 && s.config.KeyIsFresh:
		return Ended{"client-key-refused", "later", ErrClientKeyRefused}
	}
	return Ended{"refused", "later", ErrRefused}
}

func (s *Session) failure() Ended {
	switch {
	case s.err == ErrHubKeyChanged || s.err == ErrUnknownHub:
		return Ended{"refused", "never", s.err}
	case s.isOwnFault:
		return Ended{"dropped", "later", s.err}
	case s.isEstablished:
		return Ended{"dropped", "now", s.err}
	case s.isDoubted:
		return Ended{"refused", "now", s.err}
	}
	return Ended{"refused", "later", s.err}
}
