package pty

import "syscall"

// A memoryGroup exists only on Linux: here no program has one.
type memoryGroup struct{}

func newMemoryGroup() (*memoryGroup, error) {
	return nil, &MemoryLimitError{Why: "this system has no cgroup v2"}
}

func (*memoryGroup) join(*syscall.SysProcAttr) {}
func (*memoryGroup) limit(int64) error         { return nil }
func (*memoryGroup) kill()                     {}
func (*memoryGroup) populated() bool           { return false }
func (*memoryGroup) remove()                   {}
