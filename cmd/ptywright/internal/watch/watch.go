// Package watch serves a web page, on this machine only, that shows the sessions of a ptywright
// server live, lets a person take one over, and plays recordings. [Serve] is the entry point.
//
// A page is plain files that contain no secret. It opens one WebSocket, sends the token first, and
// then requests: everything it gets is an answer, including screens, which are long polls that
// return when something has changed. So a slow page gets fewer screens, and nothing is queued for
// it. Each page has two connections of its own to the server: when it is closed, in whatever way,
// its sessions are released.
//
// The table in methods.go lists what a page may request; none of it reveals what the server hides.
package watch

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/redact"
)

// Bounds. Clients are on this machine, and before they send the token may be anyone on it.
const (
	// maxConns bounds connections that have sent the token: those of maxPages, and as many that get
	// the answer that there are too many. maxStrangers bounds those that have not, including those
	// for files, of which a browser has six.
	maxConns     = 64
	maxStrangers = 64
	// maxPages bounds logged-in pages: each has two connections to the server, and at most one cast
	// in memory.
	maxPages = 16
	// headTime bounds reading a request's headers, idleTime the pause before the next request on a
	// connection, and loginTime how long a WebSocket may be open without having sent the token.
	headTime  = 5 * time.Second
	idleTime  = 30 * time.Second
	loginTime = 5 * time.Second
	// writeTime is how long a page may not read an answer before it is considered gone. A tab that
	// a debugger has stopped is such a page; it reconnects.
	writeTime = 30 * time.Second
	// pingTime is the pause between two pings of a page, and pongTime how long it may take to
	// answer one before it is considered gone: a browser that is frozen, or whose machine is, must
	// not keep the sessions it took over. Browsers answer by themselves, within milliseconds, for
	// hidden tabs too; shorter times would end pages on a machine that swaps.
	pingTime = 15 * time.Second
	pongTime = 10 * time.Second
	// maxHead bounds headers, in bytes: some twenty times what a browser sends.
	maxHead = 32 << 10
	// endTime is how long pages have to end once the server is asked to.
	endTime = 2 * time.Second
)

// Tokens open the page. A client with the reader's token can only watch, and the server behind the
// page refuses anything else.
type Tokens struct {
	Write string // "": nobody can do more than watch
	Read  string
}

// Options say what to serve.
type Options struct {
	Socket  string           // of the server
	Casts   string           // folder of recordings; "": none
	Who     string           // name of the holder of sessions: "user@host"
	Hide    *redact.Redactor // redacts recordings
	Default string           // socket that commands use when none is named
	Version string
	Arrived func()       // called when a page logs in for the first time; nil: not called
	Log     *slog.Logger // gets errors; nil: slog.Default

	loginTime, writeTime, pingTime, pongTime time.Duration // for tests; 0: as above
}

//go:embed page
var files embed.FS

// A server is what all pages share.
type server struct {
	Options
	spawn  string          // the command line that starts a session
	record []string        // command lines that make a recording
	token  *loopback.Token // nil: none
	read   loopback.Token
	door   loopback.Door
	casts  *os.Root      // nil: none
	pages  chan struct{} // one slot each
	ctx    context.Context
	open   sync.WaitGroup // pages
	once   sync.Once      // Arrived
}

// Serve serves pages until ctx ends, and closes l. Errors: the folder of casts cannot be opened, or
// the listener fails.
func Serve(ctx context.Context, l net.Listener, tokens Tokens, o Options) error {
	defer l.Close()
	s := &server{
		Options: o, read: loopback.TokenOf(tokens.Read), door: loopback.DoorOf(l.Addr()),
		pages: make(chan struct{}, maxPages),
	}
	s.commands()
	if tokens.Write != "" {
		t := loopback.TokenOf(tokens.Write)
		s.token = &t
	}
	s.Log = cmp.Or(o.Log, slog.Default())
	s.loginTime, s.writeTime = cmp.Or(o.loginTime, loginTime), cmp.Or(o.writeTime, writeTime)
	s.pingTime, s.pongTime = cmp.Or(o.pingTime, pingTime), cmp.Or(o.pongTime, pongTime)
	if o.Casts != "" {
		root, err := os.OpenRoot(o.Casts)
		if err != nil {
			return err
		}
		defer root.Close()
		s.casts = root
	}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithCancel(ctx)
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: headTime, ReadTimeout: headTime, WriteTimeout: headTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ErrorLog:    log.New(io.Discard, "", 0), // strangers get their errors as answers
		ConnContext: loopback.ConnContext,
	}
	stop := context.AfterFunc(ctx, func() {
		bound, end := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer end()
		if h.Shutdown(bound) != nil {
			h.Close()
		}
	})
	defer stop()
	err := h.Serve(loopback.NewRoom(maxStrangers, maxConns).Listener(l))
	cancel()
	s.open.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// commands makes the command lines that the page teaches where it has nothing to show.
func (s *server) commands() {
	var where []string
	if s.Socket != s.Default {
		where = []string{"--socket", s.Socket}
	}
	line := func(words ...string) string {
		all := append([]string{"ptywright", words[0]}, where...)
		return record.CommandLine(append(all, words[1:]...), nil)
	}
	s.spawn = line("spawn", "--", "bash")
	s.record = []string{line("record", "--session", "s1", "s1.cast")}
	if s.Casts != "" { // made without a server
		s.record = append(s.record, record.CommandLine([]string{"ptywright", "record",
			"-o", filepath.Join(s.Casts, "demo.cast"), "--", "bash"}, nil))
	}
}

// policy is what the page may do: run its own script, draw with its own style, and connect to its
// origin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are the media types by file extension.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "Cache-Control": "no-store",
		"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Embedder-Policy": "require-corp",
		"Permissions-Policy":           "camera=(), microphone=(), geolocation=(), usb=(), payment=()",
	} {
		w.Header().Set(name, value)
	}
	if problem := s.door.Check(r); problem != "" {
		w.Header().Set("Connection", "close") // strangers do not keep connections that the page needs
		http.Error(w, problem, http.StatusForbidden)
		return
	}
	if r.URL.Path == "/live" {
		s.live(w, r)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	data, err := files.ReadFile(path.Join("page", path.Clean("/"+name)))
	kind, known := types[path.Ext(name)]
	switch {
	case err != nil || !known:
		http.Error(w, "no such file", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "files are only read", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // the browser may be gone
	}
}
