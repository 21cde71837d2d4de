package instance

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// handle keeps the pid from being reused.
type handle struct{ process windows.Handle }

// hold returns a handle on the process that has the pid.
func hold(pid int) (handle, error) {
	const access = windows.PROCESS_TERMINATE | windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE
	h, err := windows.OpenProcess(access, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return handle{}, ErrGone
	}
	return handle{h}, os.NewSyscallError("OpenProcess", err)
}

// signal ends the process: nothing gentler exists without sharing a console.
func (h handle) signal(bool) error {
	return os.NewSyscallError("TerminateProcess", windows.TerminateProcess(h.process, 1))
}

// goOn does nothing: the process was already ended.
func (h handle) goOn() error { return nil }

// wait returns when the process has ended, or with ctx's error. It holds a thread.
func (h handle) wait(ctx context.Context) error {
	wake, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return os.NewSyscallError("CreateEvent", err)
	}
	defer windows.CloseHandle(wake)
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		windows.SetEvent(wake)
	})
	defer func() {
		if !stop() {
			<-woken
		}
	}()
	event, err := windows.WaitForMultipleObjects([]windows.Handle{h.process, wake}, false,
		windows.INFINITE)
	if err != nil {
		return os.NewSyscallError("WaitForMultipleObjects", err)
	}
	if event == windows.WAIT_OBJECT_0 {
		return nil
	}
	return ctx.Err()
}

func (h handle) release() { windows.CloseHandle(h.process) }
