// Command client connects to a hub over a WebSocket, sends each line of its input as a JSON message, and writes what happens
// to its output, one JSON object per line. It closes the connection when its input ends.
//
// With -echo it sends every message back instead, and connects again until nobody listens: so the judge can test it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/coder/websocket"

	"protocol3"
)

var (
	hub       = flag.String("url", "", "address of the hub")
	accessKey = flag.String("access-key", "", "access key")
	password  = flag.String("password", "", "password")
	siteID    = flag.String("site", "", "site id")
	storeFile = flag.String("store", "", "file with the static key and the pins; made if there is none")
	plaintext = flag.Bool("allow-plaintext", false, "allow an address without TLS")
	echo      = flag.Bool("echo", false, "send every message back, and connect again after each connection")
)

// patience is how long each step of a handshake may take (P-109).
const patience = 30 * time.Second

// A connection that never was ready is followed by a pause, which doubles up to longestPause. Both are short, since a judge
// waits; a client that stays connected begins with a second and ends with minutes (P-161).
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// readLimit has room for an envelope that is too long by one byte, which the session refuses.
const readLimit = 256<<10 + 1

func main() {
	log.SetFlags(0)
	flag.Parse()
	address, err := protocol3.AuthorizedURL(*hub, "go-example", *accessKey, *plaintext)
	if err != nil {
		log.Fatal(err)
	}
	store, err := protocol3.OpenStore(*storeFile)
	if err != nil {
		log.Fatal(err)
	}
	c := &client{store: store, out: json.NewEncoder(os.Stdout), psks: map[string][]byte{}}
	if !*echo {
		c.lines = make(chan string)
		go readLines(c.lines)
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		wasConnected, err := c.connect(address)
		if err != nil {
			log.Fatal(err)
		}
		if !*echo || !wasConnected {
			return
		}
		if c.isReady {
			pause = firstPause
		}
		time.Sleep(pause/2 + rand.N(pause/2)) // clients that lost the same hub come back at different times
	}
}

func readLines(lines chan<- string) {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, protocol3.MaxLength)
	for scanner.Scan() {
		lines <- scanner.Text()
	}
	close(lines)
}

type client struct {
	store *protocol3.Store
	out   *json.Encoder
	psks  map[string][]byte // proved ones, for as long as the program runs
	lines chan string

	session *protocol3.Session
	socket  *websocket.Conn
	isReady bool
}

// received is a message of the hub, or how the connection ended.
type received struct {
	kind websocket.MessageType
	data []byte
	err  error
}

// connect makes one connection and stays until it ends.
func (c *client) connect(address string) (wasConnected bool, err error) {
	c.isReady = false
	c.session, err = protocol3.NewSession(protocol3.Config{
		SiteID: *siteID, StaticKey: c.store.StaticKey, Pins: c.store.Pins, PSKs: c.psks,
		Suspects: c.store.Suspects,
	})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// A redirect would carry the access key elsewhere (P-4).
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	dialing, stop := context.WithTimeout(ctx, patience)
	socket, answer, err := websocket.Dial(dialing, address, &websocket.DialOptions{
		HTTPClient: &http.Client{CheckRedirect: noRedirect},
	})
	stop()
	if err != nil {
		closing := protocol3.Closing{}
		if answer != nil {
			closing.Status = answer.StatusCode
		}
		return false, c.act(ctx, c.session.Closed(closing))
	}
	c.socket = socket
	defer socket.CloseNow()
	socket.SetReadLimit(readLimit)

	fromHub := make(chan received)
	go func() {
		for {
			kind, data, err := socket.Read(ctx)
			select {
			case fromHub <- received{kind, data, err}:
			case <-ctx.Done():
			}
			if err != nil {
				return
			}
		}
	}()
	var lines chan string // nil, so that nothing is read, until the session is ready
	for {
		var deadline <-chan time.Time
		if !c.isReady {
			deadline = time.After(patience)
		} else {
			lines = c.lines
		}
		var events []protocol3.Event
		select {
		case message := <-fromHub:
			if message.err != nil {
				return true, c.act(ctx, c.session.Closed(closingOf(message.err)))
			}
			if message.kind == websocket.MessageText {
				events = c.session.ReceiveText(string(message.data))
			} else {
				events = c.session.ReceiveBytes(message.data)
			}
		case line, isOpen := <-lines:
			if !isOpen {
				socket.Close(websocket.StatusNormalClosure, "")
				return true, nil
			}
			if err := c.send(ctx, protocol3.JSON, []byte(line)); err != nil {
				return true, err
			}
		case <-deadline:
			return true, c.act(ctx, c.session.Closed(protocol3.Closing{IsTimeout: true}))
		}
		if err := c.act(ctx, events); err != nil {
			return true, err
		}
	}
}

func closingOf(err error) protocol3.Closing {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return protocol3.Closing{Code: int(closed.Code), Reason: closed.Reason}
	}
	return protocol3.Closing{}
}

// act does what the events ask for, in their order: a pin is stored before message 3 leaves.
func (c *client) act(ctx context.Context, events []protocol3.Event) error {
	for _, event := range events {
		var err error
		switch e := event.(type) {
		case protocol3.Transmit:
			if e.Data != nil {
				c.write(ctx, websocket.MessageBinary, e.Data)
			} else {
				c.write(ctx, websocket.MessageText, []byte(e.Text))
			}
		case protocol3.PSKNeeded:
			psk := protocol3.DerivePSK(*password, e.NodeID)
			var more []protocol3.Event
			if more, err = c.session.ProvidePSK(psk); err == nil {
				err = c.act(ctx, more)
			}
		case protocol3.PSK:
			c.psks[e.NodeID] = e.Key
		case protocol3.PSKSuspect:
			delete(c.psks, e.NodeID)
		case protocol3.Pin:
			if e.Replaces != nil {
				log.Printf("the hub has a new key: %x in place of %x", e.Key[:8], e.Replaces[:8])
			}
			err = c.store.Pin(e.NodeID, e.Key)
		case protocol3.PinSuspect:
			err = c.store.Doubt(e.NodeID)
		case protocol3.Ready:
			c.isReady = true
			err = c.out.Encode(map[string]any{"type": "ready", "pattern": e.Pattern, "suite": e.Suite, "nodeId": e.NodeID})
		case protocol3.Message:
			if *echo {
				err = c.send(ctx, e.Kind, e.Data)
			} else if e.Kind == protocol3.JSON {
				err = c.out.Encode(map[string]any{"type": "message", "text": string(e.Data)})
			}
		case protocol3.Close:
			c.socket.Close(c.closeCode(), "")
		case protocol3.Ended:
			err = c.out.Encode(map[string]any{"type": "ended", "reason": e.Reason, "retry": e.Retry, "error": e.Err})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// closeCode is the one that P-10 advises.
func (c *client) closeCode() websocket.StatusCode {
	if c.isReady {
		return websocket.StatusProtocolError
	}
	return websocket.StatusPolicyViolation
}

func (c *client) send(ctx context.Context, kind protocol3.Kind, message []byte) error {
	sealed, err := c.session.Send(kind, message)
	for _, message := range sealed {
		c.write(ctx, websocket.MessageBinary, message)
	}
	return err
}

// write writes to the connection. If that fails the connection is dead, and the reader says so.
func (c *client) write(ctx context.Context, kind websocket.MessageType, data []byte) {
	if err := c.socket.Write(ctx, kind, data); err != nil {
		c.socket.CloseNow()
	}
}
