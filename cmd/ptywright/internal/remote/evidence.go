package remote

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// conditions are the wire's matchers as wait's help calls them.
func conditions(kind string) string {
	switch kind {
	case "contains_text":
		return "the text"
	case "screen_regex":
		return "the expression"
	case "transcript_contains":
		return "the output"
	case "transcript_regex":
		return "the expression in the output"
	case "title_contains":
		return "the title"
	case "title_regex":
		return "the expression in the title"
	case "cursor_at":
		return "the cursor"
	case "screen_stable":
		return "an unchanged screen"
	case "screen":
		return "the golden screen"
	case "process_exited":
		return "the program's end"
	case "located":
		return "the locator"
	case "bell":
		return "the bell"
	case "command_finished":
		return "the end of a command"
	case "any", "all", "not":
		return kind
	case "lua":
		return "the plugin's predicate"
	case "state":
		return "the adapter's state"
	}
	return strings.ReplaceAll(kind, "_", " ") // of a newer server
}

// condition names a matcher and its value for people.
func condition(kind string, value json.RawMessage) string {
	name := conditions(kind)
	var states []string
	if kind == "state" && json.Unmarshal(value, &states) == nil {
		return name + " " + strings.Join(states, " or ")
	}
	var v struct {
		MinMS     *int64 `json:"min_ms"`
		Row, Col  *int
		ExitCode  *int `json:"exit_code"`
		Plugin    string
		Predicate string
		Locator   string
	}
	var text string
	switch {
	case len(value) == 0 || string(value) == "null":
		return name
	case json.Unmarshal(value, &text) == nil:
		return name + " " + string(value) // in quotation marks, on one line
	case json.Unmarshal(value, &v) != nil:
	case kind == "screen_stable" && v.MinMS != nil:
		return name + " for " + lasting(*v.MinMS)
	case kind == "cursor_at" && v.Row != nil && v.Col != nil:
		return fmt.Sprintf("%s at row %d, column %d", name, *v.Row, *v.Col)
	case kind == "command_finished" && v.ExitCode != nil:
		return fmt.Sprintf("%s with exit %d", name, *v.ExitCode)
	case kind == "located":
		return name + " " + v.Locator
	case kind == "lua":
		return name + " " + strings.TrimPrefix(v.Plugin+"."+v.Predicate, ".")
	case kind == "screen", kind == "command_finished":
		return name
	}
	return name + " " + string(value)
}

func lasting(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// met says in one line which condition has held.
func met(o *client.Outcome) string {
	name := conditions(o.Kind)
	switch o.Kind {
	case "screen_stable":
		return name + " for " + lasting(o.MinMS)
	case "cursor_at":
		return fmt.Sprintf("%s at row %d, column %d", name, o.Row, o.Col)
	case "lua":
		return name + " " + strings.TrimPrefix(o.Plugin+"."+o.Predicate, ".")
	}
	return name
}

// say says in one line what matched: see [Waited.What].
func say(o *client.Outcome, exit *client.Exit) string {
	switch {
	case len(o.Parts) > 0:
		var parts []string
		for i := range o.Parts {
			parts = append(parts, say(&o.Parts[i], exit))
		}
		return strings.Join(parts, "; ")
	case o.Kind == "process_exited":
		return exit.String()
	case o.Kind == "command_finished" && o.ExitCode != nil:
		return fmt.Sprintf("exit %d", *o.ExitCode)
	case o.Kind == "command_finished":
		return "exit code unknown"
	}
	return cmp.Or(o.Capture, o.Text, o.State, met(o))
}

// printEvidence prints why a wait did not match, for people.
func printEvidence(w io.Writer, e *client.Evidence) { io.WriteString(w, e.Report(condition)) }
