// A broker of MQTT 5 alone, which admits everybody: broker ADDRESS
package main

import (
	"log"
	"os"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
)

func main() {
	capabilities := mqtt.NewDefaultServerCapabilities()
	capabilities.MinimumProtocolVersion = 5
	server := mqtt.New(&mqtt.Options{Capabilities: capabilities})
	listener := listeners.NewTCP(listeners.Config{ID: "all", Address: os.Args[1]})
	for _, err := range []error{server.AddHook(new(auth.AllowHook), nil), server.AddListener(listener), server.Serve()} {
		if err != nil {
			log.Fatal(err)
		}
	}
	select {}
}
