package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/protocol/acp"
)

func acpProxyCommand(std cli.Stdio) *cobra.Command {
	var f acpFlags
	c := &cobra.Command{
		Use:   "acp-proxy [flags] -- AGENT [ARGUMENT...]",
		Short: "Give an ACP agent terminals, whatever its editor supports",
		Long: `Run between an editor and an agent. Messages pass through unchanged, except that the agent is told
that it has terminals. ptywright runs those, hides secrets in their output, and shows them to the
editor inside the tool calls they belong to. The exit code is the agent's.`,
		Example: `  ptywright acp-proxy -- npx some-agent --acp`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return Hosted(c.Context(), std, true, f.host,
				func(ctx context.Context,
					h *Service) error {
					return acpProxy(ctx, std, f, h, args)
				})
		},
	}
	f.add(c)
	cli.FlagsFirst(c) // flags after the agent are the agent's
	return c
}

func acpProxy(ctx context.Context, std cli.Stdio, f acpFlags, h *Service, args []string) error {
	stream, err := takeStdio(std)
	if err != nil {
		return err
	}
	a, err := startAgent(args, std.Err)
	if err != nil {
		return err
	}
	end := sync.OnceFunc(func() { a.end(ctx) })
	defer context.AfterFunc(ctx, end)() // while the terminals are being ended
	err = acp.NewProxy(h.Host, f.options()).Serve(ctx,
		acp.Streams{FromEditor: stream, ToEditor: stream, FromAgent: a, ToAgent: a.in})
	end()
	switch {
	case err == nil:
		return a.code()
	case errors.Is(err, acp.ErrEditorGone), ctx.Err() != nil:
		return nil // the normal end of an editor's child
	}
	return err
}

const (
	// agentGrace is how long an agent may take to end, twice: after the end of its input or output,
	// and after SIGTERM.
	agentGrace = time.Second
	// lateOutput is twice what a pipe holds: the output left by an agent that has ended. Anything
	// beyond it is another process's.
	lateOutput = 128 << 10
	// lateRead is how long the pipe must be empty before that output counts as complete.
	lateRead = 10 * time.Millisecond
)

// An agentProcess is the agent that the proxy starts and talks to.
type agentProcess struct {
	in, out *os.File
	cmd     *exec.Cmd
	exited  chan struct{}
	late    int // bytes read since it ended
}

// startAgent starts the agent in its own process group, with pipes.
func startAgent(args []string, stderr io.Writer) (*agentProcess, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer inR.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		inW.Close()
		return nil, err
	}
	defer outW.Close()
	a := &agentProcess{in: inW, out: outR, cmd: exec.Command(args[0], args[1:]...),
		exited: make(chan struct{})}
	a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = inR, outW, stderr
	a.cmd.SysProcAttr = ownGroup()
	a.cmd.WaitDelay = agentGrace // in case a descendant holds standard error
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // our death's signal comes when this thread ends
		defer runtime.UnlockOSThread()
		err := a.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = a.cmd.Wait() // ProcessState has the result
		close(a.exited)
		outR.SetReadDeadline(time.Now()) // wakes Read
	}()
	if err := <-started; err != nil {
		inW.Close()
		outR.Close()
		return nil, agentNotStarted(err)
	}
	return a, nil
}

// agentNotStarted gives the error the exit code that shells use.
func agentNotStarted(err error) error {
	code := cli.ExitNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = cli.ExitNotFound
	}
	return cli.Error{Err: fmt.Errorf("start the agent: %w", err), Code: code}
}

// Read reads the agent's output. It ends with the output, or with the agent if a process that it
// left behind holds the output open.
func (a *agentProcess) Read(b []byte) (int, error) {
	for tried := false; ; tried = true {
		n, err := a.out.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			select {
			case <-a.exited:
				a.late += n
			default:
			}
			return n, err
		}
		if tried || a.late >= lateOutput {
			return 0, io.EOF
		}
		a.out.SetReadDeadline(time.Now().Add(lateRead))
	}
}

// end ends the agent and its process group, and returns when the agent has ended.
func (a *agentProcess) end(ctx context.Context) {
	a.in.Close()
	for _, kill := range []bool{false, true} {
		if kill || ctx.Err() == nil {
			select {
			case <-a.exited:
			case <-time.After(agentGrace):
			}
		}
		endGroup(a.cmd.Process, kill)
	}
	<-a.exited
	a.out.Close()
}

// code is the agent's exit code as our own.
func (a *agentProcess) code() error {
	if code := codeOfState(a.cmd.ProcessState); code != 0 {
		return cli.ExitCode(code)
	}
	return nil
}
