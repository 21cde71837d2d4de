package vt

import "testing"

// TestConformanceXterm holds what xterm 379 showed under Xvfb for sequences where this terminal
// once differed.
func TestConformanceXterm(t *testing.T) {
	const source = "xterm 379, measured"
	conformance(t,
		group{name: "DECSTR", source: source, checks: []check{
			{name: "reverse wraparound, both kinds", in: "ab\r\n␛[?45h␛[!p␛[?1045h␛[!p␛[2;1H\bX", at: "2,2", screen: "ab|X"},
			{name: "45", in: "␛[?45h␛[!p␛[?45$p", reply: "␛[?45;2$y"},
			{name: "1045", in: "␛[?1045h␛[!p␛[?1045$p", reply: "␛[?1045;2$y"},
			{name: "the cursor's shape", in: "␛[5 q␛[!p␛[?12$p␛P$q q␛\\", reply: "␛[?12;2$y␛P1$r0 q␛\\"},
			{name: "not the delete key", in: "␛[?67h␛[!p␛[?67$p", reply: "␛[?67;1$y"},
			{name: "not focus reports", in: "␛[?1004h␛[!p␛[?1004$p", reply: "␛[?1004;1$y"},
		}},
		group{name: "SL and SR", source: source, before: "abcdef\r\n␛[?69h␛[3;4s", checks: []check{
			{name: "SL outside of the side margins", in: "␛[1;6H␛[1 @", at: "1,6", screen: "abcdef"},
			{name: "SR outside of the side margins", in: "␛[1;6H␛[1 A", at: "1,6", screen: "abcdef"},
			{name: "left of them", in: "␛[1;2H␛[1 @␛[1 A", at: "1,2", screen: "abcdef"},
			{name: "SL inside", in: "␛[1;3H␛[1 @", at: "1,3", screen: "abd ef"},
			{name: "SR inside", in: "␛[1;3H␛[1 A", at: "1,3", screen: "ab cef"},
		}},
		group{name: "DECLRMM", source: source, before: "␛[?69h␛[3;5s", checks: []check{
			{name: "set again, the margins stay", in: "␛[?69h␛[1;3Habcd", at: "2,4", screen: "  abc|  d"},
			{name: "reset and set, they are gone", in: "␛[?69l␛[?69h␛[1;3Habcd", at: "1,7", screen: "  abcd"},
		}},
		group{name: "SD", source: source, before: "ab", checks: []check{
			{name: "without a parameter", in: "␛[T", at: "1,3", screen: "|ab"},
			{name: "0 is mouse tracking", in: "␛[0T", at: "1,3", screen: "ab"},
			{name: "and so are more parameters", in: "␛[;T␛[1;2T␛[1;1;1;1;1T", at: "1,3", screen: "ab"},
			{name: "ECMA-48's has no such exception", in: "␛[0^", at: "1,3", screen: "|ab"},
		}},
		group{name: "a pending wrap and the alternate screen", source: source, before: "␛[1;10Hx", checks: []check{
			{name: "1049 forgets it", in: "␛[?1049hy", at: "1,10+", screen: "         y", modes: "alt"},
			{name: "and gives it back", in: "␛[?1049h␛[?1049ly", at: "2,2", screen: "         x|y"},
			{name: "47 keeps it", in: "␛[?47hy", at: "2,2", screen: "|y", modes: "alt"},
			{name: "1047 keeps it", in: "␛[?1047hy", at: "2,2", screen: "|y", modes: "alt"},
			{name: "1048 keeps it", in: "␛[?1048hy", at: "2,2", screen: "         x|y"},
		}},
		group{name: "HPB and VPB", source: source, checks: []check{
			{name: "are ignored", in: "␛[3;5H␛[j␛[k␛[2j␛[2k", at: "3,5"},
		}},
		group{name: "mode 12", source: source, checks: []check{
			{name: "at first", in: "␛[?12$p", reply: "␛[?12;2$y"},
			{name: "after DECSCUSR 0", in: "␛[0 q␛[?12$p", reply: "␛[?12;1$y"},
			{name: "after DECSCUSR 1 and 2", in: "␛[1 q␛[?12$p␛[2 q␛[?12$p", reply: "␛[?12;1$y␛[?12;2$y"},
			{name: "set and reset", in: "␛[?12h␛[?12$p␛P$q q␛\\␛[?12l␛[?12$p␛P$q q␛\\",
				reply: "␛[?12;1$y␛P1$r1 q␛\\␛[?12;2$y␛P1$r2 q␛\\"},
			{name: "after DECSTR", in: "␛[?12h␛[!p␛[?12$p", reply: "␛[?12;2$y"},
			{name: "after RIS", in: "␛[?12h␛c␛[?12$p", reply: "␛[?12;2$y"},
		}},
	)
}

// TestConformanceTextStyle: U+FE0E, where an emoji has a text style
// (emoji-variation-sequences.txt), in mode 2027.
func TestConformanceTextStyle(t *testing.T) {
	conformance(t,
		group{name: "U+FE0E", source: "kitty: text sizing protocol, on variation selectors; ghostty", before: "␛[?2027h", checks: []check{
			{name: "makes an emoji narrow", in: "⌚\ufe0ex", at: "1,3", screen: "⌚\ufe0ex"},
			{name: "in the last columns", in: "␛[1;9H⌚\ufe0ex", at: "1,10+", screen: "        ⌚\ufe0ex"},
			{name: "behind a pending wrap", in: "␛[1;9H⌚\ufe0e", at: "1,10", screen: "        ⌚\ufe0e"},
			{name: "not what has no text style", in: "🦀\ufe0ex", at: "1,4", screen: "🦀\ufe0ex"},
			{name: "not CJK", in: "日\ufe0ex", at: "1,4", screen: "日\ufe0ex"},
			{name: "not behind something else", in: "⌚\u0301\ufe0ex", at: "1,4", screen: "⌚\u0301\ufe0ex"},
			{name: "twice", in: "⌚\ufe0e\ufe0ex", at: "1,3", screen: "⌚\ufe0e\ufe0ex"},
			{name: "over what was there", in: "abcd\r⌚\ufe0e", at: "1,2", screen: "⌚\ufe0e cd"},
			{name: "leaves no style behind that the character had not", in: "␛[41m⌚\ufe0e", at: "1,2", screen: "⌚\ufe0e", style: "1,1+2 bg=idx:1"},
		}},
		group{name: "outside of mode 2027", source: "wcwidth", checks: []check{
			{name: "it changes no width", in: "⌚\ufe0ex", at: "1,4", screen: "⌚\ufe0ex"},
		}},
	)
}

// TestConformanceSyncResized: a resize ends a synchronized update, and the mode says so.
func TestConformanceSyncResized(t *testing.T) {
	term := New(6, 10, Options{})
	term.Feed([]byte("\x1b[?2026hab"))
	term.Resize(6, 12, 0, 0)
	if got, want := string(term.Feed([]byte("\x1b[?2026$p")).Reply), "\x1b[?2026;2$y"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := term.Snapshot().Lines()[0]; got != "ab" {
		t.Errorf("%q", got)
	}
}

// TestConformanceChecksumOfSides: DECRQCRA in origin mode counts columns from the left margin, as
// rows from the top one.
func TestConformanceChecksumOfSides(t *testing.T) {
	term := New(6, 10, Options{Profile: Conformance})
	term.Feed([]byte("ABCDEF\r\nGHIJKL\x1b[?69h\x1b[3;4s\x1b[2;5r\x1b[?6h"))
	for in, want := range map[string]string{
		"\x1b[1;1;1;1;1;1*y": "FFB7", // I
		"\x1b[1;1;1;1;1;2*y": "FF6D", // I and J
		"\x1b[1;1;1;1;1;9*y": "FF6D", // not behind the right margin
		"\x1b[1;1;1;2;1;2*y": "FFB6", // J
	} {
		if got := string(term.Feed([]byte(in)).Reply); got != "\x1bP1!~"+want+"\x1b\\" {
			t.Errorf("%q: %q, want %s", in, got, want)
		}
	}
}
