package pty

import (
	"bytes"
	"strconv"
	"strings"
)

// Image names what a process executes, for as long as it does: another after every execve, also of the same file. It is where the
// kernel has put the program's code and stack (proc(5), fields 26 and 28 of stat), which is at random. "" when that is not told,
// as of what runs with another user's rights, or is no more, and while an execve is under way: of a process that was just started
// it may still be, since who started it is told before the kernel is through.
func Image(pid int) string {
	stat, err := readFile("/proc/"+strconv.Itoa(pid)+"/stat", nil)
	if err != nil {
		return ""
	}
	const state, code, stack = 3, 26, 28
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the state on
	if len(f) <= stack-state || f[stack-state] == "0" || f[code-state] == "0" {
		return ""
	}
	return f[code-state] + " " + f[stack-state]
}
