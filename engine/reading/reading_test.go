package reading

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/redact"
)

const secret = "ghp_k9Wz3TqLr7XvB2nM5pYd8HsJ4cFa6GeUo1Rt"

// session returns a session that shows text, once it does.
func session(t testing.TB, text string, scrollback int) *engine.Session {
	t.Helper()
	return sessionOf(t, text, engine.Config{Program: "fake", Scrollback: scrollback})
}

func sessionOf(t testing.TB, text string, c engine.Config) *engine.Session {
	t.Helper()
	pty := enginetest.New()
	e := enginetest.Engine(pty)
	s, err := e.Spawn(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	pty.Print(text)
	pty.End(0)
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil {
			t.Log(err) // the context of a test that is over
		}
	})
	for {
		changed := s.Changed()
		if s.View().Exit != nil {
			return s
		}
		<-changed
	}
}

// TestNothingOfASecretIsShown, in whatever way a view is read; with no redactor all is.
func TestNothingOfASecretIsShown(t *testing.T) {
	s := session(t, "\x1b]2;title "+secret+"\a"+strings.Repeat("line with token="+secret+" in it\r\n", 60)+"the end", 0)
	all := func(v *View) map[string]string {
		lines := v.Lines()
		found, total := lines.Search(regexp.MustCompile("ghp_|end"), 100)
		text := strings.Join(lines.Read(0, lines.Len()), "\n")
		for _, f := range found {
			text += f.Text
		}
		if total < 1 || lines.Len() < 61 {
			t.Errorf("%d lines, %d found", lines.Len(), total)
		}
		since, _ := v.OutputSince(100)
		m := v.Match(&engine.Match{Kind: "screen_regex", Pattern: "(ghp_.*)", Capture: secret[:12], Parts: []*engine.Match{{Kind: "contains_text", Text: secret}}})
		return map[string]string{
			"screen": v.Screen().Text(), "lines": text, "output": v.Output(math.MaxInt), "tail": v.Tail(TailChars), "since": since,
			"title": v.Clean(v.Raw.Screen.Title), "piece": v.Piece("it said " + secret[4:20]), "match": m.Capture + m.Parts[0].Text,
		}
	}
	for where, text := range all(New(s.View(), redact.Default)) {
		if strings.Contains(text, secret[4:16]) {
			t.Errorf("%s shows %q", where, text)
		}
	}
	for where, text := range all(New(s.View(), nil)) {
		if !strings.Contains(text, secret[4:12]) {
			t.Errorf("%s hides although nobody asked for it: %q", where, text)
		}
	}
}

// TestAnyRangeOfAPrivateKey is hidden, also where its first line has left the scrollback and its
// last is further down.
func TestAnyRangeOfAPrivateKey(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("-----BEGIN RSA PRIVATE KEY-----\r\n")
	for range 40 {
		var line [48]byte
		for i := range line {
			line[i] = byte(random.UintN(256))
		}
		text.WriteString(base64.StdEncoding.EncodeToString(line[:]) + "\r\n")
	}
	text.WriteString("-----END RSA PRIVATE KEY-----\r\n" + strings.Repeat("ordinary text\r\n", 300) + "the end")
	for _, keep := range []int{0, 340} { // all, or from within the key on
		s := session(t, text.String(), keep)
		n := New(s.View(), redact.Default).Lines()
		whole := n.Read(0, n.Len())
		for i := range n.Len() {
			if strings.ContainsAny(whole[i], "+/=") || i+1 < n.Len() && n.Read(i, i+1)[0] != whole[i] {
				t.Errorf("of %d kept, line %d is %q among all and %q by itself", keep, i, whole[i], n.Read(i, i+1)[0])
			}
		}
		if !strings.Contains(strings.Join(whole, "\n"), "ordinary text\nordinary text\nthe end") {
			t.Errorf("what follows is hidden, too: %q", whole[n.Len()-30:])
		}
	}
}

// TestAnArgumentIsASecretByTheNameBeforeIt, blanks in it and all; others are as they are.
func TestAnArgumentIsASecretByTheNameBeforeIt(t *testing.T) {
	v := New(session(t, "up", 0).View(), redact.Default)
	args := []string{"--password", "Kq7argvpass66", "--token", "Kq7tok12345", "--verbose", "file one.txt", "--password", "Kq7 two words", "", "-c", "export TOKEN=Kq7three; ls -l"}
	want := []string{"--password", "[REDACTED]", "--token", "[REDACTED]", "--verbose", "file one.txt", "--password", "[REDACTED]", "", "-c", "export TOKEN=[REDACTED]; ls -l"}
	if got := v.Args("/usr/bin/tool", args); !slices.Equal(got, want) {
		t.Errorf("arguments %q, want %q", got, want)
	}
	if got := v.Args("curl", []string{"-u", "me:Kq7curlpass", "http://host"}); !slices.Equal(got, []string{"-u", "me:[REDACTED]", "http://host"}) {
		t.Errorf("curl's arguments: %q", got)
	}
	if got := New(v.Raw, nil).Args("tool", args); !slices.Equal(got, args) {
		t.Errorf("hidden although nobody asked for it: %q", got)
	}
	many := slices.Repeat([]string{"--password", strings.Repeat("Kq7x", 1000)}, 50)
	if got := strings.Join(v.Args("tool", many), " "); strings.Contains(got, "Kq7") {
		t.Errorf("of many long arguments some is shown: %.200q", got)
	}
}

// TestOutputFromWithinAPrivateKey is hidden from any position on, and with it no other; so is one
// whose beginning has left the bound.
func TestOutputFromWithinAPrivateKey(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var key strings.Builder
	key.WriteString("-----BEGIN RSA PRIVATE KEY-----\r\n")
	for range 20 {
		var line [48]byte
		for i := range line {
			line[i] = byte(random.UintN(256))
		}
		key.WriteString(base64.StdEncoding.EncodeToString(line[:]) + "\r\n")
	}
	key.WriteString("-----END RSA PRIVATE KEY-----\r\n")
	before := strings.Repeat("ordinary text\r\n", 600) + "$ cat id_rsa\r\n"
	text := before + key.String() + "the end"
	check := func(v *View, from int) {
		got, _ := v.OutputSince(engine.Offset(from))
		if strings.ContainsAny(got, "+/=") || !strings.HasSuffix(got, "the end") {
			t.Errorf("from %d on: %q", from, got)
		}
		for run := range strings.FieldsFuncSeq(got, func(r rune) bool { return r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a' }) {
			if len(run) > len("ordinary") && strings.Contains(key.String(), run) {
				t.Errorf("from %d on %q is shown", from, run)
			}
		}
	}
	v := New(session(t, text, 0).View(), redact.Default)
	for from := len(before); from < len(before)+key.Len(); from++ {
		check(v, from)
	}
	if got, _ := v.OutputSince(engine.Offset(len(before) - 10)); !strings.HasPrefix(got, "t id_rsa\r\n") {
		t.Errorf("what stands before the key: %q", got)
	}
	kept := key.Len() - 200 + len("the end")
	cut := New(sessionOf(t, text, engine.Config{Program: "fake", TranscriptChars: kept}).View(), redact.Default)
	for from := len(text) - kept; from < len(before)+key.Len(); from++ {
		check(cut, from)
	}
}

// BenchmarkLinesOfTokens: each may go on in the next, and each is judged once.
func BenchmarkLinesOfTokens(b *testing.B) {
	s := session(b, strings.Repeat(strings.Repeat("0123456789abcdef", 4)+"\r\n", 4000), 0)
	n := New(s.View(), redact.Default).Lines()
	for b.Loop() {
		n.Read(0, n.Len())
	}
}

// TestWrappedKeyInTheScrollback: rows are judged as the lines that they were, also those above what
// is read.
func TestWrappedKeyInTheScrollback(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var text, body strings.Builder
	text.WriteString("-----BEGIN OPENSSH PRIVATE KEY-----\r\n")
	for range 30 {
		var line [48]byte
		for i := range line {
			line[i] = byte(random.UintN(256))
		}
		s := base64.StdEncoding.EncodeToString(line[:])
		body.WriteString(s)
		text.WriteString("12:00:01 app | " + s + strings.Repeat(" ", 20) + "\r\n") // wraps at 80 columns
	}
	text.WriteString("-----END OPENSSH PRIVATE KEY-----\r\n" + strings.Repeat("ordinary text\r\n", 30) + "the end")
	n := New(session(t, text.String(), 0).View(), redact.Default).Lines()
	for step := 1; step < n.Len(); step += 7 {
		for i := 0; i < n.Len(); i += step {
			for _, row := range n.Read(i, min(i+step, n.Len())) {
				for _, word := range strings.Fields(row) {
					if len(word) >= 16 && strings.Contains(body.String(), word) {
						t.Fatalf("read %d lines at a time, line %d shows %q", step, i, word)
					}
				}
			}
		}
	}
}

// TestLineWhoseHeadWasDropped: what is left of its first word is covered, on all rows.
func TestLineWhoseHeadWasDropped(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9." + strings.Repeat("eyJzdWIiOiIxMjM0NTY3ODkwIn0", 8) + ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJVadQssw5c" + strings.Repeat("Qz8Kp2", 20)
	n := New(session(t, jwt+" and more\r\n"+strings.Repeat("text\r\n", 31), 10).View(), redact.Default).Lines()
	all := strings.Join(n.Read(0, n.Len()), "\n")
	if n.Dropped() == 0 || strings.Contains(all, "Qz8Kp2Qz8") || !strings.Contains(all, "text") {
		t.Errorf("%d were dropped, and this is shown:\n%s", n.Dropped(), all)
	}
}

// TestPieceBelow: what stands right above a piece tells what is secret at its beginning, and is not
// shown itself.
func TestPieceBelow(t *testing.T) {
	v := New(session(t, "nothing", 0).View(), redact.Default)
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n", 9)
	rest := strings.Repeat("QyNTUxOQAAACDmvxq0ZkHcVXs8dQ0vYkzqMNn9H\n", 3) + "-----END OPENSSH PRIVATE KEY-----\nafter\n"
	for _, c := range []struct{ above, piece, want string }{
		{"one\ntwo\n", "three\nfour\n", "three\nfour\n"},
		{"", "three\n", "three\n"},
		{"cut off", "rest of it\nfour\n", "rest of it\nfour\n"},
	} {
		if got := v.PieceBelow(c.above, c.piece); got != c.want {
			t.Errorf("%q below %q: %q", c.piece, c.above, got)
		}
	}
	if got := v.PieceBelow("x\n"+key, rest); strings.Contains(got, "QyNTUx") || !strings.HasSuffix(got, "after\n") {
		t.Errorf("the rest of a key: %q", got)
	}
	if got := v.PieceBelow("zAbCdEf0123", "456789ghIJKL rest\n"); strings.Contains(got, "456789") || !strings.HasSuffix(got, " rest\n") {
		t.Errorf("the rest of a word whose beginning is not known: %q", got)
	}
	if got := v.PieceBelow("password: hun", "ter2xyz9\nnext\n"); strings.Contains(got, "ter2") || !strings.HasSuffix(got, "next\n") {
		t.Errorf("the rest of a password: %q", got)
	}
}

// TestPrintedHidesWhereItWasCut: of what a command wrote nothing of a secret is shown, with its
// escape sequences or without, though these stand within it, and though it begins above what is
// kept.
func TestPrintedHidesWhereItWasCut(t *testing.T) {
	const mark = "\x1b]133;"
	long := strings.Repeat("a line\r\n", engine.MaxBlockOutput/7+10)
	split := "\x1b[1m" + secret[:9] + "\x1b[2;3m" + secret[9:] + "\x1b[m"
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\r\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\r\n", 30) + "-----END OPENSSH PRIVATE KEY-----\r\n"
	for name, wrote := range map[string]string{
		"in two styles":             "x " + split + " y\r\n",
		"drawn over":                "token=" + secret + "\rtoken=............................................ y\r\n",
		"in two styles, far behind": long + split + "\r\nend",
		"cut within a key":          key + long[:len(long)-len(key)*3/4] + "end",
		"cut within a line":         "password=" + strings.Repeat("hunter2xyz9", engine.MaxBlockOutput/8) + " end",
		"a key in colour": "\x1b[32m" + strings.ReplaceAll(key, "AAAA", "\x1b[1mAAAA\x1b[m") + "\x1b[m" +
			long[:engine.MaxBlockOutput/7*8] + "end",
	} {
		t.Run(name, func(t *testing.T) {
			s := session(t, mark+"A\a$ "+mark+"B\acat\r\n"+mark+"C\a"+wrote+mark+"D;0\a", 0)
			blocks, _ := s.Blocks(0)
			if cut := len(wrote) > engine.MaxBlockOutput; blocks[0].Whole == cut {
				t.Errorf("whole %t of %d bytes", blocks[0].Whole, len(wrote))
			}
			v := New(s.View(), redact.Default)
			for _, raw := range []bool{false, true} {
				got := v.Printed(&blocks[0], raw)
				bare := strings.NewReplacer("\x1b[1m", "", "\x1b[m", "", "\x1b[2;3m", "", "\x1b[32m", "").Replace(got)
				for _, part := range []string{secret[:9], secret[9:], "c3NoLXRlc3Q", "b3BlbnNzaC1rZXk", "hunter2"} {
					if i := strings.Index(bare, part); i >= 0 {
						t.Errorf("raw %t: it shows %.80q", raw, bare[max(0, i-30):])
					}
				}
				if !strings.Contains(got, "end") && !strings.Contains(got, "y\n") {
					t.Errorf("raw %t: what is no secret is hidden, too: %.80q", raw, got)
				}
			}
			if got := New(s.View(), nil).Printed(&blocks[0], true); got != blocks[0].Raw {
				t.Error("without a redactor it is not as it is")
			}
		})
	}
}

// TestNoMarkerIsCutShort: where it has no room bullets stand for it, in lines as long as they were.
func TestNoMarkerIsCutShort(t *testing.T) {
	text := "pin password=x9 is it\r\n" + "user=me password=hunter2hunter2 db=x\r\n" + "end password=x9\r\n"
	s := session(t, text+strings.Repeat("ordinary\r\n", 30), 0)
	lines := New(s.View(), redact.Default).Lines()
	got := lines.Read(0, 3)
	want := []string{"pin password=•• is it", "user=me password=[REDACTED]     db=x", "end password=[REDACTED]"}
	if !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}
