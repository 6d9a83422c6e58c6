package protocol3

// Event is what a Session tells its caller, who acts on the events in their order.
type Event any

type (
	// Transmit has bytes to write to the connection: an envelope as text, else a transport message as bytes.
	Transmit struct {
		Text string
		Data []byte
	}
	// PSKNeeded asks for the PSK of a hub: answer with ProvidePSK.
	PSKNeeded struct {
		NodeID string
		Salt   []byte
	}
	// PSK is one that was provided and that the hub has proved to know: store it (P-169).
	PSK struct {
		NodeID string
		Key    []byte
	}
	// PSKSuspect says that the PSK of this hub, unless it was provisioned, is to be derived again (P-118).
	PSKSuspect struct{ NodeID string }
	// NewHub says that this hub is not pinned, though others are.
	NewHub struct{ NodeID string }
	// StaticKeyFresh warns that this hub, which is pinned and has refused KKpsk0, may have another static key of this client.
	StaticKeyFresh struct{ NodeID string }
	// Pin is a key to store for this hub before anything more is transmitted. Replaces is the stale one, or nil: tell a person
	// about that.
	Pin struct {
		NodeID   string
		Key      []byte
		Replaces []byte
	}
	// PinSuspect says that a KKpsk0 with the pin of this hub has failed: name it in Config.Suspects until a Pin comes (P-114).
	PinSuspect struct{ NodeID string }
	// Ready says that messages may be sent.
	Ready struct {
		NodeID, Pattern, Suite string
		HandshakeHash, HubKey  []byte
		SessionID, Encoding    *string
	}
	// Message is a message of the hub.
	Message struct {
		Kind Kind
		Data []byte
	}
	// Dropped is a message that was not delivered.
	Dropped struct {
		Kind   Kind
		Length int
		Reason string
	}
	// Close asks the caller to close the connection, with this code over a WebSocket (P-10). The session is over.
	Close struct {
		Code int
		Err  error
	}
	// Ended says what the end of the connection means.
	Ended struct {
		Reason, Retry string
		Err           error
	}
)
