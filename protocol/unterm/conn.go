package unterm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/loopback"
)

// Codes of this dialect. Every error of a method is codeFailed, and so is an unknown method.
const (
	codeParse  = -32700
	codeToken  = -32001
	codeLogin  = -32002
	codeFailed = -32603
)

const (
	// maxLine bounds one request, in bytes: the design's 16 MiB.
	maxLine = 16 << 20
	// maxBeforeLogin bounds what a connection may send before it has logged in, in bytes: a token
	// has 36.
	maxBeforeLogin = 1 << 20
	// loginBound is how long a connection may take to log in. Clients do so with their first line.
	loginBound = 10 * time.Second
	// maxLogins is how many wrong tokens a connection may send: a person's mistakes, not a search.
	maxLogins = 32
	// writeBound is how long a client may leave a reply unread: Unterm's own clients time out after
	// 30 s.
	writeBound = 30 * time.Second
	// goneBound is how long a request still runs after its client has closed its side of the
	// connection: that may be a script that waits for the answer (nc -N), or nobody.
	goneBound = 60 * time.Second
)

// errGone is why a request ends whose client is gone.
var errGone = errors.New("the client is gone")

// A conn is one connection.
type conn struct {
	server *Server
	stream *loopback.Conn
	logged atomic.Bool // set by serve
	wrong  int         // wrong tokens received; serve's
	lines  chan line
	done   chan struct{} // closed by serve, which then takes no more lines
}

// A line is a request as it was received, or the error that ended reading.
type line struct {
	text []byte
	err  error // a [*protocol.ParseError]
}

// serve answers one line after the other until the peer or ctx ends.
func (c *conn) serve(ctx context.Context) {
	c.stream.SetReadDeadline(time.Now().Add(loginBound))
	c.lines, c.done = make(chan line), make(chan struct{})
	ctx, cancel := context.WithCancelCause(ctx)
	go c.read(ctx, cancel)
	said := false // the last reply must reach the client, which may still be sending
	defer func() {
		cancel(nil)
		close(c.done)
		c.stream.SetReadDeadline(time.Unix(1, 0))
		for range c.lines { // closed when the reader has ended
		}
		if said {
			protocol.Linger(c.stream)
		}
		c.stream.Close()
	}()
	for {
		select {
		case l, ok := <-c.lines:
			if !ok {
				return
			}
			if said = !c.answer(ctx, l) || ctx.Err() != nil; said {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// read reads ahead of serve, by one line, so that it sees the end of the input while a request
// runs: that request then has goneBound left.
func (c *conn) read(ctx context.Context, cancel context.CancelCauseFunc) {
	defer close(c.lines)
	r := protocol.Lines.NewReader(&gate{c: c}, maxLine)
	for {
		text, err := r.Next()
		l := line{text: text}
		var parse *protocol.ParseError
		switch {
		case errors.As(err, &parse):
			l.err = parse
		case err == io.EOF:
			if c.logged.Load() {
				c.stream.Leave() // it no longer takes another client's place
			}
			gone := time.AfterFunc(goneBound, func() { cancel(errGone) })
			context.AfterFunc(ctx, func() { gone.Stop() })
			return
		case err != nil:
			cancel(errGone)
			return
		}
		select {
		case c.lines <- l:
		case <-c.done:
			return
		}
	}
}

// A gate is the stream before the login: a bounded number of bytes, and no TLS.
type gate struct {
	c    *conn
	seen int
}

// tlsHandshake is the first byte of a TLS client hello: RFC 8446, section 5.1.
const tlsHandshake = 0x16

func (g *gate) Read(p []byte) (int, error) {
	n, err := g.c.stream.Read(p)
	if g.seen == 0 && n > 0 && p[0] == tlsHandshake {
		return 0, io.EOF
	}
	if g.seen += n; g.seen > maxBeforeLogin && !g.c.logged.Load() {
		return 0, io.EOF
	}
	return n, err
}

// verbs are the starts of a first line of HTTP, and of HTTP/2.
var verbs = [][]byte{
	[]byte("GET "), []byte("POST "), []byte("PUT "), []byte("HEAD "), []byte("DELETE "),
	[]byte("OPTIONS "), []byte("PATCH "), []byte("CONNECT "), []byte("TRACE "),
	[]byte("PRI * HTTP/"),
}

// isHTTP reports whether a line begins as a browser's request would.
func isHTTP(text []byte) bool {
	for _, v := range verbs {
		if bytes.HasPrefix(text, v) {
			return true
		}
	}
	return false
}

// An envelope is a request. A value that is not an object has no members, and so no method.
type envelope struct {
	id     jsontext.Value // as it was sent; null when there is none
	noID   bool
	method string
	params params
}

// lenient is how Unterm reads JSON: the last of two members wins.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true),
	json.MatchCaseInsensitiveNames(false))

// parse reads a request. The error is a [*protocol.ParseError].
func parse(text []byte) (*envelope, error) {
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, &protocol.ParseError{Problem: "the line is not one JSON value in UTF-8"}
	}
	e := &envelope{id: jsontext.Value("null"), noID: true}
	var members map[string]jsontext.Value
	if json.Unmarshal(text, &members, lenient) != nil {
		return e, nil
	}
	if id, ok := members["id"]; ok {
		e.id, e.noID = id, false
	}
	_ = json.Unmarshal(members["method"], &e.method) // one of another type counts as absent
	e.params = readParams(members["params"])
	return e, nil
}

// answer runs one request and sends its reply. It reports whether the connection continues.
func (c *conn) answer(ctx context.Context, l line) (goesOn bool) {
	var e *envelope
	err := l.err
	if err == nil {
		e, err = parse(l.text)
	}
	if err != nil {
		if !c.logged.Load() && isHTTP(l.text) { // a page in a browser has found the port
			return false
		}
		return c.fail(jsontext.Value("null"), codeParse,
			"Parse error: "+strings.TrimPrefix(err.Error(), "parse error: "))
	}
	if e.method == "auth.login" {
		if e.noID { // a login without an id is refused; every other method is answered, with id null
			return true
		}
		return c.login(e)
	}
	if !c.logged.Load() {
		return c.fail(e.id, codeLogin, "Not authenticated. Call auth.login first")
	}
	result, err := c.call(ctx, e)
	if err != nil {
		return c.fail(e.id, codeFailed, err.Error())
	}
	return c.reply(e.id, "result", result)
}

// login compares tokens, even when the connection has already logged in.
func (c *conn) login(e *envelope) bool {
	token, _ := e.params.text("token")
	// Digests always have the same length, so that the time reveals nothing of the token, not even
	// its length.
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(c.server.token))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		c.wrong++
		return c.fail(e.id, codeToken, "Invalid auth token") && c.wrong < maxLogins
	}
	if !c.logged.Load() {
		if err := c.stream.Admit(); err != nil {
			c.fail(e.id, codeFailed, err.Error())
			return false
		}
		c.logged.Store(true)
		c.stream.SetReadDeadline(time.Time{})
	}
	return c.reply(e.id, "result", statusOK)
}

// call runs a row. Its context ends with the server, and when the client is gone.
func (c *conn) call(ctx context.Context, e *envelope) (result any, err error) {
	row, ok := rows[e.method]
	if !ok {
		return nil, fmt.Errorf("Unknown method: %s", c.server.covered.String(clip(e.method)))
	}
	grant := &c.server.opts.Grant
	ctx, end := grant.Begin(ctx, e.method)
	reason := "internal_error" // of a panic
	defer func() {
		end(protocol.Peer{UID: c.stream.UID(), PID: -1}, reason)
	}()
	r, err := c.permitted(ctx, row, e)
	if err != nil {
		reason = "forbidden"
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			protocol.Caught(c.server.Log, e.method, v)
			result, err = nil, errors.New("internal error; the server's log has it")
		}
	}()
	result, err = row.call(ctx, r, e.params)
	if reason = ""; err != nil {
		reason = "failed" // Unterm's errors have no reasons
		err = errors.New(r.errorText(err))
	}
	return result, err
}

// permitted returns the reader of a request that the client may make.
func (c *conn) permitted(ctx context.Context, row row, e *envelope) (*reader, error) {
	needs, with := row.needs, ""
	if e.params["redact"].Kind() == 'f' && needs != protocol.RightAdmin {
		needs, with = protocol.RightAdmin, "redact false"
	}
	if err := c.server.opts.Grant.Permit(ctx, e.method, needs, with); err != nil {
		return nil, err
	}
	return c.server.reader(e.params)
}

// reply writes one line, and reports whether the client has taken it.
func (c *conn) reply(id jsontext.Value, member string, value any) bool {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(append(b, `,"`...), member...), `":`...)
	var out []byte
	err := protocol.Guard(c.server.Log, "encode a result", func() (err error) {
		out, err = json.Marshal(value, encoding)
		return err
	})
	if err != nil {
		c.server.Log.Error("encode a result", "error", err)
		return c.fail(id, codeFailed, "the result does not encode")
	}
	b = append(append(b, out...), "}\n"...)
	c.stream.SetWriteDeadline(time.Now().Add(writeBound))
	_, err = c.stream.Write(b)
	return err == nil
}

// encoding is how results are written: program output can hold any bytes, and a bad byte becomes
// U+FFFD.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true),
	json.FormatNilSliceAsNull(false))

// A wireError is an error as a client sees it: it has only code and message.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// fail replies with an error.
func (c *conn) fail(id jsontext.Value, code int, message string) bool {
	return c.reply(id, "error", wireError{code, protocol.Message(message)})
}

// maxName bounds what a message repeats of a client's name, in characters: the longest method has
// 31.
const maxName = 64

// clip shortens a client's text for a message.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxName {
		return s
	}
	return string([]rune(s)[:maxName]) + "..."
}
