package terminalmcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestKeyTable holds the table against the bytes as they are published, in hexadecimal.
func TestKeyTable(t *testing.T) {
	want := map[string]string{
		"Enter": "0d", "Tab": "09", "Escape": "1b", "Backspace": "7f", "Delete": "1b5b337e", "Insert": "1b5b327e",
		"ArrowUp": "1b5b41", "ArrowDown": "1b5b42", "ArrowRight": "1b5b43", "ArrowLeft": "1b5b44", "Home": "1b5b48", "End": "1b5b46",
		"PageUp": "1b5b357e", "PageDown": "1b5b367e", "F1": "1b4f50", "F2": "1b4f51", "F3": "1b4f52", "F4": "1b4f53",
		"F5": "1b5b31357e", "F6": "1b5b31377e", "F7": "1b5b31387e", "F8": "1b5b31397e", "F9": "1b5b32307e", "F10": "1b5b32317e",
		"F11": "1b5b32337e", "F12": "1b5b32347e", "Ctrl+[": "1b", `Ctrl+\`: "1c", "Ctrl+]": "1d", "Ctrl+^": "1e", "Ctrl+_": "1f", "Ctrl+Space": "00",
	}
	for i := range 26 {
		want["Ctrl+"+string(rune('A'+i))] = fmt.Sprintf("%02x", i+1)
	}
	if len(want) != len(keyNames) {
		t.Errorf("%d keys, want %d", len(keyNames), len(want))
	}
	for name, b := range want {
		for _, as := range []string{name, strings.ToLower(name), strings.ToUpper(name), " " + name + "\t\n", "\ufeff" + name + "\u3000"} {
			got, err := encodeKey(as)
			if fmt.Sprintf("%x", got) != b || err != nil {
				t.Errorf("%q is %x, %v; want %s", as, got, err, b)
			}
		}
	}
}

func TestUnknownKey(t *testing.T) {
	const list = "Enter, Tab, Escape, Backspace, Delete, ArrowUp, ArrowDown, ArrowRight, ArrowLeft, Home, End, PageUp, PageDown, Insert, F1..."
	for _, name := range []string{"Nope", "", " ", "Shift+Tab", "Alt+x", "Space", "Ctrl+1", "Ctrl+", "F13", `Ctrl+\\`, "Ctrl + C", "Enter Enter", "\x00", "Ctrl+İ"} {
		_, err := encodeKey(name)
		var unknown *keyError
		if !errors.As(err, &unknown) || err.Error() != `Unknown key: "`+name+`". Available keys include: `+list {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzKey: any name is a key of the table or an error that quotes it.
func FuzzKey(f *testing.F) {
	for _, s := range append([]string{"", " enter ", "CTRL+c", "ctrl+]", "\u2028F12", "Ctrl+K"}, keyNames...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b, err := encodeKey(name)
		if err != nil {
			if b != "" || !strings.Contains(err.Error(), name) {
				t.Errorf("%q: %q, %v", name, b, err)
			}
			return
		}
		if n := len(b); n < 1 || n > 5 || n > 1 && b[0] != 0x1b {
			t.Errorf("%q is %q", name, b)
		}
		if again, err := encodeKey(" " + strings.ToUpper(name)); again != b || err != nil {
			t.Errorf("%q is %q in upper case, %v", name, again, err)
		}
	})
}
