package protocol

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Server serves the connections of a listener. Its fields are set before Serve and not changed.
type Server struct {
	Dialect Dialect
	Config
	// Connections is how many are served at once; one more gets an error and is closed. Default
	// 1,024: some 200 KiB each when idle, and below the usual limit on descriptors.
	Connections int

	accepted, refused, slow, open atomic.Int64
}

const (
	defaultConnections = 1024

	// Transient Accept errors, such as a full table of descriptors, are retried after this long,
	// doubled up to the longest: no spinning, and at most a second's delay once it is over.
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = time.Second
)

// Stats counts connections.
type Stats struct {
	Open     int64
	Accepted int64
	Refused  int64 // by the bound on connections
	Slow     int64 // closed because of unread replies
}

// Plus adds the counts of another server.
func (s Stats) Plus(o Stats) Stats {
	return Stats{s.Open + o.Open, s.Accepted + o.Accepted, s.Refused + o.Refused, s.Slow + o.Slow}
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats {
	return Stats{Open: s.open.Load(), Accepted: s.accepted.Load(), Refused: s.refused.Load(),
		Slow: s.slow.Load()}
}

// Serve accepts connections until ctx ends or l is closed, then closes l, ends the connections as
// [Conn.Serve] does, and waits for them. It returns nil when ctx has ended, and otherwise why it
// stopped.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	most := s.Connections
	if most <= 0 {
		most = defaultConnections
	}
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	defer conns.Wait()
	defer cancel()
	return Accept(ctx, l, s.logger(), func(c net.Conn) {
		s.accepted.Add(1)
		if s.open.Load() >= int64(most) {
			s.refused.Add(1)
			s.refuse(c, most)
			return
		}
		s.open.Add(1)
		conns.Go(func() {
			defer s.open.Add(-1)
			s.logger().Debug("a connection has come")
			defer s.logger().Debug("a connection has gone")
			config := s.Config
			if config.Audit != nil {
				config.Peer.UID, config.Peer.PID = processOf(c)
			}
			err := NewConn(c, s.Dialect, config).Serve(ctx)
			if errors.Is(err, ErrSlowReader) {
				s.slow.Add(1)
			}
			if err != nil && !errors.Is(err, ErrShutdown) && !errors.Is(err, ErrPeerGone) {
				s.logger().Warn("a connection ended early", "error", err)
			}
		})
	})
}

// Accept calls meet for each connection of l, one after the other, until ctx ends or l is closed,
// and then closes l. Transient errors, such as a full table of descriptors, are logged and retried.
// It returns nil when ctx has ended, and otherwise why it stopped; meet owns the connections.
func Accept(ctx context.Context, l net.Listener, log *slog.Logger, meet func(net.Conn)) error {
	defer l.Close()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	backoff := shortestBackoff
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			backoff = shortestBackoff
			meet(c)
			continue
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		}
		log.Warn("accept a connection", "error", err, "retry_in", backoff)
		retry := time.NewTimer(backoff)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
		}
		backoff = min(2*backoff, longestBackoff)
	}
}

// refuse sends an error to one peer too many; its empty buffer takes it at once.
func (s *Server) refuse(c net.Conn, most int) {
	e := Standard(&LimitError{What: "connections", Limit: most})
	message, _ := appendError(nil, nullID, e)
	c.SetWriteDeadline(time.Now().Add(longestBackoff))
	c.Write(s.Framing.Append(nil, message))
	c.Close()
}
