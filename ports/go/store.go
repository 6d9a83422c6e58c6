package protocol3

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Store is what a client keeps between connections, in a file: its static key and its pins.
type Store struct {
	path string

	StaticKey []byte            `json:"staticKey"`
	Pins      map[string][]byte `json:"pins"`
	Suspects  map[string]bool   `json:"suspects"` // the hubs whose KKpsk0 has failed
}

// OpenStore reads the file, or makes it with a new static key if there is none. A file that cannot be read is an error: with
// an empty store the client would trust any hub that knows the password.
func OpenStore(path string) (*Store, error) {
	s := &Store{path: path, Suspects: map[string]bool{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.StaticKey, s.Pins = make([]byte, 32), map[string][]byte{}
		rand.Read(s.StaticKey) // never fails
		return s, s.save()
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	if len(s.StaticKey) != 32 || s.Pins == nil {
		return nil, errors.New(path + " was damaged: restore it")
	}
	return s, nil
}

// Pin stores the key of a hub.
func (s *Store) Pin(nodeID string, key []byte) error {
	s.Pins[nodeID] = key
	delete(s.Suspects, nodeID)
	return s.save()
}

// Doubt stores that the pin of a hub is suspect.
func (s *Store) Doubt(nodeID string) error {
	s.Suspects[nodeID] = true
	return s.save()
}

// save replaces the file as a whole, so that a crash leaves the old one or the new one.
func (s *Store) save() error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(s.path), ".store-*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), s.path)
}
