package terminalmcp

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ptywright/ptywright/protocol"
)

// A Tool is one tool as clients see it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its arguments
}

// A tool is one of the ten, with the fields of its arguments.
type tool struct {
	name        string
	description string
	short       string // in client mode; "": it is not served there
	fields      []field
	optional    bool // a call without any arguments object is fine
	needs       protocol.Rights
	call        func(*Server, *call) (*Result, error)
}

var sessionField = field{name: "sessionId", kind: kindString,
	description: "Session to use, as createSession or listSessions tells it (default: the default session)"}

// tools are in the order in which they are listed.
var tools []tool

func init() { // not a literal: the calls refer to it
	tools = []tool{
		{
			name: "type", call: (*Server).typeText, needs: protocol.RightType,
			description: "Type text into the terminal, exactly as given: no Enter follows, so send that with sendKey. " +
				"Line ends and tabs in the text are typed as they are.",
			short: "Type text into the terminal; Enter is not pressed",
			fields: []field{{name: "text", kind: kindString, required: true,
				description: "Text to type"}, sessionField},
		},
		{
			name: "sendKey", call: (*Server).sendKey, needs: protocol.RightType,
			description: "Press a key or a combination: Enter, Tab, Escape, Backspace, Delete, Insert, ArrowUp, ArrowDown, ArrowLeft, " +
				"ArrowRight, Home, End, PageUp, PageDown, F1 to F12, Ctrl+A to Ctrl+Z, Ctrl+[, Ctrl+\\, Ctrl+], Ctrl+^, Ctrl+_, Ctrl+Space.",
			short: "Press a key or a combination, such as Enter or Ctrl+C",
			fields: []field{{name: "key", kind: kindString, required: true,
				description: "Name of the key, such as Enter, ArrowUp or Ctrl+C"}, sessionField},
		},
		{
			name: "getContent", call: (*Server).getContent, needs: protocol.RightRead, optional: true,
			description: "Read the terminal as plain text: the scrollback (up to 1000 lines) and the screen, or the screen alone. Secrets are hidden.",
			short:       "Read the terminal as plain text",
			fields: []field{
				{name: "visibleOnly", kind: kindBoolean, def: false,
					description: "Only what is on the screen (default: false, the scrollback too)"},
				sessionField,
			},
		},
		{
			name: "takeScreenshot", call: (*Server).takeScreenshot, needs: protocol.RightRead, optional: true,
			description: "Look at the screen: its text with the cursor's position and the dimensions (text), the same with colours as SGR " +
				"sequences (ansi), or a picture (png). Secrets are hidden.",
			short: "Look at the screen: its text, the cursor's position and the dimensions",
			fields: []field{
				{name: "format", kind: kindString, enum: []string{"text", "ansi", "png"},
					def: "text", description: "text (default), ansi or png"},
				sessionField,
			},
		},
		{
			name: "clear", call: (*Server).clear, needs: protocol.RightType, optional: true,
			description: "Clear the screen and the scrollback, but for the line the cursor is in. The program is told nothing.",
			fields:      []field{sessionField},
		},
		{
			name: "startRecording", call: (*Server).startRecording, needs: protocol.RightAdmin, optional: true,
			description: "Record what the terminal shows as an asciicast v2 file, one recording at a time. Tells the recording's id and where the file will be.",
			short:       "Record what the terminal shows as an asciicast v2 file",
			fields: []field{
				{name: "format", kind: kindString, enum: []string{"v2"}, def: "v2",
					description: "v2 (default): asciicast v2"},
				{name: "mode", kind: kindString, enum: []string{"always", "on-failure"},
					def:         "always",
					description: "always (default) keeps the recording, on-failure only if the shell ends with another exit code than 0"},
				{name: "outputDir", kind: kindString,
					description: "Folder for the file (default: $TERMINAL_MCP_RECORD_DIR, or the user's state folder)"},
				{name: "idleTimeLimit", kind: kindNumber,
					description: "Longest pause between events, in seconds; 0: as they were (default: 2)"},
				{name: "maxDuration", kind: kindNumber,
					description: "Seconds after which the recording stops by itself; 0: never (default: 3600)"},
				{name: "inactivityTimeout", kind: kindNumber,
					description: "Seconds without output after which the recording stops by itself; 0: never (default: 600)"},
				sessionField,
			},
		},
		{
			name: "stopRecording", call: (*Server).stopRecording, needs: protocol.RightAdmin,
			description: "Stop a recording and complete its file.",
			short:       "Stop a recording and complete its file",
			fields: []field{{name: "recordingId", kind: kindString, required: true,
				description: "Id of the recording, as startRecording told it"}},
		},
		{
			name: "createSession", call: (*Server).createSession, needs: protocol.RightAdmin, optional: true,
			description: "Start one more shell on a terminal of its own, beside the default session. Tells its id, for sessionId of the other tools.",
			fields: []field{
				{name: "shell", kind: kindString,
					description: "Shell to start (default: the server's)"},
				{name: "cols", kind: kindCount, description: "Columns (default: the server's)"},
				{name: "rows", kind: kindCount, description: "Rows (default: the server's)"},
			},
		},
		{
			name: "listSessions", call: (*Server).listSessions, needs: protocol.RightRead, optional: true,
			description: "List the sessions that are alive, and the limits.",
		},
		{
			name: "destroySession", call: (*Server).destroySession, needs: protocol.RightAdmin,
			description: "End a session and everything that runs in it. The default session cannot be destroyed.",
			fields: []field{{name: "sessionId", kind: kindString, required: true,
				description: "Session to end"}},
		},
	}
}

// Tools returns what tools/list returns to a client that may do everything, in order.
func Tools() []Tool { return toolsFor(protocol.RightAdmin) }

// toolsFor returns those that a client with these rights may call.
func toolsFor(r protocol.Rights) (out []Tool) {
	for _, t := range tools {
		if r.Covers(t.needs) {
			out = append(out, Tool{t.name, t.description, schema(t.fields)})
		}
	}
	return out
}

// ClientTools returns what tools/list returns in client mode: the tools that the socket of a shared
// terminal serves. They have one session, so they cannot name it.
func ClientTools() []Tool {
	var out []Tool
	for _, t := range tools {
		if t.short != "" {
			fields := slices.DeleteFunc(slices.Clone(t.fields),
				func(f field) bool { return f.name == sessionField.name })
			out = append(out, Tool{t.name, t.short, schema(fields)})
		}
	}
	return out
}

// schema is the JSON schema of a tool's arguments.
func schema(fields []field) json.RawMessage {
	properties := make(members, 0, len(fields))
	required := []string{}
	for _, f := range fields {
		if f.required {
			required = append(required, f.name)
		}
		p := members{{"type", f.kind}}
		switch {
		case f.kind == kindCount:
			p = members{{"type", "integer"}, {"exclusiveMinimum", 0}}
		case f.enum != nil:
			p = append(p, member{"enum", f.enum})
		}
		p = append(p, member{"description", f.description})
		if f.def != nil {
			p = append(p, member{"default", f.def})
		}
		properties = append(properties, member{f.name, p})
	}
	s := members{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		s = append(s, member{"required", required})
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // never: the values are ours
	}
	return b
}

// members are those of a JSON object, in order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the object, with the necessary escapes only.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(x.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(x.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
