package pty

import (
	"bytes"
	"strconv"
	"strings"
)

// Image identifies what a process is executing: it changes with every execve, also of the same
// file. It is the addresses of the program's code and stack (proc(5), fields 26 and 28 of stat),
// which the kernel randomizes. "" when the kernel does not reveal them, as for a process with
// another user's rights, when the process is gone, and during an execve: this includes a process
// that was just started, since its parent continues before the kernel is done.
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
