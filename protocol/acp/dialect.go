package acp

import (
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
)

// A Dialect serves the terminals of a host; each connection sees only its own. It is a
// [protocol.Dialect].
type Dialect struct {
	host *host.Host
	opts Options
}

// New returns the dialect over h.
func New(h *host.Host, o Options) *Dialect { return &Dialect{host: h, opts: o} }

// Open begins a connection, without terminals.
func (d *Dialect) Open(c *protocol.Conn) protocol.Handler {
	return newHandler(NewTerminals(d.host, d.opts), c)
}

// A handler is one connection. It is a [protocol.Handler].
type handler struct {
	terminals *Terminals
	methods   map[string]protocol.Method
}

func newHandler(t *Terminals, c *protocol.Conn) *handler {
	h := &handler{terminals: t, methods: map[string]protocol.Method{}}
	for _, m := range methodsV1(t, c) {
		h.methods[m.Name] = m
	}
	return h
}

func (h *handler) Method(name string) (protocol.Method, bool) {
	m, ok := h.methods[name]
	return m, ok
}

func (h *handler) Error(err error) *protocol.Error { return errorV1(err, h.terminals.words) }

// Close ends what the connection has started.
func (h *handler) Close() {
	if err := h.terminals.Close(); err != nil {
		h.terminals.host.Log.Error("some of what the terminals started could not be ended",
			"error", err)
	}
}
