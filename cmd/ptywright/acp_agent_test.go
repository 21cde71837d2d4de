package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// asAgent, as the first argument, makes this test binary a scripted agent of the Agent Client
// Protocol.
const asAgent = "be-an-acp-agent"

// scriptedAgent does what a prompt says, with the SDK that agents are written with: "run SCRIPT"
// runs a script in a terminal that it embeds in a tool call, reads its output, and ends the turn;
// "start SCRIPT" leaves it running; "die" exits with 9.
func scriptedAgent() {
	a := &scripted{}
	in, begin := gated(os.Stdin)
	a.peer = sdk.NewAgentSideConnection(a, os.Stdout, in)
	a.peer.SetLogger(slog.New(slog.DiscardHandler))
	begin()
	<-a.peer.Done()
}

// gated returns what r has once begin is called: the SDK reads from a connection that is not made
// yet, and would race with itself.
func gated(r io.Reader) (in io.Reader, begin func()) {
	in, w := io.Pipe()
	return in, func() {
		go func() {
			_, err := io.Copy(w, r)
			w.CloseWithError(err)
		}()
	}
}

type scripted struct {
	peer      *sdk.AgentSideConnection
	terminals bool
	calls     int
}

func (a *scripted) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	a.terminals = p.ClientCapabilities.Terminal
	return sdk.InitializeResponse{ProtocolVersion: p.ProtocolVersion}, nil
}

func (a *scripted) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "S1"}, nil
}

func (a *scripted) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	verb, script, _ := strings.Cut(p.Prompt[0].Text.Text, " ")
	if verb == "die" {
		os.Exit(9)
	}
	if !a.terminals {
		return sdk.PromptResponse{}, fmt.Errorf("the client has no terminals")
	}
	answer, err := a.run(ctx, p.SessionId, verb == "run", script)
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	err = a.peer.SessionUpdate(ctx, sdk.SessionNotification{SessionId: p.SessionId, Update: sdk.UpdateAgentMessageText(answer)})
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, err
}

func (a *scripted) run(ctx context.Context, session sdk.SessionId, whole bool, script string) (string, error) {
	t, err := a.peer.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: session, Command: "sh", Args: []string{"-c", script}})
	if err != nil {
		return "", err
	}
	a.calls++
	call := sdk.ToolCallId(fmt.Sprintf("call%d", a.calls))
	err = a.peer.SessionUpdate(ctx, sdk.SessionNotification{SessionId: session, Update: sdk.StartToolCall(call, "Run",
		sdk.WithStartContent([]sdk.ToolCallContent{sdk.ToolTerminalRef(t.TerminalId)}))})
	if err != nil || !whole {
		return "started", err
	}
	exit, err := a.peer.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: session, TerminalId: t.TerminalId})
	if err != nil {
		return "", err
	}
	if _, err := a.peer.KillTerminal(ctx, sdk.KillTerminalRequest{SessionId: session, TerminalId: t.TerminalId}); err != nil {
		return "", err
	}
	out, err := a.peer.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: session, TerminalId: t.TerminalId})
	if err != nil {
		return "", err
	}
	if _, err := a.peer.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: session, TerminalId: t.TerminalId}); err != nil {
		return "", err
	}
	err = a.peer.SessionUpdate(ctx, sdk.SessionNotification{SessionId: session, Update: sdk.UpdateToolCall(call, sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted))})
	code := -1
	if exit.ExitCode != nil {
		code = *exit.ExitCode
	}
	return fmt.Sprintf("exit %d, output %q", code, out.Output), err
}

func (a *scripted) Authenticate(context.Context, sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, nil
}
func (a *scripted) Cancel(context.Context, sdk.CancelNotification) error { return nil }
func (a *scripted) CloseSession(context.Context, sdk.CloseSessionRequest) (r sdk.CloseSessionResponse, err error) {
	return r, nil
}
func (a *scripted) ListSessions(context.Context, sdk.ListSessionsRequest) (r sdk.ListSessionsResponse, err error) {
	return r, nil
}
func (a *scripted) ResumeSession(context.Context, sdk.ResumeSessionRequest) (r sdk.ResumeSessionResponse, err error) {
	return r, nil
}
func (a *scripted) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (r sdk.SetSessionConfigOptionResponse, err error) {
	return r, nil
}
func (a *scripted) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (r sdk.SetSessionModeResponse, err error) {
	return r, nil
}

// An editorPeer is an editor, with the same SDK, that can do nothing but listen.
type editorPeer struct {
	*sdk.ClientSideConnection
	updates chan sdk.SessionNotification
}

func newEditorPeer(in io.Writer, out io.Reader) *editorPeer {
	e := &editorPeer{updates: make(chan sdk.SessionNotification, 1024)}
	gate, begin := gated(out)
	e.ClientSideConnection = sdk.NewClientSideConnection(e, in, gate)
	e.SetLogger(slog.New(slog.DiscardHandler))
	begin()
	return e
}

func (e *editorPeer) SessionUpdate(_ context.Context, p sdk.SessionNotification) error {
	e.updates <- p
	return nil
}

var errNotMine = fmt.Errorf("the editor was asked for what it said it cannot do")

func (e *editorPeer) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (r sdk.ReadTextFileResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (r sdk.WriteTextFileResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) RequestPermission(context.Context, sdk.RequestPermissionRequest) (r sdk.RequestPermissionResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (r sdk.CreateTerminalResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) KillTerminal(context.Context, sdk.KillTerminalRequest) (r sdk.KillTerminalResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (r sdk.TerminalOutputResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (r sdk.ReleaseTerminalResponse, err error) {
	return r, errNotMine
}
func (e *editorPeer) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (r sdk.WaitForTerminalExitResponse, err error) {
	return r, errNotMine
}
