package native

import (
	"reflect"
	"sync"
	"time"

	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
)

// Codes of this dialect besides those of JSON-RPC 2.0.
const (
	codeTimeout       = -32001                 // a wait timed out
	codeSessionClosed = -32002                 // the session's program has ended, or the session was killed or closed
	codeDenied        = protocol.CodeForbidden // the plugin's manifest, or a flag of the server, does not allow it
	codeCancelled     = -32005                 // the request was cancelled
	codeHost          = -32006                 // another machine cannot be reached, or was lost on the way
)

// A fault is what a value of data.reason means: its code, and what data has beside the reason.
type fault struct {
	code  int
	about string
	data  reflect.Type
}

// A progress is how far input got that ended early. Whatever ends it may have it.
type progress struct {
	Written int              `json:"written,omitzero" jsonschema:"bytes that the terminal has taken"`
	Done    int              `json:"done,omitzero" jsonschema:"actions that were performed"`
	Receipt *plugins.Receipt `json:"receipt,omitempty" jsonschema:"of an intent"`
}

// A waitData is the evidence of a wait or a command line that ended early: matcher stands with
// that of a wait, output with that of session.run.
type waitData struct {
	progress
	ElapsedMS      *uint64      `json:"elapsed_ms,omitempty"`
	QuietMS        *uint64      `json:"quiet_ms,omitempty" jsonschema:"for how long the screen had not changed"`
	Sequence       *uint64      `json:"sequence,omitempty"`
	Missed         bool         `json:"missed,omitempty" jsonschema:"lines that scrolled off the screen were lost before they could be looked at; with latched also: the matcher could not be asked about all that was shown"`
	Snapshot       *look        `json:"snapshot,omitempty"`
	TranscriptTail *string      `json:"transcript_tail,omitempty"`
	Matcher        *explanation `json:"matcher,omitempty" jsonschema:"the matcher that was sent, with held, why and nearest at each node"`
	State          *stateShape  `json:"state,omitempty" jsonschema:"of an adapter"`
	manyParts
	Output     *string `json:"output,omitempty" jsonschema:"what the command has written so far"`
	Truncated  *bool   `json:"truncated,omitempty" jsonschema:"the beginning of output is left out"`
	ScreenText *string `json:"screen_text,omitempty"`
	DurationMS *uint64 `json:"duration_ms,omitempty"`
}

type (
	noData     struct{}
	methodData struct {
		Method string `json:"method"`
	}
	forbiddenData struct {
		Method string `json:"method"`
		Needs  string `json:"needs" jsonschema:"the right that the request needs: type or admin"`
		Rights string `json:"rights" jsonschema:"what the connection has: read or type"`
		With   string `json:"with,omitempty" jsonschema:"the part of params that needs it, as redact false; left out: the method itself"`
	}
	permissionData struct {
		progress
		Permission plugins.Permission `json:"required_permission"`
		Plugin     string             `json:"plugin"`
		Action     string             `json:"action,omitempty"`
		Method     string             `json:"method,omitempty"`
	}
	pluginData struct {
		Plugin   string `json:"plugin"`
		Function string `json:"function"`
		Kind     string `json:"kind"`
		Module   string `json:"module,omitempty"`
		Line     int    `json:"line,omitzero" jsonschema:"from 1"`
	}
	pluginFailedData struct {
		waitData
		pluginData
	}
	refusedData struct {
		progress
		pluginData
		Code string `json:"code" jsonschema:"the plugin's own"`
	}
	expectData struct {
		progress
		Step      int         `json:"step"`
		ElapsedMS uint64      `json:"elapsed_ms"`
		Snapshot  *look       `json:"snapshot"`
		Matcher   explanation `json:"matcher"`
	}
	forgottenData struct {
		Exit      *exitInfo `json:"exit"`
		Forgotten time.Time `json:"forgotten"`
	}
	ownedData struct {
		Adapter string `json:"adapter"`
	}
	manifestData struct {
		Key  string `json:"key"`
		Line int    `json:"line" jsonschema:"from 1; 0: not known"`
	}
	takenData struct {
		Name    string `json:"name"`
		Session string `json:"session"`
	}
	secretsData struct {
		Count int `json:"count"`
		Limit int `json:"limit"`
	}
	limitData struct {
		What  string `json:"what,omitempty"`
		Limit int    `json:"limit,omitempty"`
	}
	blockedData struct {
		progress
		Length int `json:"length" jsonschema:"bytes of the input"`
	}
	lineData struct {
		progress
		Length int `json:"length" jsonschema:"bytes of the line"`
		Limit  int `json:"limit"`
	}
	leasedData struct {
		progress
		Holder string    `json:"holder"`
		Since  time.Time `json:"since"`
	}
	startData struct {
		Operation string `json:"operation" jsonschema:"that failed: command, lookup, dir, open or start"`
	}
	survivorsData struct {
		PIDs []int `json:"pids" jsonschema:"processes that could not be ended"`
	}
)

// faults are all values of data.reason.
var faults = sync.OnceValue(func() map[string]fault {
	return map[string]fault{
		"parse_error":       of[noData](protocol.CodeParse, "the message is not JSON"),
		"invalid_utf8":      of[noData](protocol.CodeParse, "the message is not UTF-8"),
		"nesting_too_deep":  of[noData](protocol.CodeParse, "the message is nested too deep"),
		"message_too_large": of[noData](protocol.CodeParse, "the message is larger than the server reads"),
		"framing_lost":      of[noData](protocol.CodeParse, "the next message cannot be found; the connection is closed"),
		"invalid_request":   of[noData](protocol.CodeInvalidRequest, "the message is not a request of JSON-RPC 2.0"),
		"empty_batch":       of[noData](protocol.CodeInvalidRequest, "a batch has no requests"),
		"batch_too_large":   of[noData](protocol.CodeInvalidRequest, "a batch has too many requests"),
		"unknown_method":    of[noData](protocol.CodeUnknownMethod, "there is no such method"),

		"invalid_params":                of[progress](protocol.CodeInvalidParams, "a parameter is missing, or has the wrong type or value"),
		"duplicate_member":              of[noData](protocol.CodeInvalidParams, "a member appears twice: in params, or in the message itself (then the code is -32600)"),
		"invalid_matcher":               of[noData](protocol.CodeInvalidParams, "a matcher is not one"),
		"invalid_action":                of[progress](protocol.CodeInvalidParams, "an action is not one"),
		"invalid_golden":                of[noData](protocol.CodeInvalidParams, "a golden screen, a mask or a region is not one"),
		"golden_refused":                of[noData](protocol.CodeInvalidParams, "the screen cannot be written down: a mask covers nothing, the region lies outside, or it has too many styles"),
		"invalid_locator":               of[noData](protocol.CodeInvalidParams, "a locator is not one"),
		"off_screen":                    of[offScreenData](protocol.CodeInvalidParams, "what a locator means has left the screen"),
		"invalid_redaction":             of[noData](protocol.CodeInvalidParams, "a rule of redaction is not one"),
		"invalid_environment":           of[noData](protocol.CodeInvalidParams, "a variable of env is not one"),
		"size_out_of_range":             of[progress](protocol.CodeInvalidParams, "a terminal cannot have the size"),
		"name_taken":                    of[takenData](protocol.CodeInvalidParams, "another session that runs has the name"),
		"too_many_secrets":              of[secretsData](protocol.CodeInvalidParams, "env has more secrets than can be hidden"),
		"shell_integration_unsupported": of[noData](protocol.CodeInvalidParams, "the program is not a shell that can be made to mark its commands"),
		"memory_limit_unsupported":      of[noData](protocol.CodeInvalidParams, "the server cannot limit memory here"),
		"cannot_start":                  of[startData](protocol.CodeInvalidParams, "the program cannot be started"),
		"file_refused":                  of[noData](protocol.CodeInvalidParams, "a file cannot be opened or written"),
		"unknown_session":               of[noData](protocol.CodeInvalidParams, "there is no such session"),
		"session_forgotten":             of[forgottenData](protocol.CodeInvalidParams, "the session has ended and was forgotten"),
		"owned_by_adapter":              of[ownedData](protocol.CodeInvalidParams, "an adapter drives the session"),
		"line_too_long":                 of[lineData](protocol.CodeInvalidParams, "the terminal would cut the line"),
		"mouse_not_requested":           of[progress](protocol.CodeInvalidParams, "the program does not ask for the mouse"),
		"key_not_requested":             of[progress](protocol.CodeInvalidParams, "the program gets nothing for the key"),
		"position_out_of_range":         of[progress](protocol.CodeInvalidParams, "the position is not on the screen"),
		"moment_not_kept":               of[momentData](protocol.CodeInvalidParams, "what a session was like then has been dropped, or is still to come"),
		"too_many_marks":                of[progress](protocol.CodeInvalidParams, "the transcript has too many marks"),
		"command_not_run":               of[waitData](protocol.CodeInvalidParams, "the shell has not run the command line"),
		"no_shell":                      of[noData](protocol.CodeInvalidParams, "the session's program is not a shell that session.run knows"),
		"unknown_recording":             of[noData](protocol.CodeInvalidParams, "there is no such recording"),
		"unknown_adapter":               of[noData](protocol.CodeInvalidParams, "there is no such adapter"),
		"unknown_plugin":                of[noData](protocol.CodeInvalidParams, "there is no such plugin"),
		"unknown_intent":                of[unknownIntentData](protocol.CodeInvalidParams, "the plugin has no such intent or wait matcher"),
		"unknown_predicate":             of[noData](protocol.CodeInvalidParams, "the plugin has no such predicate"),
		"intent_refused":                of[refusedData](protocol.CodeInvalidParams, "the plugin refuses the intent"),
		"input_id_in_use":               of[noData](protocol.CodeInvalidParams, "another input of the session had the id"),
		"wait_id_in_use":                of[noData](protocol.CodeInvalidParams, "a wait of this id is under way"),
		"invalid_manifest":              of[manifestData](protocol.CodeInvalidParams, "a manifest is not one"),
		"plugin_exists":                 of[noData](protocol.CodeInvalidParams, "a plugin of this name is loaded"),
		"plugin_built_in":               of[noData](protocol.CodeInvalidParams, "the plugin is built in"),
		"plugin_in_use":                 of[noData](protocol.CodeInvalidParams, "adapters run the plugin"),
		"plugin_without_code":           of[noData](protocol.CodeInvalidParams, "the plugin has no code"),
		"no_program":                    of[noData](protocol.CodeInvalidParams, "neither the request nor the manifest names a program"),

		"internal_error":     of[progress](protocol.CodeInternal, "the server has failed; its log has more"),
		"limit_exceeded":     of[limitData](protocol.CodeInternal, "a limit of the server or the system is reached"),
		"input_blocked":      of[blockedData](protocol.CodeInternal, "the program does not read its input"),
		"input_full":         of[progress](protocol.CodeInternal, "too much input waits for the program"),
		"unkillable":         of[survivorsData](protocol.CodeInternal, "the kernel has not ended processes in time"),
		"reply_too_large":    of[noData](protocol.CodeInternal, "the answer would be too large"),
		"plugin_failed":      of[pluginFailedData](protocol.CodeInternal, "the plugin's code has failed"),
		"expectation_failed": of[expectData](protocol.CodeInternal, "the screen did not show what an intent expected"),
		"turn_in_progress":   of[waitData](protocol.CodeInternal, "another turn did not end in time"),
		"not_at_prompt":      of[noData](protocol.CodeInternal, "the shell is not at an empty prompt"),

		"timeout":                          of[waitData](codeTimeout, "what was waited for has not happened in time"),
		"not_found":                        of[notFoundData](codeTimeout, "a locator means nothing on the screen, and has not in time"),
		"ambiguous":                        of[ambiguousData](codeTimeout, "a locator means several places of the screen where one was wanted, and has not meant one in time"),
		"session_ended":                    of[waitData](codeSessionClosed, "the session's program has ended"),
		"session_closed":                   of[waitData](codeSessionClosed, "the session was closed"),
		"permission_denied":                of[permissionData](codeDenied, "the plugin's manifest does not allow it"),
		"session_leased":                   of[leasedData](codeDenied, "another client has the session"),
		"forbidden":                        of[forbiddenData](protocol.CodeForbidden, "the connection has no right to it"),
		"server_did_not_grant_plugin_load": of[methodData](codeDenied, "the server does not load plugins for clients"),
		"cancelled":                        of[waitData](codeCancelled, "the request was cancelled"),
		"host_unreachable":                 of[unreachableData](codeHost, "the host cannot be reached; nothing was done"),
		"host_lost":                        of[lostData](codeHost, "the host was lost before it answered; whether it was done is not known"),
		"server_lost":                      of[serverLostData](codeSessionClosed, "the host's server was started anew, and its sessions have ended"),
		"unknown_host":                     of[noData](protocol.CodeInvalidParams, "there is no such host"),
		"shutting_down":                    of[progress](codeCancelled, "the server is stopping"),
	}
})

type unknownIntentData struct {
	progress
	Plugin string `json:"plugin"`
}

// of makes a fault whose data has the members of D.
func of[D any](code int, about string) fault { return fault{code, about, reflect.TypeFor[D]()} }

// together are members of data that stand only together.
var together = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"matcher": {"elapsed_ms", "snapshot"},
		"waiting": {"matched", "ended", "lost", "complete"},
		"output":  {"sequence", "snapshot", "truncated", "duration_ms"},
	}
})
