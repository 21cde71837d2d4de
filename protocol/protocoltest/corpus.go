package protocoltest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/protocol"
)

// A Peer is the client's end of a connection to a server under test.
type Peer interface {
	io.ReadWriteCloser
	// CloseWrite ends the input of the server and leaves its output open.
	CloseWrite() error
}

// A Suite says which cases run, and against which server.
type Suite struct {
	// Family is the part of the corpus: "ndjson", "lsp" or "tcp-auth".
	Family string
	// Dial connects to a fresh server, or at least one without sessions. It fails the test on an
	// error. The suite closes the peer, and Close may check how the server ended.
	Dial func(t *testing.T) Peer
	// Has reports whether the dialect has a method. Cases that need a missing one are skipped.
	Has func(method string) bool
	// Replace returns what to write for $TOKEN and the like, or for the names of methods, before
	// a case is sent; nil: nothing.
	Replace func(t *testing.T) map[string]string
	// Differs has the code of the error that this dialect answers a case with where the corpus asks
	// for another outcome, by the case's id.
	Differs map[string]int
	// Parallel lets the cases run in parallel: each peer has a server of its own.
	Parallel bool
	// After, if not nil, checks the server when a case has been judged, before the peer is closed.
	After func(t *testing.T, p Peer)
}

// hang bounds a case: far more than any needs on a slow machine under the race detector.
const hang = 2 * time.Minute

//go:embed testdata/cases.jsonl
var corpus []byte

// A Case is one line of the corpus.
type Case struct {
	ID      string
	Framing string
	Bytes   []byte `json:"bytes_base64"`
	Gen     []struct {
		Base64 []byte
		Repeat int
	} `json:"bytes_gen"`
	Writes []int // sizes; the last one repeats
	EOF    bool
	Expect struct {
		outcome
		Connection   string
		NoSideEffect string `json:"no_side_effect"`
		Alternatives []outcome
	}
}

// An outcome is one acceptable set of replies.
type outcome struct {
	Replies    []reply // null: see Each
	Each       *each
	MinReplies int   `json:"min_replies"`
	Batch      bool  // they come in one array
	Ordered    *bool // false: in any order
}

type each struct {
	reply
	AnyOf []reply `json:"any_of"`
}

type reply struct {
	ID     json.RawMessage
	Result bool
	Code   int
}

// Cases returns the cases of a family.
func Cases(t testing.TB, family string) []Case {
	var cases []Case
	for line := range bytes.Lines(corpus) {
		var c Case
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("corpus: %v in %.80s", err, line)
		}
		if c.Framing == family {
			cases = append(cases, c)
		}
	}
	return cases
}

// Corpus runs every case of the suite's family, each on a connection of its own.
func Corpus(t *testing.T, s Suite) {
	ran := 0
	for _, c := range Cases(t, s.Family) {
		if !s.runs(c) {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			s.run(t, c)
		})
	}
	t.Logf("%d of %d cases of the family %s ran", ran, len(Cases(t, s.Family)), s.Family)
	if ran == 0 {
		t.Errorf("no case of the family %q fits the dialect", s.Family)
	}
}

var methodName = regexp.MustCompile(`"method":\s*"((?:server|session|adapter|plugin|auth)\.[a-z_]+)"`)

func (s Suite) runs(c Case) bool {
	text := c.Bytes
	for _, piece := range c.Gen {
		text = append(text, piece.Base64...)
	}
	for _, m := range methodName.FindAllSubmatch(text, -1) {
		if s.Has != nil && !s.Has(string(m[1])) {
			return false
		}
	}
	return true
}

// framing returns how the suite itself frames a message.
func (s Suite) framing() protocol.Framing {
	if s.Family == "lsp" {
		return protocol.Headers
	}
	return protocol.Lines
}

const probeID = `"probe"`

func request(id, method string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`)
}

func (s Suite) run(t *testing.T, c Case) {
	peer := s.Dial(t)
	watchdog := time.AfterFunc(hang, func() { peer.Close() })
	defer watchdog.Stop()

	var input []byte // what error messages are searched for
	sent := make(chan error, 1)
	if c.Gen == nil {
		input = s.replace(t, c.Bytes)
	}
	for i, piece := range c.Gen {
		c.Gen[i].Base64 = s.replace(t, piece.Base64)
	}
	go func() { sent <- s.send(peer, c, input) }()

	r := s.framing().NewReader(peer, 1<<30)
	var got []message
	read := func(stop func(message) bool) error {
		for {
			b, err := r.Next()
			if err != nil {
				return err
			}
			m := check(t, b, input)
			if stop(m) {
				return nil
			}
			got = append(got, m)
		}
	}
	isProbe := func(m message) bool {
		return len(m.parts) == 1 && !m.batch &&
			string(m.parts[0].ID) == probeID
	}

	switch c.Expect.Connection {
	case "open", "either":
		err := read(isProbe)
		if sendErr := <-sent; sendErr != nil && c.Expect.Connection == "open" {
			t.Errorf("send: %v", sendErr)
		}
		if err != nil && c.Expect.Connection == "open" {
			t.Errorf("connection: closed with %v before the probe was answered", err)
		}
		if err == nil && strings.Contains(c.Expect.NoSideEffect, "session.list stays empty") {
			s.noSessions(t, peer, r)
		}
	case "closed":
		err := read(func(message) bool { return false })
		if err != io.EOF && !reset(err) {
			t.Errorf("connection: %v instead of a clean end", err)
		}
		<-sent
	default:
		t.Fatalf("expect.connection is %q", c.Expect.Connection)
	}
	s.judge(t, c, got)
	if s.After != nil {
		s.After(t, peer)
	}
	if err := peer.Close(); err != nil && !reset(err) {
		t.Errorf("close: %v", err)
	}
}

func reset(err error) bool {
	return err != nil &&
		(strings.Contains(err.Error(), "reset by peer") || errors.Is(err, io.ErrClosedPipe))
}

func (s Suite) replace(t *testing.T, b []byte) []byte {
	if s.Replace == nil {
		return b
	}
	values := s.Replace(t)
	// The longest names first: $TOKEN is a prefix of others.
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		b = bytes.ReplaceAll(b, []byte(name), []byte(values[name]))
	}
	return b
}

// send writes the case, followed by the probe or the end of the input.
func (s Suite) send(peer Peer, c Case, input []byte) error {
	last := byte('\n')
	write := func(b []byte) error {
		if len(b) > 0 {
			last = b[len(b)-1]
		}
		_, err := peer.Write(b)
		return err
	}
	for _, piece := range c.Gen {
		// Blocks of some 64 KiB: a piece can be one byte, five million times.
		per := max(1, min(piece.Repeat, (64<<10)/len(piece.Base64)))
		block := bytes.Repeat(piece.Base64, per)
		for left := piece.Repeat; left > 0; left -= per {
			if err := write(block[:min(left, per)*len(piece.Base64)]); err != nil {
				return err
			}
		}
	}
	for i := 0; len(input) > 0; i++ {
		n := len(input)
		if len(c.Writes) > 0 {
			n = min(n, c.Writes[min(i, len(c.Writes)-1)])
		}
		if err := write(input[:n]); err != nil {
			return err
		}
		input = input[n:]
	}
	if c.EOF || c.Expect.Connection == "closed" {
		if !c.EOF {
			return nil
		}
		return peer.CloseWrite()
	}
	probe := s.framing().Append(nil, request(probeID, "server.capabilities"))
	if s.framing() == protocol.Lines && last != '\n' {
		probe = append([]byte{'\n'}, probe...)
	}
	return write(probe)
}

func (s Suite) noSessions(t *testing.T, peer Peer, r *protocol.Reader) {
	if _, err := peer.Write(s.framing().Append(nil,
		request(`"list"`, "session.list"))); err != nil {
		t.Errorf("session.list: %v", err)
		return
	}
	b, err := r.Next()
	var list struct{ Result struct{ Sessions []string } }
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil || len(list.Result.Sessions) != 0 {
		t.Errorf("session.list: %.200s, %v; the case must leave no session", b, err)
	}
}

// A message is the content of one frame.
type message struct {
	batch bool
	parts []part
}

type part struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// check checks what must hold for every reply.
func check(t *testing.T, b, input []byte) message {
	t.Helper()
	if !utf8.Valid(b) {
		t.Errorf("reply is not UTF-8: %q", b)
	}
	m := message{batch: bytes.HasPrefix(b, []byte("["))}
	raw := []json.RawMessage{b}
	if m.batch {
		if err := json.Unmarshal(b, &raw); err != nil || len(raw) == 0 {
			t.Errorf("reply %.200q: %v", b, err)
		}
	}
	for _, b := range raw {
		var members map[string]json.RawMessage
		var p part
		if err := errors.Join(json.Unmarshal(b, &members), json.Unmarshal(b, &p)); err != nil {
			t.Errorf("reply %.200q: %v", b, err)
			continue
		}
		if string(members["jsonrpc"]) != `"2.0"` {
			t.Errorf("reply without its version: %.200q", b)
		}
		if _, ok := members["id"]; !ok {
			t.Errorf("reply without id: %.200q", b)
		}
		_, result := members["result"]
		_, failure := members["error"]
		if result == failure {
			t.Errorf("reply has not exactly one of result and error: %.200q", b)
		}
		p.ID = members["id"] // the exact bytes, null included
		if p.Error != nil {
			checkMessage(t, p.Error.Code, p.Error.Message, input)
		}
		m.parts = append(m.parts, p)
	}
	return m
}

// checkMessage checks the text of an error. A parse error shares no eight bytes with the input
// except our own words; others may show a name or 32 characters.
func checkMessage(t *testing.T, code int, text string, input []byte) {
	t.Helper()
	if len(text) > 1024 {
		t.Errorf("error message of %d bytes", len(text))
	}
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		t.Errorf("error message with a control character: %q", text)
	}
	shared := 8
	if code != protocol.CodeParse {
		shared = 65
	}
	for i := 0; i+shared <= len(text); i++ {
		if bytes.Contains(input, []byte(text[i:i+shared])) &&
			!strings.Contains("Content-Length", text[i:i+shared]) {
			t.Errorf("error message quotes the input: %q", text)
			return
		}
	}
}

// judge compares the replies with the acceptable outcomes.
func (s Suite) judge(t *testing.T, c Case, got []message) {
	t.Helper()
	primary := c.Expect.outcome
	if code, differs := s.Differs[c.ID]; differs {
		primary = outcome{Replies: []reply{{ID: json.RawMessage(`{"$any":true}`), Code: code}}}
		c.Expect.Alternatives = nil
	}
	why := primary.fits(got)
	if why == "" {
		return
	}
	for _, o := range c.Expect.Alternatives {
		if o.fits(got) == "" {
			t.Logf("alternative outcome: %s", why)
			return
		}
	}
	t.Errorf("%s\ngot %s", why, describe(got))
}

func describe(got []message) string {
	var b strings.Builder
	for _, m := range got {
		fmt.Fprintf(&b, "batch=%t:", m.batch)
		for _, p := range m.parts {
			if p.Error != nil {
				fmt.Fprintf(&b, " {id %.40s code %d %q}", p.ID, p.Error.Code, p.Error.Message)
			} else {
				fmt.Fprintf(&b, " {id %.40s result %.80s}", p.ID, p.Result)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// fits returns why got is not the outcome, or "".
func (o outcome) fits(got []message) string {
	var parts []part
	for _, m := range got {
		if m.batch != o.Batch {
			return fmt.Sprintf("in an array: %t, expected %t", m.batch, o.Batch)
		}
		parts = append(parts, m.parts...)
	}
	if o.Batch && len(got) > 1 {
		return fmt.Sprintf("%d arrays, expected one", len(got))
	}
	if o.Replies == nil {
		if len(parts) < o.MinReplies {
			return fmt.Sprintf("%d replies, expected at least %d", len(parts), o.MinReplies)
		}
		want := o.Each.AnyOf
		if want == nil {
			want = []reply{o.Each.reply}
		}
		for _, p := range parts {
			ok := false
			for _, w := range want {
				ok = ok || w.fits(p)
			}
			if !ok {
				return "a reply that fits none expected"
			}
		}
		return ""
	}
	if len(parts) != len(o.Replies) {
		return fmt.Sprintf("%d replies, expected %d", len(parts), len(o.Replies))
	}
	used := make([]bool, len(parts))
next:
	for i, w := range o.Replies {
		for j, p := range parts {
			inPlace := o.Ordered == nil || *o.Ordered
			if used[j] || inPlace && i != j || !w.fits(p) {
				continue
			}
			used[j] = true
			continue next
		}
		return fmt.Sprintf("reply %d: expected id %s, result %t, code %d", i, w.ID, w.Result,
			w.Code)
	}
	return ""
}

func (w reply) fits(p part) bool {
	if w.Result != (p.Error == nil) || p.Error != nil && p.Error.Code != w.Code {
		return false
	}
	var special map[string]json.RawMessage
	if json.Unmarshal(w.ID, &special) == nil && special != nil {
		var text string
		json.Unmarshal(special["$raw"], &text)
		if special["$raw"] != nil {
			return text == string(p.ID)
		}
		if special["$num"] != nil {
			json.Unmarshal(special["$num"], &text)
			a, okA := new(big.Rat).SetString(text)
			b, okB := new(big.Rat).SetString(string(p.ID))
			return okA && okB && a.Cmp(b) == 0
		}
		return special["$any"] != nil
	}
	return reflect.DeepEqual(value(w.ID), value(p.ID))
}

func value(b []byte) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(b)
	}
	return v
}
