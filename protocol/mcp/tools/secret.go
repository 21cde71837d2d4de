package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/protocol/mcp"
	"github.com/ptywright/ptywright/redact"
)

const (
	// pageTTL is how long a page for a secret is valid: long enough to find a password in a drawer.
	pageTTL = 10 * time.Minute
	// pageWait is how long a call waits for the person, less than clients wait for a call.
	pageWait = waitCap
	// maxPages bounds the open pages.
	maxPages = 16
	// maxPageConns bounds the connections of those who know a page's address, and those of others
	// by the same number: a browser has six.
	maxPageConns = 64
	// maxSecret bounds a secret, in bytes: the longest line that a terminal takes.
	maxSecret = 4095
	// maxAsked bounds what a model says the secret is, in characters.
	maxAsked = 300
)

// pages are the pages on which people type secrets, straight into a session. They are served on the
// loopback while there are any; each works once, and its address cannot be guessed.
type pages struct {
	profile *profile

	mu sync.Mutex
	// protects the fields below
	server *http.Server
	base   string // http://127.0.0.1:PORT/secret/
	open   map[string]*page
}

// A page asks one person for one secret.
type page struct {
	token   string
	session *engine.Session
	asked   string
	used    bool // guarded by pages.mu
	once    sync.Once
	done    chan struct{} // closed when the page was answered or is no longer valid
	outcome string        // set before done is closed: typed, declined or expired
	err     error
	expiry  *time.Timer
}

func (g *page) finish(outcome string, err error) {
	g.once.Do(func() {
		g.outcome, g.err = outcome, err
		close(g.done)
	})
}

// ask opens a page.
func (ps *pages) ask(s *engine.Session, asked string) (*page, string, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.open) >= maxPages { // of used pages only the outcome is kept
		maps.DeleteFunc(ps.open, func(_ string, g *page) bool { return g.used && g.expiry.Stop() })
	}
	if len(ps.open) >= maxPages {
		return nil, "", fmt.Errorf("%d secrets are being asked for already", maxPages)
	}
	if ps.server == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", fmt.Errorf("open a page for the secret: %w", err)
		}
		ps.base = "http://" + l.Addr().String() + "/secret/"
		ps.open = map[string]*page{}
		ps.server = &http.Server{
			Handler: ps, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
			IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
			ErrorLog:    log.New(io.Discard, "", 0),
			ConnContext: loopback.ConnContext,
		}
		server, room := ps.server, loopback.NewRoom(maxPageConns, maxPageConns)
		ps.profile.background.Go(func() { _ = server.Serve(room.Listener(l)) }) // it ends when it is closed
	}
	g := &page{token: rand.Text(), session: s, asked: asked, done: make(chan struct{})}
	g.expiry = time.AfterFunc(pageTTL, func() { ps.end(g, "expired") })
	ps.open[g.token] = g
	return g, ps.base + g.token, nil
}

// end removes a page.
func (ps *pages) end(g *page, outcome string) {
	ps.mu.Lock()
	delete(ps.open, g.token)
	ps.mu.Unlock()
	g.expiry.Stop()
	g.finish(outcome, nil)
}

// find returns the page of a token, used or not, or nil.
func (ps *pages) find(token string) *page {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.open[token]
}

// use returns an unused page, and with take marks it used.
func (ps *pages) use(token string, take bool) *page {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	g := ps.open[token]
	if g == nil || g.used {
		return nil
	}
	g.used = take
	return g
}

// close ends the server of the pages.
func (ps *pages) close() {
	ps.mu.Lock()
	server, open := ps.server, ps.open
	ps.open = map[string]*page{}
	ps.mu.Unlock()
	for _, g := range open {
		g.expiry.Stop()
		g.finish("expired", nil)
	}
	if server != nil {
		_ = server.Close()
	}
}

// ServeHTTP shows a page, and accepts its form.
func (ps *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	ps.mu.Lock()
	own := strings.TrimSuffix(strings.TrimPrefix(ps.base, "http://"), "/secret/")
	ps.mu.Unlock()
	origin := r.Header.Get("Origin")
	if r.Host != own || origin != "" && origin != "http://"+own {
		http.Error(w, "not served here", http.StatusForbidden)
		return
	}
	token, ok := strings.CutPrefix(r.URL.Path, "/secret/")
	g := ps.use(token, false)
	if !ok || g == nil {
		http.Error(w, "This page was used already, or is too old. Ask your agent for a new one.",
			http.StatusNotFound)
		return
	}
	if err := loopback.Admit(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	switch r.Method {
	case http.MethodGet:
		c := g.session.Config()
		program := ps.profile.hide.String(strings.Join(append([]string{c.Program}, c.Args...), " "))
		fmt.Fprintf(w, pageHTML, html.EscapeString(program),
			html.EscapeString(string(g.session.ID())), html.EscapeString(g.asked))
	case http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, 4*maxSecret)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "what was typed is too long for a terminal", http.StatusBadRequest)
			return
		}
		if g = ps.use(token, true); g == nil {
			http.Error(w, "This page was used already.", http.StatusNotFound)
			return
		}
		ps.answer(w, r, g)
	default:
		h.Set("Allow", "GET, POST")
		http.Error(w, "GET or POST", http.StatusMethodNotAllowed)
	}
}

// answer types the secret, and confirms it.
func (ps *pages) answer(w http.ResponseWriter, r *http.Request, g *page) {
	if r.PostForm.Get("decline") != "" {
		g.finish("declined", nil)
		fmt.Fprintf(w, doneHTML, "Nothing was typed. You can close this page.")
		return
	}
	if !r.PostForm.Has("secret") {
		http.Error(w, "The form was sent without its field: go back, and type it there.",
			http.StatusBadRequest)
		return
	}
	secret := r.PostForm.Get("secret")
	if len(secret) > maxSecret || strings.ContainsAny(secret, "\r\n\x00") {
		g.finish("failed",
			errors.New("what the person typed has several lines, or is too long for a terminal"))
		http.Error(w, "That cannot be typed into a terminal as one line.", http.StatusBadRequest)
		return
	}
	ps.profile.Known.Typed(string(g.session.ID()), g.session.Closed(), secret, redact.Certain) // before the program can show it
	_, err := g.session.Do(r.Context(), engine.Text(secret+"\r"))
	if err != nil {
		g.finish("failed", err)
		http.Error(w, "The program does not take it any more.", http.StatusConflict)
		return
	}
	g.finish("typed", nil)
	fmt.Fprintf(w, doneHTML, "It was typed. You can close this page.")
}

// pageHTML and doneHTML need no script and load nothing.
const pageHTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>ptywright asks for a secret</title>
<style>body{font:16px system-ui;max-width:34em;margin:4em auto;padding:0 1em}input,button{font:inherit;padding:.4em}code{background:#8882;padding:.1em .3em}</style>
<h1>A program asks for a secret</h1>
<p>The program <code>%s</code> (session <code>%s</code>) runs under your agent. Your agent says that it asks for:</p>
<p><b>%s</b></p>
<form method="post" autocomplete="off"><p><input type="password" name="secret" size="40" autofocus aria-label="secret"> <button>Type it</button>
<button name="decline" value="1">Do not</button></p></form>
<p>What you type goes to the program and nowhere else: the agent does not see it, and it is covered wherever the program shows it.</p></html>`

const doneHTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>ptywright</title><p style="font:16px system-ui;margin:4em">%s</p></html>`

// secret asks a person to type a secret into a session.
func (p *profile) secret(ctx context.Context, req *sdk.CallToolRequest, s *engine.Session,
	in *sendParams, hide *redact.Redactor, most int) (*reply[sendResult], error) {
	since := s.Sequence()
	what := cutRunes(p.hide.String(cut(in.Secret, maxJudged)), maxAsked)
	if !canAsk(req) {
		_, address, err := p.pages.ask(s, what)
		if err != nil {
			return nil, err
		}
		r := p.secretResult(s, since, hide, most)
		r.Person, r.URL = "unsupported", address
		text := fmt.Sprintf("This client cannot show the person a page by itself. Tell the person: open %s on this machine and type it there (good once, for %v). You will not see it. %s\n%s\n%s",
			address, pageTTL, r.entered(), r.headAsked(), r.shown.text())
		return &reply[sendResult]{text: text, out: r}, nil
	}
	token := req.Params.RequestState
	if answer, asked := req.Params.InputResponses["secret"].(*sdk.ElicitResult); asked {
		return p.secretAsked(ctx, s, token, answer, since, hide, most)
	}
	g, address, err := p.pages.ask(s, what)
	if err != nil {
		return nil, err
	}
	mcp.Yield(ctx)
	return &reply[sendResult]{
		ask: sdk.InputRequestMap{"secret": &sdk.ElicitParams{
			Mode: "url", URL: address, ElicitationID: g.token,
			Message: "A terminal program asks for a secret: " + what +
				". Type it on this page; it goes to the program and not to the model.",
		}},
		state: g.token,
	}, nil
}

// secretAsked continues when the client has shown the page to the person, or the person declined.
func (p *profile) secretAsked(ctx context.Context, s *engine.Session, token string,
	answer *sdk.ElicitResult, since uint64, hide *redact.Redactor, most int) (*reply[sendResult],
	error) {
	g := p.pages.find(token)
	outcome := ""
	switch {
	case answer.Action != "accept":
		outcome = "declined"
		if g != nil {
			p.pages.end(g, "declined")
		}
	case g != nil:
		mcp.Yield(ctx)
		timer := time.NewTimer(pageWait)
		defer timer.Stop()
		select {
		case <-g.done:
			if g.err != nil {
				p.pages.end(g, "failed")
				return nil, fmt.Errorf("the secret was not typed: %w", g.err)
			}
			outcome = g.outcome
			p.pages.end(g, outcome)
		case <-timer.C:
			outcome = "waiting"
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	default:
		outcome = "expired"
	}
	if outcome == "typed" {
		if _, err := p.follow(ctx, nil, s, &question{}, engine.After(since), 0, still(), sendSettle,
			hide, most); err != nil {
			return nil, err
		}
	}
	r := p.secretResult(s, since, hide, most)
	r.Person = outcome
	said := map[string]string{
		"typed":    "The person typed it. You do not see it, and it is covered wherever it shows.",
		"declined": "The person would not type it. Do not ask again, nor in another way: say what you cannot do without it.",
		"waiting":  "The person has the page and has not typed it yet. " + r.entered(),
		"expired":  "The page has expired. Ask again.",
	}[outcome]
	head := r.headAsked()
	if outcome == "typed" { // a prompt that is there now is another one
		head = r.status.head()
	}
	return &reply[sendResult]{text: said + "\n" + head + "\n" + r.shown.text(), out: r}, nil
}

// headAsked is the status in words of a session whose person was asked: it does not advise to ask
// again.
func (r *sendResult) headAsked() string {
	st := r.status
	st.Secret = false
	return st.head()
}

// entered says how to wait until a person has typed the secret.
func (r *sendResult) entered() string {
	if !r.Secret { // the program reads it in a way that cannot be detected
		return fmt.Sprintf("Ask the person to say when that is done, then read {\"session\":%q}.",
			r.Session)
	}
	return fmt.Sprintf("Then wait {\"session\":%q,\"secret_entered\":true}, which ends when the program asks no more; or ask the person to say when it is done.", r.Session)
}

func (p *profile) secretResult(s *engine.Session, since uint64, hide *redact.Redactor,
	most int) sendResult {
	l := p.look(s, hide)
	return sendResult{status: statusOf(l), sent: sent{Since: since}, shown: shownOf(l, most)}
}

// canAsk reports whether the client can show a person a page.
func canAsk(req *sdk.CallToolRequest) bool {
	params := req.Session.InitializeParams()
	return params != nil && params.Capabilities != nil && params.Capabilities.Elicitation != nil &&
		params.Capabilities.Elicitation.URL != nil
}

func cutRunes(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// invalid turns an error into one about the request.
func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}
