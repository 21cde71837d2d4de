package unterm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/protocol/unterm/instance"
	"github.com/ptywright/ptywright/protocol/unterm/journal"
	"github.com/ptywright/ptywright/protocol/unterm/proxy"
	"github.com/ptywright/ptywright/redact"
)

// Options configure a server.
type Options struct {
	Root string // folder of this user's instances, see package instance
	Port int    // preferred; 0: any that is free
	Dir  string // working directory of pane 0, and in the instance's record; "": the process's
	Raw  bool   // clients may ask for unredacted text, if they may do everything
	// Grant is what clients may do. The server's own work, such as starting pane 0, needs none.
	Grant protocol.Grant
}

// A Server is one instance: a name, a port, a token and the panes of an engine.
type Server struct {
	*host.Host
	opts     Options
	token    string
	covered  *redact.Redactor
	listener net.Listener
	instance *instance.Instance
	panes    panes
	policy   policy
	audit    audit
	proxy    *proxy.Store
	journal  *journal.Journal
	room     *loopback.Room
	running  sync.WaitGroup // follow
}

const (
	// maxClients is how many clients may be logged in at a time. Each costs two goroutines; the
	// fleet's own commands need one each.
	maxClients = 256
	// maxStrangers is how many connections may be waiting for their login.
	maxStrangers = 64
)

// New starts an instance over the sessions of h: it listens, starts pane 0, and then publishes its
// record, in this order, so that clients that find the record find everything. If a step fails,
// what was started is ended.
func New(h *host.Host, o Options) (*Server, error) {
	s := &Server{Host: h, opts: o, covered: h.Redactor(), token: instance.NewToken(),
		room: loopback.NewRoom(maxStrangers, maxClients)}
	s.panes.engine = h.Engine
	s.audit.hide = s.covered.ForAll()
	h.Known.Add(s.token)
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) open() (err error) {
	if s.opts.Root, err = filepath.Abs(s.opts.Root); err != nil {
		return err
	}
	s.proxy = proxy.New(filepath.Join(s.opts.Root, "proxy.json"))
	s.journal = journal.New(journal.Options{
		Root: s.opts.Root, Redactor: s.covered, Version: s.Version, Log: s.Log,
	})
	if s.listener, err = instance.Listen(s.opts.Port); err != nil {
		return err
	}
	zero, err := s.create(creation{dir: s.opts.Dir})
	if err != nil {
		return fmt.Errorf("start the shell of pane 0: %w", err)
	}
	if s.instance, err = instance.Claim(s.opts.Root, s.record()); err != nil {
		return err
	}
	s.running.Go(func() { s.follow(zero.session) })
	return nil
}

// Name returns the instance's name.
func (s *Server) Name() string {
	r, _ := s.instance.Record() // with an error it is what was last written
	return r.ID
}

// Root returns the folder of the instances.
func (s *Server) Root() string { return s.opts.Root }

// Addr returns where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve serves clients until ctx ends, and then cancels their pending requests. It is called once.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	defer conns.Wait()
	defer cancel()
	return protocol.Accept(ctx, s.listener, s.Log, func(stream net.Conn) {
		c := &conn{server: s, stream: s.room.Enter(stream)}
		conns.Go(func() {
			defer c.stream.Close()
			_ = protocol.Guard(s.Log, "a connection", func() error { // the error is in the log
				c.serve(ctx)
				return nil
			})
		})
	})
}

// Close removes the instance's record and ends its recordings and the panes that it started. It is
// called once, after Serve has returned.
func (s *Server) Close() error {
	var errs []error
	if s.instance != nil {
		errs = append(errs, s.instance.Close())
	}
	if s.listener != nil {
		s.listener.Close()
	}
	if s.journal != nil {
		s.journal.Close()
	}
	errs = append(errs, s.panes.close())
	s.running.Wait()
	return errors.Join(errs...)
}

// A reader is a server as one request may see it.
type reader struct {
	*Server
	hide *redact.Redactor // nil: nothing is redacted
}

// reader returns the reader of a request: the operator has to allow "redact": false.
func (s *Server) reader(p params) (*reader, error) {
	if p["redact"].Kind() != 'f' {
		return &reader{s, s.covered}, nil
	}
	if !s.opts.Raw {
		return nil, errors.New("output in which no secret is hidden needs a server that was started with --trust-raw: leave out 'redact'")
	}
	return &reader{Server: s}, nil
}

// look returns a redacted view of a session.
func (s *reader) look(session *engine.Session) *reading.View {
	return reading.New(session.View(), s.hide)
}

// clean redacts a text that is not on a screen.
func (s *reader) clean(text string) string {
	if s.hide == nil {
		return text
	}
	return s.hide.String(text)
}

// cleanOf redacts a text of a session that is not on its screen.
func (s *reader) cleanOf(session *engine.Session, text string) string {
	return s.look(session).Clean(text)
}

// errorText is an error as a client sees it.
func (s *reader) errorText(err error) string {
	if errors.Is(err, context.Canceled) {
		return "cancelled: the server is stopping"
	}
	return s.clean(err.Error())
}
