package fleet

import (
	"bytes"
	"fmt"
	"os"
)

// stopped reports whether a process is stopped, by a signal or a debugger.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte{' '}) // the name is arbitrary
	return err == nil && found && len(state) > 0 && (state[0] == 'T' || state[0] == 't')
}
