package engine

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
)

// FuzzParseStatus: whatever stands in the payload, what comes out is bounded plain text.
func FuzzParseStatus(f *testing.F) {
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("ä", maxMessage)))
	for _, s := range []string{
		"state=blocked:app=claude-code:kind=permission:msg=dHJ1c3QgdGhpcyBmb2xkZXI=", "state=clear", "state=idle:app=codex", "", "?", ":::", "=", "state",
		"state==:msg==", "state=a:state=", "msg=" + long + ":state=x", "state=x:msg=GzEKCf/igK4", "state=a b", "STATE=idle", "state=x:kind=é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		payload = vt.Clean([]byte(payload), 8<<10) // as the terminal does
		st, ok := parseStatus(payload)
		if st == nil {
			return
		}
		if !ok || st.State == "" || st.State == "clear" || st.Sequence != 0 {
			t.Fatalf("%q is %+v, %v", payload, st, ok)
		}
		for _, s := range []string{st.State, st.App, st.Kind} {
			if len(s) > maxToken || strings.ContainsFunc(s, func(r rune) bool {
				return r > 0x7e || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
			}) {
				t.Fatalf("%q is no token", s)
			}
		}
		if m := st.Message; len(m) > maxMessage || !utf8.ValidString(m) || strings.ContainsFunc(m, unicode.IsControl) {
			t.Fatalf("message %q", m)
		}
		again, ok := parseStatus("state=" + st.State + ":app=" + st.App + ":kind=" + st.Kind +
			":msg=" + base64.StdEncoding.EncodeToString([]byte(st.Message)))
		if !ok || *again != *st {
			t.Fatalf("%+v comes back as %+v", st, again)
		}
	})
}

// TestParseStatusCutsALongMessage at a whole character, also when the terminal has cut the payload.
func TestParseStatusCutsALongMessage(t *testing.T) {
	whole := strings.Repeat("日本", maxMessage)
	payload := "state=error:msg=" + base64.StdEncoding.EncodeToString([]byte(whole))
	for _, cut := range []int{len(payload), 8 << 10, 8<<10 - 1, 8<<10 - 2} {
		st, ok := parseStatus(payload[:cut])
		if !ok || len(st.Message) != maxMessage-maxMessage%3 || !strings.HasPrefix(whole, st.Message) {
			t.Errorf("of %d bytes: %v, %d bytes", cut, ok, len(st.Message))
		}
	}
}

// FuzzDirectory: what comes out of an OSC 7 is plain text that begins like a path.
func FuzzDirectory(f *testing.F) {
	for _, s := range []string{"", "/x", "file://h/a%20b", "file://h", "file:///C:/x", "file:///%zz", "file:///%1b%5d%ff%e2%80%ae", "kitty-shell-cwd://h/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, ok := directory(vt.Clean([]byte(uri), 8<<10))
		if ok && path != "" && path[0] != '/' && path[1] != ':' || path != vt.Clean([]byte(path), len(path)) {
			t.Fatalf("%q is %q", uri, path)
		}
	})
}

// TestDirectoryThatIsNotUTF8: a path keeps its end though a byte of it takes more room as U+FFFD.
func TestDirectoryThatIsNotUTF8(t *testing.T) {
	if path, ok := directory("file://h/tmp/%ff%fe/a%20b"); !ok || path != "/tmp/\uFFFD\uFFFD/a b" {
		t.Errorf("the directory is %q", path)
	}
}
