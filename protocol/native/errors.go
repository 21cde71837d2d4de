package native

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// A sessionError reports an unknown session.
type sessionError struct {
	id  string
	err error
}

func (e *sessionError) Error() string { return "unknown session " + protocol.Quote(e.id, 32) }
func (e *sessionError) Unwrap() error { return e.err }

// An ownedError reports a session that an adapter drives.
type ownedError struct{ session, adapter string }

func (e *ownedError) Error() string {
	return "session " + e.session + " is driven by adapter " + e.adapter +
		": use adapter.send, or adapter.close"
}

// An overError reports a session whose program has ended, or is ending.
type overError struct {
	session engine.ID
	exit    *engine.Exit // nil: it is still ending
	err     error
}

// over adds to the error of an ended session how it ended and what can still be done with it;
// others are returned unchanged.
func over(s *engine.Session, err error) error {
	for _, is := range []error{engine.ErrEnded, engine.ErrClosed, pty.ErrExited, pty.ErrHungUp} {
		if errors.Is(err, is) {
			return &overError{s.ID(), s.View().Exit, err}
		}
	}
	return err
}

func (e *overError) Error() string {
	how := "was told to end"
	switch {
	case e.exit == nil:
	case e.exit.Killed:
		how = "was killed"
	case e.exit.Signal != "":
		how = "was ended by " + e.exit.Signal
	case e.exit.Code >= 0:
		how = "has ended with exit code " + strconv.Itoa(e.exit.Code)
	default:
		how = "has ended"
	}
	if e.exit != nil && e.exit.Limit != "" {
		how += ", over its limit " + string(e.exit.Limit) + ","
	}
	return fmt.Sprintf("the program of session %s %s and takes nothing any more: what it left can be read until the session is closed", e.session, how)
}

func (e *overError) Unwrap() error { return e.err }

// A waitError is a wait that did not match, with its evidence.
type waitError struct {
	err      error
	evidence *evidence
}

func (e *waitError) Error() string { return e.err.Error() }
func (e *waitError) Unwrap() error { return e.err }

// reasons map errors that are values to data.reason. The first match counts.
var reasons = []struct {
	err    error
	reason string
}{
	{engine.ErrTimeout, "timeout"},
	{engine.ErrClosed, "session_closed"},
	{engine.ErrEnded, "session_ended"},
	{pty.ErrExited, "session_ended"},
	{pty.ErrHungUp, "session_ended"},
	{protocol.ErrCancelled, "cancelled"},
	{engine.ErrNoSession, "unknown_session"},
	{engine.ErrEngineClosed, "shutting_down"},
	{engine.ErrInputFull, "input_full"},
	{engine.ErrNoMouse, "mouse_not_requested"},
	{engine.ErrNoKey, "key_not_requested"},
	{engine.ErrTooManyMarks, "too_many_marks"},
	{errNotRun, "command_not_run"},
	{cmdline.ErrNUL, "invalid_params"},
	{plugins.ErrNoPlugin, "unknown_plugin"},
	{plugins.ErrNoAdapter, "unknown_adapter"},
	{plugins.ErrNoPredicate, "unknown_predicate"},
	{plugins.ErrTaken, "plugin_exists"},
	{plugins.ErrBuiltin, "plugin_built_in"},
	{plugins.ErrInUse, "plugin_in_use"},
	{plugins.ErrNoCode, "plugin_without_code"},
	{plugins.ErrNoProgram, "no_program"},
	{plugins.ErrParams, "invalid_params"},
	{plugins.ErrTurn, "turn_in_progress"},
	{errNoRecording, "unknown_recording"},
	{picture.ErrFormat, "invalid_params"},
	{picture.ErrTooLarge, "reply_too_large"},
	{errNoLoading, "server_did_not_grant_plugin_load"},
	{syscall.EMFILE, "limit_exceeded"},
	{syscall.ENFILE, "limit_exceeded"},
	{syscall.EAGAIN, "limit_exceeded"},
}

// Error maps any error of a request to what goes on the wire. No other function writes a code.
func (c *client) Error(err error) *protocol.Error {
	var leased *engine.LeasedError
	if errors.As(err, &leased) { // made for this request
		leased.Holder = c.holder(leased.Session, leased.Holder)
	}
	e := wireError(err)
	var unknown *protocol.MethodError
	if errors.As(err, &unknown) {
		if near := nearestMethod(unknown.Name); near != "" {
			e.Message += ": did you mean " + near + "?"
		}
	}
	if errors.Is(err, plugins.ErrNoPlugin) {
		e.Message += c.loaded()
	}
	e.Message = c.hide.String(e.Message)
	if data, ok := e.Data.(map[string]any); ok {
		for name, v := range data {
			if text, ok := v.(string); ok {
				data[name] = c.hide.String(text)
			}
		}
	}
	return e
}

// loaded lists the loaded plugins, and says how to load more.
func (c *client) loaded() string {
	var names []string
	for _, p := range c.Catalog.Plugins() {
		names = append(names, p.Manifest.Name)
	}
	const most = 20 // a longer list does not help
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return ": this server has " + strings.Join(names, ", ") +
		"; it loads others when it is started, with --plugin FOLDER/manifest.toml or PTYWRIGHT_PLUGINS"
}

func wireError(err error) *protocol.Error {
	if e := protocol.Standard(err); e != nil {
		return e
	}
	e := &protocol.Error{Reason: "internal_error", Message: err.Error()}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			e.Reason = r.reason
			break
		}
	}
	var (
		wait    *waitError
		param   *paramError
		parse   *matchers.ParseError
		size    *engine.SizeError
		place   *engine.PositionError
		env     *engine.EnvError
		many    *redact.EnvLimitError
		shell   *engine.ShellError
		limit   *engine.LimitError
		file    *engine.FileError
		blocked *engine.InputBlockedError
		line    *engine.LineTooLongError
		leased  *engine.LeasedError
		start   *pty.StartError
		alive   *pty.SurvivorsError
		large   tooLargeError
		denied  *deniedError
		allowed *plugins.PermissionError
		owned   *ownedError
		gone    *engine.ForgottenError
		memory  *pty.MemoryLimitError
		intent  *intentError
		name    *engine.NameError
		taken   *engine.NameTakenError
		typing  *engine.TypingError
		part    *engine.PartError
		expect  *plugins.ExpectError
		plugin  *plugins.PluginError
		toml    *plugins.ManifestError
		load    *plugins.LoadError
		typed   *runError
		busy    *cmdline.BusyError
		stands  *cmdline.OccupiedError
		prompt  *cmdline.PromptError
		noShell *cmdline.NoShellError
		reading *readOnlyError
		aim     *targetError
		told    *toldError
		target  *engine.TargetError
		not     *locate.NotOneError
	)
	_ = errors.As(err, &wait)
	switch {
	case errors.As(err, &allowed):
		e.Reason = "permission_denied"
		data := map[string]any{"required_permission": string(allowed.Permission),
			"plugin": allowed.Plugin}
		if allowed.Action != "" {
			data["action"] = allowed.Action
		}
		if errors.As(err, &denied) {
			data["method"] = denied.method
		}
		e.Data = data
	case errors.As(err, &denied):
		e.Data = map[string]any{"method": denied.method}
	case errors.As(err, &plugin):
		pluginError(e, plugin)
	case errors.As(err, &aim):
		e.Reason, e.Data = aim.reason(), aim.data()
	case errors.As(err, &target) && target.OffScreen: // of a plugin, whose locator may be secret
		e.Reason, e.Data = "off_screen", map[string]any{"line": target.Line}
	case errors.As(err, &target) && errors.As(target.Err, &not):
		e.Reason = map[bool]string{true: "not_found", false: "ambiguous"}[not.Count == 0]
	case errors.Is(err, locate.ErrTooMuch):
		e.Reason = "limit_exceeded"
	case errors.As(err, &expect):
		e.Reason = "expectation_failed"
	case errors.As(err, &gone):
		e.Reason = "session_forgotten"
		e.Data = map[string]any{"exit": exitOf(&gone.Exit), "forgotten": gone.At.UTC()}
	case errors.As(err, &memory):
		e.Reason = "memory_limit_unsupported"
	case errors.As(err, &owned):
		e.Reason = "owned_by_adapter"
		e.Data = map[string]any{"adapter": owned.adapter}
	case errors.As(err, &toml):
		e.Reason = "invalid_manifest"
		e.Data = map[string]any{"key": redact.Default.String(toml.Key), "line": toml.Line}
	case errors.As(err, &load):
		e.Reason = "file_refused"
	case wait != nil:
		e.Data = wait.evidence
	case errors.As(err, &typed):
		e.Data = typed.data()
	case errors.As(err, &reading):
		e.Reason = "read_only"
	case errors.As(err, &busy), errors.As(err, &stands), errors.As(err, &prompt):
		e.Reason = "not_at_prompt"
	case errors.As(err, &noShell):
		e.Reason = "no_shell"
	case errors.As(err, &param):
		e.Reason = param.reason
	case errors.As(err, &parse):
		e.Reason, e.Message = "invalid_matcher", "params."+parse.Error()
	case errors.As(err, &name):
		e.Reason = "invalid_params"
	case errors.As(err, &taken):
		e.Reason = "name_taken"
		e.Data = map[string]any{"name": taken.Name, "session": string(taken.Session)}
	case errors.As(err, &typing):
		e.Reason = "invalid_action"
	case errors.As(err, &size):
		e.Reason = "size_out_of_range"
	case errors.As(err, &place):
		e.Reason = "position_out_of_range"
	case errors.As(err, &env):
		e.Reason = "invalid_environment"
	case errors.As(err, &many):
		e.Reason = "too_many_secrets"
		e.Data = map[string]any{"count": many.Count, "limit": many.Limit}
	case errors.As(err, &shell):
		e.Reason = "shell_integration_unsupported"
	case errors.As(err, &limit):
		e.Reason = "limit_exceeded"
		e.Data = map[string]any{"what": limit.What, "limit": limit.Limit}
	case errors.As(err, &file):
		e.Reason = "file_refused"
	case errors.As(err, &blocked):
		e.Reason = "input_blocked"
		e.Data = map[string]any{"written": blocked.Written, "length": blocked.Length}
	case errors.As(err, &line):
		e.Reason = "line_too_long"
		e.Data = map[string]any{"length": line.Length, "limit": line.Limit}
	case errors.As(err, &leased):
		e.Reason = "session_leased"
		e.Data = map[string]any{"holder": leased.Holder, "since": leased.Since.UTC()}
	case errors.As(err, &start) && e.Reason != "limit_exceeded":
		e.Reason = "cannot_start"
		e.Data = map[string]any{"operation": start.Op}
	case momentError(e, err):
	case errors.As(err, &large):
		e.Reason = "reply_too_large"
	case errors.As(err, &alive):
		e.Reason = "unkillable"
		e.Data = map[string]any{"pids": alive.PIDs}
	}
	if errors.As(err, &plugin) && wait != nil { // it may quote the screen
		pluginsWords(e, wait.evidence.look)
	}
	if errors.As(err, &told) {
		pluginsWords(e, told.look)
	}
	if errors.As(err, &part) && wait == nil {
		partData(e, part)
	}
	if errors.As(err, &intent) {
		intentData(e, intent, expect)
	}
	e.Code = faults()[e.Reason].code
	return e
}

// partData adds how far typing got that ended early: written counts all of it.
func partData(e *protocol.Error, part *engine.PartError) {
	data, ok := e.Data.(map[string]any)
	if !ok {
		data = map[string]any{}
		e.Data = data
	}
	data["written"], data["done"] = part.Written, part.Done
}

// pluginError maps a fault, or a refusal, of a plugin.
func pluginError(e *protocol.Error, p *plugins.PluginError) {
	e.Reason = "plugin_failed"
	switch {
	case p.Kind == "missing": // its name is input
		e.Reason = "unknown_intent"
		e.Message = "plugin " + p.Plugin + ": " + protocol.Quote(p.Function, 32) + ": " + p.Message
		e.Data = map[string]any{"plugin": p.Plugin}
		return
	case p.Code != "":
		e.Reason, e.Message = "intent_refused", p.Message
	}
	data := map[string]any{"plugin": p.Plugin, "function": p.Function, "kind": p.Kind}
	if p.Code != "" {
		data["code"] = p.Code
	}
	if p.Module != "" {
		data["module"], data["line"] = p.Module, p.Line
	}
	e.Data = data
}

// nearestMethod returns the method whose name, with or without its family, is nearest to an unknown
// one; "" when none is near.
func nearestMethod(name string) string {
	var words []string
	of := map[string]string{}
	for _, r := range table {
		_, short, _ := strings.Cut(r.name, ".")
		for _, w := range [...]string{r.name, short} {
			if of[w] == "" { // prefer session.wait to adapter.wait
				of[w] = r.name
				words = append(words, w)
			}
		}
	}
	return of[nearest.Of(name, words)]
}
