package unterm

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (t *typed) type_(rules *policyRules, text string) string {
	next, why := t.after(rules, text)
	if why == "" {
		t.line = next
	}
	return why
}

// TestStrictLine: however a blocked word comes to stand on a command line, it is seen, or what
// cannot be seen is refused.
func TestStrictLine(t *testing.T) {
	rules := &policyRules{Enabled: true, Strict: true, Blocked: []string{"touch"}}
	for _, writes := range [][]string{
		{"touch F\r"}, {"tou", "ch F\r"}, {"t", "o", "u", "c", "h"}, {"toux\x7fch"}, {"xx\x15touch"}, {"xx\x03touch"}, {"a b\x17touch"},
		{"tou\x04", "ch"}, {"tou", "\x04", "ch"}, {"tou\x1c", "ch"}, {"tou\x1a", "ch"}, {"tou\\\rch"}, {"tou\\\nch F\n"}, {"ls\rtouch"},
		{"tou\x01\x05ch"}, {"\x1b[A\r"}, {"\t"}, {"\x12tou"}, {"toue\u0301\x7fch"}, {"\x1b[200~touch\x1b[201~"}, {strings.Repeat("a", maxTyped+1)},
		{"to'x\x17uch"},
	} {
		line, why := typed{}, ""
		for _, w := range writes {
			if why = line.type_(rules, w); why != "" {
				break
			}
		}
		if why == "" {
			t.Errorf("%q passes", writes)
		}
	}
	for _, writes := range [][]string{{"ls\r"}, {"tou\x03", "ch\r"}, {"tou\x15", "ch\r"}, {"touc\x7fx\r"}, {"tou", "\r", "ch\r"}, {"echo tou ch\r"}} {
		line := typed{}
		for _, w := range writes {
			if why := line.type_(rules, w); why != "" {
				t.Errorf("%q: %s", writes, why)
			}
		}
	}
	var before typed // of the time before the policy
	before.type_(nil, "tou\t")
	if why := before.type_(rules, "x\r"); why != unseenLine {
		t.Errorf("what was not seen: %q", why)
	}
	before.type_(rules, "\x03")
	if why := before.type_(rules, "ls\r"); why != "" {
		t.Errorf("a line that was cleared: %q", why)
	}
	before.type_(nil, "tou")
	if why := before.type_(rules, "ch"); why != "touch" {
		t.Errorf("what was typed before: %q", why)
	}
	allowed := &policyRules{Enabled: true, Strict: true, Allowed: []string{"make"}}
	for text, want := range map[string]string{"\r": "", "make all\r": "", "ls\r": notAllowed, "ma": "", "ls\x04": notAllowed} {
		if why := new(typed).type_(allowed, text); why != want {
			t.Errorf("%q: %q", text, why)
		}
	}
}

// TestStrictLineHolds: of keys whose effect is known, in any writes, none makes a blocked word with
// Enter behind it.
func TestStrictLineHolds(t *testing.T) {
	rules := &policyRules{Enabled: true, Strict: true, Blocked: []string{"ab"}}
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.SampledFrom([]byte("ab \r\n\x7f\x15\x03\x17\x04\\"))).Draw(t, "keys")
		var line typed
		var shell []byte // a line editor of our own
		for len(keys) > 0 {
			n := rapid.IntRange(1, len(keys)).Draw(t, "write")
			if line.type_(rules, string(keys[:n])) != "" {
				return
			}
			for _, c := range keys[:n] {
				switch c {
				case '\r', '\n':
					if strings.HasSuffix(string(shell), "\\") {
						shell = shell[:len(shell)-1]
						continue
					}
					if strings.Contains(string(shell), "ab") {
						t.Fatalf("the shell runs %q", shell)
					}
					shell = nil
				case 0x15, 0x03:
					shell = nil
				case 0x7f:
					shell = shell[:max(0, len(shell)-1)]
				case 0x17:
					shell = shell[:strings.LastIndexByte(strings.TrimRight(string(shell), " "), ' ')+1]
				case 0x04:
				default:
					shell = append(shell, c)
				}
			}
			keys = keys[n:]
		}
	})
}

// TestCommandsAreJudgedByLines, and not at all when a shell would take something in them for a key.
func TestCommandsAreJudgedByLines(t *testing.T) {
	r := policyRules{Enabled: true, Allowed: []string{"echo"}}
	for command, want := range map[string]string{
		"echo a": "", "touch F\recho": notAllowed, "echo a\ntouch F": notAllowed, "echo a\n\necho b": "", "to\x01\x05uch": unjudged, "echo\ta": "", "echo \x7f": unjudged,
	} {
		if why := r.judgeCommand(command); why != want {
			t.Errorf("%q: %q", command, why)
		}
	}
}
