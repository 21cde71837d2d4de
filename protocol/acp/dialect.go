package acp

import (
	"log/slog"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol"
)

// A Dialect serves terminals of an engine, those of each connection to that connection alone. It is a [protocol.Dialect].
type Dialect struct {
	engine *engine.Engine
	opts   Options
	log    *slog.Logger
}

// New returns the dialect over e. log takes what could not be ended; nil: slog.Default().
func New(e *engine.Engine, o Options, log *slog.Logger) *Dialect {
	if log == nil {
		log = slog.Default()
	}
	return &Dialect{engine: e, opts: o, log: log}
}

// Open begins a connection, without terminals.
func (d *Dialect) Open(c *protocol.Conn) protocol.Handler {
	return newHandler(NewHost(d.engine, d.opts), c, d.log)
}

// A handler is one connection. It is a [protocol.Handler].
type handler struct {
	host    *Host
	methods map[string]protocol.Method
	log     *slog.Logger
}

func newHandler(host *Host, c *protocol.Conn, log *slog.Logger) *handler {
	h := &handler{host: host, methods: map[string]protocol.Method{}, log: log}
	for _, m := range methodsV1(host, c) {
		h.methods[m.Name] = m
	}
	return h
}

func (h *handler) Method(name string) (protocol.Method, bool) {
	m, ok := h.methods[name]
	return m, ok
}

func (h *handler) Error(err error) *protocol.Error { return errorV1(err, h.host.words) }

// Close ends what the connection had started.
func (h *handler) Close() {
	if err := h.host.Close(); err != nil {
		h.log.Error("some of what the terminals started could not be ended", "error", err)
	}
}
