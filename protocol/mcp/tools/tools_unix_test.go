//go:build unix

package tools_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestCanary plants one secret on the screen, in the scrollback, the title, the command line, the
// environment and a typed password, has every tool and every resource show what it can, and looks
// for it in all that left, the log included.
func TestCanary(t *testing.T) {
	t.Parallel()
	const canary = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"
	w := serve(t, false, nil)
	dir := t.TempDir()
	script := `printf '\033]2;title ` + canary + `\007'; i=0; while [ $i -lt 60 ]; do echo "line $i token=$API_TOKEN"; i=$((i+1)); done; stty -echo; printf 'Password: '; read p; stty echo; echo; echo "you typed $p, and have $DB_PASSWORD"; stty -echo; printf 'PIN: '; read p; stty echo; echo; echo "it was $p"; exec cat`
	w.call("start", obj{"program": "sh", "args": []string{"-c", script}, "env": obj{"API_TOKEN": canary, "DB_PASSWORD": "trustno1"}, "wait_for": obj{"text": "Password:"}})
	w.call("record", obj{"action": "start", "session": "s1", "path": filepath.Join(dir, "a.cast"), "input": true})
	w.call("send", obj{"session": "s1", "text": "correct-horse-staple", "submit": true, "wait_for": obj{"text": "PIN:"}})
	w.call("send", obj{"session": "s1", "text": "4z!7q", "submit": true, "wait_for": obj{"text": "it was"}})
	w.call("send", obj{"session": "s1", "text": "echo " + canary, "submit": true, "wait_for": obj{"text": "nothing of it", "exited": true}, "timeout_ms": 50})
	w.call("send", obj{"session": "s1", "paste": canary, "keys": []string{"enter"}})
	for _, m := range []obj{
		{"text": canary}, {"regex": "(ghp_.*)"}, {"matcher": obj{"type": "title_regex", "value": "(ghp.*)"}},
		{"matcher": obj{"type": "transcript_regex", "value": "token=(.*)"}}, {"text": canary + "x"}, {"regex": canary + "y"},
	} {
		m["session"], m["timeout_ms"] = "s1", 20
		w.try("wait", m)
	}
	for _, what := range []string{"screen", "scrollback", "commands"} {
		w.try("read", obj{"session": "s1", "what": what, "count": 1000})
	}
	w.try("read", obj{"session": "s1", "what": "changes", "since": 0})
	w.try("read", obj{"session": "s1", "what": "search", "regex": "ghp_.*"})
	w.try("read", obj{"session": "s1", "what": "search", "text": canary[:12]})
	for _, format := range []string{"png", "svg", "html", "ansi"} {
		w.try("screenshot", obj{"session": "s1", "format": format})
	}
	w.call("screenshot", obj{"session": "s1", "format": "html", "path": filepath.Join(dir, "a.html")})
	w.try("sessions", obj{})
	w.try("run", obj{"command": "echo " + canary})
	w.try("run", obj{"command": "echo " + canary, "session": "s1"})
	w.try("start", obj{"program": "/no/such/" + canary})
	w.try("start", obj{"program": "echo", "args": []string{canary}})
	w.try("adapter", obj{"action": "state", "session": "s1"})
	w.try("adapter", obj{"action": "start", "plugin": canary})
	for _, name := range []string{"read", "send", "wait", "stop", "screenshot", "record"} {
		w.try(name, obj{"session": canary})
		w.try(name, obj{canary: 1})
		w.try(name, obj{"session": 5, "text": canary, "keys": []string{canary}})
	}
	for r, err := range w.client.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
	}
	_, _ = w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ptywright://sessions/s1/transcript?since=0"})
	_, _ = w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ptywright://sessions/" + canary + "/screen"})
	_, _ = w.client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "terminal-guide", Arguments: map[string]string{"session": "s1"}})
	_, _ = w.client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: canary})
	w.call("record", obj{"action": "stop", "session": "s1"})
	w.call("stop", obj{"session": "s1"})

	left := map[string]string{"wire": w.out.String(), "log": w.log.String()}
	for _, name := range []string{"a.cast", "a.html"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		left[name] = string(b)
	}
	for where, all := range left {
		for _, secret := range []string{canary, canary[4:20], canary[24:], "correct-horse-staple", "trustno1", "4z!7q"} {
			if i := strings.Index(all, secret); i >= 0 {
				t.Errorf("%s shows %q in …%s…", where, secret, all[max(0, i-300):min(len(all), i+60)])
			}
		}
	}
	if !strings.Contains(left["wire"], "[REDACTED") {
		t.Error("nothing was redacted: the test shows nothing")
	}
}

// TestRawOutputIsTrustedAndAskedFor: --trust-raw and raw, both.
func TestRawOutputIsTrustedAndAskedFor(t *testing.T) {
	t.Parallel()
	const secret = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"
	for _, trusted := range []bool{false, true} {
		t.Run(fmt.Sprint(trusted), func(t *testing.T) {
			w := serve(t, trusted, nil)
			w.call("start", obj{"program": "sh", "args": []string{"-c", "echo " + secret + "; exec cat"}, "wait_for": obj{"text": "REDAC", "stable_ms": 100}})
			if s := fmt.Sprint(w.call("read", obj{"session": "s1"})["text"]); strings.Contains(s, secret) {
				t.Errorf("shown without being asked for: %s", s)
			}
			r := w.try("read", obj{"session": "s1", "raw": true})
			if shows := strings.Contains(text(r), secret); shows != trusted || r.IsError == trusted {
				t.Errorf("raw: %s", text(r))
			}
		})
	}
}

// TestMCPResources: templates, the live list, the parts, and updates.
func TestMCPResources(t *testing.T) {
	t.Parallel()
	updated := make(chan string, 16)
	w := serve(t, false, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		select {
		case updated <- r.Params.URI:
		default:
		}
	}})
	// The SDK's client does not wait until it is subscribed, so something has to change again and
	// again.
	const ticks = `(while sleep 0.1; do printf '\033]0;tick\007'; done) & exec cat`
	w.call("start", obj{"program": "sh", "args": []string{"-c", ticks}, "wait_for": obj{"matcher": obj{"type": "not", "value": obj{"type": "bell"}}}})
	const screen = "ptywright://sessions/s1/screen"
	read := func(uri string) *sdk.ResourceContents {
		t.Helper()
		r, err := w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		return r.Contents[0]
	}
	n := 0
	for r, err := range w.client.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if c := read(r.URI); c.MIMEType != r.MIMEType || c.Text == "" && len(c.Blob) == 0 {
			t.Errorf("%s: %+v", r.URI, c)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d resources of one session", n)
	}
	//lint:ignore SA1019 the subscription of the handshake era has to go on working
	if err := w.client.Subscribe(t.Context(), &sdk.SubscribeParams{URI: screen}); err != nil {
		t.Skip(err) // the SDK's client subscribes in its own era's way
	}
	w.call("send", obj{"session": "s1", "text": "seen", "submit": true, "wait_for": obj{"text": "seen"}})
	if uri := <-updated; uri != screen {
		t.Errorf("updated: %s", uri)
	}
	if c := read(screen); !strings.Contains(c.Text, "seen") {
		t.Errorf("screen: %q", c.Text)
	}
	if c := read("ptywright://sessions/s1/transcript?since=0"); !strings.Contains(c.Text, "seen") {
		t.Errorf("transcript: %q", c.Text)
	}
	if err := w.client.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: screen}); err != nil {
		t.Error(err)
	}
	for _, uri := range []string{"ptywright://sessions/s9/screen", "ptywright://sessions/s1/nothing", "ptywright://sessions/s1", "ptywright://sessions/s1/transcript?since=x"} {
		if _, err := w.client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is read", uri)
		}
	}
	done, err := w.client.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "ptywright://sessions/{id}/screen"}, Argument: sdk.CompleteParamsArgument{Name: "id", Value: "s"}})
	if err != nil || fmt.Sprint(done.Completion.Values) != "[s1]" {
		t.Errorf("completion: %v, %v", done, err)
	}
}

// person answers a page as a browser would.
func person(t *testing.T, page, secret string) (shown string, status int) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(r.Body)
	r.Body.Close()
	r, err = c.PostForm(page, url.Values{"secret": {secret}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return string(b), r.StatusCode
}

const asks = `stty -echo; printf 'Password: '; read p; stty echo; echo; [ "$p" = "open sesame 7" ] && echo "let in, $p"; exec cat`

// TestSecretIsTypedByAPerson: on a page that the client shows, unseen by the model.
func TestSecretIsTypedByAPerson(t *testing.T) {
	t.Parallel()
	pages := make(chan string, 1)
	w := serve(t, false, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			pages <- r.Params.URL
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
	})
	w.call("start", obj{"program": "sh", "args": []string{"-c", asks}, "wait_for": obj{"text": "Password:"}})
	answered := make(chan int, 1)
	used := make(chan string, 1)
	go func() {
		page := <-pages
		shown, status := person(t, page, "open sesame 7")
		if !strings.Contains(shown, "the door&#39;s word") {
			t.Errorf("the page: %s", shown)
		}
		answered <- status
		used <- page
	}()
	out := w.call("send", obj{"session": "s1", "secret": "the door's word"})
	if status := <-answered; status != 200 {
		t.Errorf("the page answers %d", status)
	}
	if out["person"] != "typed" || !strings.Contains(fmt.Sprint(out["screen"]), "let in") {
		t.Errorf("send with secret: %v", out)
	}
	if strings.Contains(w.out.String(), "sesame") {
		t.Error("the secret has left")
	}
	if _, status := person(t, <-used, "again"); status != http.StatusNotFound {
		t.Errorf("a page that was used answers %d", status)
	}
}

// TestSecretIsDeclined: nobody is asked again.
func TestSecretIsDeclined(t *testing.T) {
	t.Parallel()
	w := serve(t, false, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
	})
	w.call("start", obj{"program": "sh", "args": []string{"-c", asks}, "wait_for": obj{"text": "Password:"}})
	r := w.try("send", obj{"session": "s1", "secret": "the password"})
	if r.StructuredContent.(obj)["person"] != "declined" || !strings.Contains(text(r), "Do not ask again") || strings.Contains(text(r), "send with secret") {
		t.Errorf("declined: %s", text(r))
	}
}

// TestSecretWithoutElicitation: the result says what to tell the person.
func TestSecretWithoutElicitation(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	w.call("start", obj{"program": "sh", "args": []string{"-c", asks}, "wait_for": obj{"text": "Password:"}})
	r := w.try("send", obj{"session": "s1", "secret": "the password"})
	out := r.StructuredContent.(obj)
	if out["person"] != "unsupported" || !strings.Contains(text(r), fmt.Sprint(out["url"])) {
		t.Fatalf("send with secret: %s", text(r))
	}
	if !strings.Contains(text(r), `wait {"session":"s1","secret_entered":true}`) || strings.Contains(text(r), "send with secret") {
		t.Errorf("what to do: %s", text(r))
	}
	if m := w.call("wait", obj{"session": "s1", "secret_entered": true, "timeout_ms": 300}); m["matched"] != false || !strings.Contains(fmt.Sprint(m["missing"]), "still asks") {
		t.Errorf("before it is typed: %v", m)
	}
	page := fmt.Sprint(out["url"])
	req, err := http.NewRequest(http.MethodPost, page, strings.NewReader("secret=evil"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "http://evil.example")
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page's form: %d", answer.StatusCode)
	}
	if _, status := person(t, page, "open sesame 7"); status != 200 {
		t.Errorf("the page answers %d", status)
	}
	if m := w.call("wait", obj{"session": "s1", "secret_entered": true}); m["matched"] != true || !strings.Contains(fmt.Sprint(m["screen"]), "let in") {
		t.Errorf("wait: %v", m)
	}
}

// TestSendSaysWhatBecameOfIt: echo, Enter, and what cannot be typed.
func TestSendSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	w.call("start", obj{"program": "sh", "args": []string{"-c", "stty -echo -icanon min 1; echo ready; exec sleep 1000"}, "wait_for": obj{"text": "ready"}})
	out := w.call("send", obj{"session": "s1", "text": "deaf", "submit": true})
	if out["submitted"] != false {
		t.Errorf("Enter to a program that does nothing: %v", out)
	}
	w.call("start", obj{"program": "cat", "wait_for": obj{"matcher": obj{"type": "not", "value": obj{"type": "bell"}}}})
	if out = w.call("send", obj{"session": "s2", "text": "hello", "submit": true}); out["echoed"] != true || out["submitted"] != true {
		t.Errorf("to cat: %v", out)
	}
	for _, args := range []obj{
		{"session": "s2"},
		{"session": "s2", "text": "the key is [REDACTED]"},
		{"session": "s2", "keys": []string{"no such key"}},
		{"session": "s2", "text": "x", "wait_for": obj{"regex": "("}},
		{"session": "s2", "text": "x", "max_chars": 1},
		{"session": "s2", "secret": "a", "text": "b"},
		{"session": "s2", "raw": true, "text": "x"},
	} {
		if r := w.try("send", args); !r.IsError {
			t.Errorf("%v: %s", args, text(r))
		}
	}
	if s := w.call("read", obj{"session": "s2"})["text"]; s != "hello\nhello" {
		t.Errorf("what was refused was typed: %q", s)
	}
	w.call("stop", obj{"session": "s2", "keep": true})
	if r := w.try("send", obj{"session": "s2", "text": "x"}); !r.IsError || !strings.Contains(text(r), "start") {
		t.Errorf("to a session that was stopped: %s", text(r))
	}
}

// TestReadAt: a screen is read, and searched, as it was at a sequence or so long ago, and what has
// become a secret since is hidden there, too.
func TestReadAt(t *testing.T) {
	t.Parallel()
	w := serve(t, false, nil)
	const secret = "Wq7xZ9pLm3kR"
	first := w.call("start", obj{"program": "sh", "args": []string{"-c", `printf 'the first ` + secret + `'; read go; printf '\033[2J\033[Hthe second'; read go`}, "wait_for": obj{"text": secret}})
	seq := first["sequence"]
	second := w.call("send", obj{"session": "s1", "text": "", "submit": true, "wait_for": obj{"text": "the second"}})["sequence"]
	for ago := (obj{"session": "s1", "at": -1}); ; { // the session may be younger than that
		r := w.try("read", ago)
		if !r.IsError {
			break
		}
		if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, "the session began after") {
			t.Fatal(text)
		}
	}
	for _, what := range []string{"screen", "search"} {
		was := fmt.Sprint(w.call("read", obj{"session": "s1", "what": what, "regex": "the .*", "at": seq}))
		is := fmt.Sprint(w.call("read", obj{"session": "s1", "what": what, "regex": "the .*", "at": second}))
		if !strings.Contains(was, "the first "+secret) || strings.Contains(was, "second") || strings.Contains(is, "first") || !strings.Contains(is, "the second") {
			t.Errorf("%s: was %s, is %s", what, was, is)
		}
	}
	for _, bad := range []obj{{"at": 1000}, {"at": -1 << 50}, {"at": seq, "what": "changes", "since": 0}, {"at": seq, "what": "scrollback"}} {
		bad["session"] = "s1"
		if r := w.try("read", bad); !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "at: ") {
			t.Errorf("%v: %+v", bad, r)
		}
	}
	w.call("start", obj{"program": "cat", "env": obj{"API_TOKEN": secret}})
	for _, what := range []string{"screen", "search"} {
		if was := fmt.Sprint(w.call("read", obj{"session": "s1", "what": what, "regex": "the .*", "at": seq})); !strings.Contains(was, "the first") || strings.Contains(was, secret) {
			t.Errorf("%s, with a secret that became known: %s", what, was)
		}
	}
}
