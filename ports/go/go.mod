module protocol3

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/flynn/noise v1.1.0
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect
