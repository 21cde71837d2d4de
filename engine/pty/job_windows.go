package pty

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unsafe"

	"github.com/charmbracelet/x/conpty"
	"golang.org/x/sys/windows"
)

// The stages of a kill, counted from its beginning.
const (
	killAfter = time.Second     // for programs that save their work when their console closes
	killBound = 3 * time.Second // when a kill returns a SurvivorsError
)

// spawn starts the program with the console and the job in place from its first instruction on;
// assigning the job afterwards would miss children it starts at once, which is why this is not
// conpty's Spawn.
func spawn(con *conpty.ConPty, job windows.Handle, path string, argv []string, dir string,
	env []string) (pid int, process windows.Handle, err error) {
	const jobList = 0x0002000D // PROC_THREAD_ATTRIBUTE_JOB_LIST of processthreadsapi.h
	attrs, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return 0, 0, os.NewSyscallError("InitializeProcThreadAttributeList", err)
	}
	defer attrs.Delete()
	// The attribute is the console's handle itself, not a pointer to it.
	hpc := con.Fd()
	if err := attrs.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE,
		*(*unsafe.Pointer)(unsafe.Pointer(&hpc)), unsafe.Sizeof(hpc)); err != nil {
		return 0, 0, os.NewSyscallError("UpdateProcThreadAttribute", err)
	}
	if err := attrs.Update(jobList, unsafe.Pointer(&job), unsafe.Sizeof(job)); err != nil {
		return 0, 0, os.NewSyscallError("UpdateProcThreadAttribute", err)
	}

	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(argv))
	if err != nil {
		return 0, 0, err
	}
	var cwd *uint16
	if dir != "" {
		if cwd, err = windows.UTF16PtrFromString(dir); err != nil {
			return 0, 0, err
		}
	}
	// Standard handles of our own would be inherited in place of the console's; the flag
	// with no handles prevents that.
	si := windows.StartupInfoEx{ProcThreadAttributeList: attrs.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES
	var pi windows.ProcessInformation
	err = windows.CreateProcess(name, line, nil, nil, false,
		windows.CREATE_UNICODE_ENVIRONMENT|windows.EXTENDED_STARTUPINFO_PRESENT,
		environmentBlock(env), cwd, &si.StartupInfo, &pi)
	if err != nil {
		return 0, 0, os.NewSyscallError("CreateProcess", err)
	}
	windows.CloseHandle(pi.Thread)
	return int(pi.ProcessId), pi.Process, nil
}

// environmentBlock returns env as CreateProcess wants it: NUL-terminated strings sorted by
// upper-case name, then one more NUL.
func environmentBlock(env []string) *uint16 {
	const root = "SYSTEMROOT"
	env = slices.Clone(env)
	if _, ok := variable(env, root); !ok {
		env = append(env, root+"="+os.Getenv(root))
	}
	slices.SortStableFunc(env, func(a, b string) int {
		return strings.Compare(strings.ToUpper(a), strings.ToUpper(b))
	})
	var block []uint16
	for _, kv := range env {
		block = append(block, utf16.Encode([]rune(kv))...)
		block = append(block, 0)
	}
	return &append(block, 0)[0]
}

func variable(env []string, key string) (value string, ok bool) {
	for _, kv := range env {
		if k, v, found := strings.Cut(kv, "="); found && strings.EqualFold(k, key) {
			value, ok = v, true
		}
	}
	return value, ok
}

// lookup finds the program: a path is resolved against dir, a name is looked up in the PATH of env;
// a name without an extension is tried with those of env's PATHEXT. The working directory is not
// searched.
func lookup(name, dir string, env []string) (string, error) {
	extensions := []string{""}
	if filepath.Ext(name) == "" {
		list, ok := variable(env, "PATHEXT")
		if !ok {
			list = ".COM;.EXE;.BAT;.CMD" // as cmd.exe has it
		}
		extensions = strings.Split(list, ";")
	}
	folders := []string{""}
	if !strings.ContainsAny(name, separators) {
		list, _ := variable(env, "PATH")
		folders = filepath.SplitList(list)
	}
	for _, folder := range folders {
		for _, ext := range extensions {
			path := filepath.Join(folder, name+ext)
			if !filepath.IsAbs(path) && filepath.VolumeName(path) == "" {
				path = filepath.Join(dir, path)
			}
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				// CreateProcess would look for a relative one from our directory.
				return filepath.Abs(path)
			}
		}
	}
	if list, _ := variable(env, "PATH"); !strings.ContainsAny(name, separators) {
		return "", &searchError{"not found in PATH " + searched(list), windows.ERROR_FILE_NOT_FOUND}
	}
	return "", windows.ERROR_FILE_NOT_FOUND
}

// cause strips the call and the path from an error: StartError has both.
func cause(err error) error {
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Kill ends the program and everything it has started, and returns when nothing is left: the
// console is closed, which asks its programs to end, and after a second the job is terminated. When
// ctx ends, the second is skipped. Output that has been written can still be read. The error is a
// [*SurvivorsError] when processes are left 3 s later.
func (p *PTY) Kill(ctx context.Context) error {
	began := time.Now()
	go p.closeConsole() // on systems before Windows 11 24H2 it waits for a reader
	grace, stop := context.WithTimeout(ctx, killAfter)
	defer stop()
	select {
	case <-p.done:
	case <-grace.Done():
	}
	if err := p.terminate(); err != nil {
		return err
	}
	left := p.awaitJob(began.Add(killBound))
	if len(left) > 0 {
		return &SurvivorsError{PIDs: left}
	}
	p.jobs.Lock()
	defer p.jobs.Unlock()
	if p.job != 0 {
		windows.CloseHandle(p.job)
		p.job = 0
	}
	return nil
}

// terminate ends everything in the job; a job that is gone has nothing in it.
func (p *PTY) terminate() error {
	p.jobs.Lock()
	defer p.jobs.Unlock()
	if p.job == 0 {
		return nil
	}
	return os.NewSyscallError("TerminateJobObject", windows.TerminateJobObject(p.job, 1))
}

// awaitJob waits until the job's processes have ended, and returns those that have not.
func (p *PTY) awaitJob(until time.Time) []int {
	for {
		pids := p.jobPIDs()
		if len(pids) == 0 || !time.Now().Before(until) {
			return pids
		}
		for _, pid := range pids {
			h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
			if err != nil {
				continue // it has ended
			}
			wait := max(time.Until(until).Milliseconds(), 1)
			windows.WaitForSingleObject(h, uint32(wait))
			windows.CloseHandle(h)
		}
	}
}

// jobPIDs returns some of the processes in the job, and all when they are fewer than 64: the rest
// are listed once these are gone.
func (p *PTY) jobPIDs() []int {
	p.jobs.Lock()
	defer p.jobs.Unlock()
	if p.job == 0 {
		return nil
	}
	var list struct { // JOBOBJECT_BASIC_PROCESS_ID_LIST
		assigned, listed uint32
		pids             [64]uintptr
	}
	err := windows.QueryInformationJobObject(p.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	pids := make([]int, 0, len(list.pids))
	for _, pid := range list.pids[:min(int(list.listed), len(list.pids))] {
		pids = append(pids, int(pid))
	}
	slices.Sort(pids)
	return pids
}

// KillAll kills several programs like [PTY.Kill], all at the same time.
func KillAll(ctx context.Context, ps []*PTY) error {
	errs := make([]error, len(ps))
	var all sync.WaitGroup
	for i, p := range ps {
		all.Go(func() { errs[i] = p.Kill(ctx) })
	}
	all.Wait()
	var left []int
	var others []error
	for _, err := range errs {
		if survivors := (*SurvivorsError)(nil); errors.As(err, &survivors) {
			left = append(left, survivors.PIDs...)
		} else {
			others = append(others, err)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		others = append(others, &SurvivorsError{PIDs: left})
	}
	return errors.Join(others...)
}

// DefaultSignals does nothing on Windows, where no signal is inherited.
func DefaultSignals() {}

// Watcher does nothing on Windows, which does the work itself: a program's job ends with the
// process that holds it. Its methods do nothing.
type Watcher struct{}

// StartWatcher starts nothing on Windows; see [Watcher].
func StartWatcher(argv []string) (*Watcher, error) {
	if len(argv) == 0 {
		return nil, errors.New("start the watcher: no program was given")
	}
	return &Watcher{}, nil
}

// PID returns 0: there is no process.
func (*Watcher) PID() int { return 0 }

// Add does nothing; see [Watcher].
func (*Watcher) Add(*PTY) {}

// Remove does nothing; see [Watcher].
func (*Watcher) Remove(*PTY) {}

// Close does nothing and returns nil.
func (*Watcher) Close() error { return nil }

// RunWatcher reads r to its end and returns.
func RunWatcher(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}
