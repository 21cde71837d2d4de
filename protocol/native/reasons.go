package native

import (
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/protocol"
)

// away are the reasons of what may be at another host.
var away = []string{"host_unreachable", "host_lost", "server_lost", "unknown_host"}

// given are the reasons that a member of params brings with it.
var given = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"session":   append([]string{"unknown_session", "session_forgotten"}, away...),
		"recording": away,
		"host":      away,
		"redaction": {"invalid_redaction"},
		"at":        {"moment_not_kept"},
		"locator":   {"invalid_locator"},
		"matcher":   {"invalid_matcher", "plugin_failed", "timeout", "session_ended", "session_closed"},
		"adapter":   append([]string{"unknown_adapter", "plugin_failed", "permission_denied"}, away...),
		"plugin":    {"unknown_plugin", "permission_denied"},
		"rows":      {"size_out_of_range"},
		"env":       {"invalid_environment", "too_many_secrets"},
	}
})

// typing are the reasons of what types into a session.
var typing = []string{
	"session_ended", "session_closed", "input_full", "input_blocked", "line_too_long", "mouse_not_requested", "key_not_requested",
	"position_out_of_range", "session_leased", "too_many_marks", "invalid_action", "size_out_of_range", "shutting_down",
	"not_found", "ambiguous", "off_screen", "plugin_failed",
}

// intents are the reasons of what performs an intent.
var intents = append([]string{"unknown_intent", "intent_refused", "expectation_failed", "turn_in_progress", "plugin_without_code", "timeout", "unkillable"}, typing...)

// starting are the reasons of what starts a program.
var starting = []string{"cannot_start", "limit_exceeded", "shutting_down", "name_taken", "file_refused"}

// waiting are the reasons of what waits for an adapter's matcher.
var waiting = []string{
	"unknown_intent", "unknown_predicate", "unknown_plugin", "invalid_matcher", "timeout", "session_ended", "session_closed", "wait_id_in_use", "plugin_without_code",
	"intent_refused", "expectation_failed",
}

// also are the reasons of single methods beside those that follow from their params.
var also = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"server.set_rights":        {"forbidden"},
		"session.create":           append([]string{"shell_integration_unsupported", "memory_limit_unsupported"}, starting...),
		"session.close":            {"owned_by_adapter", "unkillable"},
		"session.kill":             {"owned_by_adapter", "unkillable", "session_closed"},
		"session.forget":           {"unkillable"},
		"session.resize":           {"session_ended", "session_closed", "session_leased", "input_full"},
		"session.input":            append([]string{"owned_by_adapter", "unkillable", "input_id_in_use"}, typing...),
		"session.run":              append([]string{"owned_by_adapter", "timeout", "command_not_run", "no_shell", "not_at_prompt"}, typing...),
		"session.snapshot":         {"reply_too_large"},
		"session.wait":             {"reply_too_large"},
		"session.wait_many":        append([]string{"reply_too_large", "unknown_session"}, away...),
		"session.locate":           {"not_found", "ambiguous", "timeout", "session_ended", "session_closed", "plugin_failed"},
		"session.history":          {"moment_not_kept"},
		"session.screenshot":       {"reply_too_large", "file_refused"},
		"session.frame":            {"reply_too_large", "session_closed"},
		"session.golden":           {"invalid_golden", "golden_refused"},
		"session.lease":            {"owned_by_adapter", "session_leased", "session_ended", "session_closed"},
		"session.record_start":     {"file_refused", "limit_exceeded", "session_ended", "session_closed"},
		"session.record_stop":      {"unknown_recording", "file_refused"},
		"adapter.start":            append([]string{"plugin_failed", "plugin_without_code", "no_program"}, starting...),
		"adapter.resume":           append([]string{"plugin_failed", "plugin_without_code", "no_program", "unkillable"}, starting...),
		"adapter.send":             intents,
		"adapter.wait":             waiting,
		"adapter.turn":             append(slices.Clone(intents), waiting...),
		"adapter.snapshot":         {"reply_too_large"},
		"adapter.close":            {"unkillable"},
		"plugin.validate_manifest": {"invalid_manifest"},
		"plugin.describe":          {"plugin_failed", "plugin_without_code"},
		"plugin.load":              {"server_did_not_grant_plugin_load", "invalid_manifest", "file_refused", "plugin_exists", "plugin_built_in", "plugin_failed"},
		"plugin.reload":            {"server_did_not_grant_plugin_load", "invalid_manifest", "file_refused", "plugin_built_in", "plugin_failed"},
		"plugin.unload":            {"server_did_not_grant_plugin_load", "plugin_built_in", "plugin_in_use"},
	}
})

// reasonsOf returns the reasons that a method can give, sorted. What is wrong with a message
// itself, or with a batch, is not among them.
func reasonsOf(r *row, params *jsonschema.Schema) []string {
	all := []string{"cancelled", "duplicate_member", "internal_error", "invalid_params", "limit_exceeded"}
	if r.rights != protocol.RightRead || r.more {
		all = append(all, "forbidden")
	}
	for name, reasons := range given() {
		if params.Properties[name] != nil {
			all = append(all, reasons...)
		}
	}
	all = append(all, also()[r.name]...)
	slices.Sort(all)
	return slices.Compact(all)
}
