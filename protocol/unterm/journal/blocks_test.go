package journal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"nothing":                            {"", ""},
		"no marks":                           {"one\ntwo\n", "[] one\ntwo"},
		"a command":                          {"A:\n$ \nB:\nls -l\nC:\na\nb\nD:2\nA:\n$ \nB:\n", "[ls -l] a\nb 2"},
		"as it was told":                     {"A:\nB:\nl\bls \rgarbled\nC:ls -l\na\nD:0", "[ls -l] a 0"},
		"empty ones":                         {"A:\n$ \nB:\n\nD:0\nA:\nB:\n\nC:\n  \nD:0\nA:\n", ""},
		"a greeting":                         {"hi\nD:0\nA:\nB:\nls\nC:\nD:0", "[] hi|[ls]  0"},
		"given up":                           {"A:\nB:\nls\nC:\nD:0\nA:\nB:\nsleep ^C\nA:\nB:\n", "[ls]  0"},
		"a prompt drawn anew":                {"A:\nB:\nC:true\nD:0\nA:\nB:\nhal\nA:\nB:\nhalf\nC:\nD:0", "[true]  0|[half]  0"},
		"prompts only":                       {"A:\n$ \nB:\nls\na\nb\nA:\n$ \nB:\npwd\n/\nA:\n$ \nB:\nhalf", "[ls] a\nb|[pwd] /"},
		"prompts and ends":                   {"A:\nB:\nls\na\nD:3\nA:\nB:\n", "[ls] a 3"},
		"commands and ends":                  {"$ ls\nC:ls\na\nD:0\n$ pwd\nC:pwd\n/\nD:0\n$ ", "[] $ ls|[ls] a 0|[pwd] / 0"},
		"the same mark in both forms":        {"A:\nB:\nls\nC:\nC:ls\na\nD:0\nD:0", "[ls] a 0"},
		"no end":                             {"A:\nB:\nls\nC:\na\nA:\nB:\npwd\nC:\n/", "[ls] a|[pwd] /"},
		"what hooks print":                   {"A:\nB:\nls\nC:\nD:0\nfrom a hook\nD:0\nA:\nB:\n", "[ls]  0|[] from a hook"},
		"from behind, while a line is typed": {"A:\nB:\nC:true\nD:0\nA:\nB:\nl\n[1] done\nA:\nB:\nls\nC:\nD:0", "[true]  0|[] [1] done|[ls]  0"},
		"no number":                          {"C:x\nD:-1\nC:x\nD:99999999999\nC:x\nD:\nE:\n", "[x] |[x] |[x] "},
		"several lines":                      {"A:\nB:\nfor i\nC:for i\nx\nD:0", "[for i] x 0"},
	} {
		var got []string
		r := &reader{done: func(b block) {
			text := fmt.Sprintf("[%s] %s", b.command, b.output)
			if b.status != "" {
				text += " " + b.status
			}
			got = append(got, text)
		}}
		must(t, readLog(bytes.NewReader(logOf(c.log)), r.take))
		r.close()
		if all := strings.Join(got, "|"); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}
