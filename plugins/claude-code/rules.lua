-- The rules, in the order in which they are tried, and how their sources are fused:
--
--   1. The screen says what place this is: a prompt, a dialog, a panel, an editor. Nothing else knows all of them (the program
--      reports no local screens), and no dialog is believed before it stands there.
--   2. At a prompt the question is whether a turn runs. It does when any source says so: the program's status (OSC 7501), else
--      the title's glyph, progress (OSC 9;4), "esc to interrupt" in the footer, a spinner's line. The status comes some
--      milliseconds before the frame it is about, in both directions; so a turn is over only when none says otherwise.
--   3. How it ended is read behind what the user said last, where an earlier turn's traces cannot be, and told by the status
--      (done, error) when there is one.
--   4. What fits nothing is "unknown".
--
-- Each state names the strongest source that told it, and lists what all of them said.

local layout = require("layout")
local dialogs = require("dialogs")
local memory = require("memory")
local signs = require("signs")
local sent = require("sent")

local rules = {}

local sub, match = string.sub, string.match
local starts, contains, lower = string.starts_with, string.contains, string.lower
local working, failure, interrupted, in_flight, is_command = signs.working, signs.failure, signs.interrupted, signs.in_flight, signs.is_command

local function prompt(l) return l.prompt end
local function no_prompt(l) return not l.prompt end
local function idle(l) return not working(l) end
local at_prompt = {"a prompt at the bottom", prompt}
local no_turn = {"no sign of a running turn", idle}
local of_now = {"an end that was not there before the last submission", function() return not sent.past() end}

-- FIRST_SIGN is how long a prompt may stand in the conversation with nothing behind it, in ms, before the turn counts as one
-- that has come to nothing: 2.0.60 shows a spinner after some 450.
local FIRST_SIGN = 3000

-- UNSEEN is how long the screen must not change, in ms, before a turn that was cancelled before it showed counts as stopped: a
-- message that is queued takes its place within some 500.
rules.UNSEEN = 1000

-- told names the source of a state at the prompt: the program's own word when it gave one, then the title, then the screen.
local function told(l, ...)
	for i = 1, select("#", ...) do
		if l.status == select(i, ...) then return "program_status" end
	end
	if l.title == "idle" then return "title" end
	return "screen"
end

local function typed(l)
	if l.glyph == "!" then return true end
	return layout.input(l) ~= ""
end

local function failed(l)
	return {evidence = "the turn failed: " .. l.failure.message, rows = {l.failure.row}, source = told(l, "error", "blocked")}
end

-- at makes the state of what stands in a row at the prompt, told by the status if it is one of those given.
local function at(name, evidence, ...)
	local statuses = {...}
	return function(l) return {evidence = evidence, rows = {l[name]}, source = told(l, unpack(statuses))} end
end

-- What is left on the screen of a program that has ended is nobody's prompt any more.
local ended = {
	name = "ended", state = "unknown", confidence = 1, source = "exit",
	needs = {{"the program's end", function(l) return l.s.process_exited end}},
	make = function(l)
		local exit = l.s.exit or {}
		if exit.code == 0 then return {evidence = "the program has ended with status 0"} end
		local how = exit.signal and "by signal " .. exit.signal or "with status " .. tostring(exit.code)
		local message = "the program has ended " .. how
		local offline = l.s:find("Unable to connect to Anthropic services")
		l.failure = {kind = "exited", message = message}
		if not offline then return {state = "error", evidence = message} end
		l.failure = {kind = "connection", message = string.trim(l.lines[offline]), row = offline}
		return {state = "error", evidence = message .. ": " .. l.failure.message, rows = {offline}}
	end,
}

rules.at_prompt = {
	ended,
	{
		name = "input-closed", state = "unknown", confidence = 0.5,
		needs = {at_prompt, {"a terminal that was given back", function(l) return not l.s.modes.bracketed_paste end}},
		make = function()
			return {evidence = "a prompt stands there, but the program takes no input: it is starting, ending or stopped"}
		end,
	},
	{
		name = "cancelling", state = "cancelling", confidence = 0.85,
		needs = {
			at_prompt,
			{"a cancel that was sent", function(l)
				if memory.cancel then return not memory.cancel.over end
				return l.s.last_intent == "cancelling"
			end},
			{"the turn that was cancelled", function(l) return not memory.cancel or memory.cancel.said == signs.said(l) end},
			{"a turn that still runs", function(l) return working(l) or memory.cancel and in_flight(l) end},
		},
		make = function(l)
			local source, says = working(l)
			local evidence = "a cancel was sent, and " .. (says or "the turn has not ended")
			return {source = source or "screen", evidence = evidence, rows = {l.spinner or l.prompt}}
		end,
	},
	{
		name = "working", state = "thinking", confidence = 0.9,
		needs = {at_prompt, {"a source that says so", working}},
		make = function(l)
			local source, says = working(l)
			local confidence = source == "program_status" and 0.98 or 0.92
			return {source = source, evidence = says, confidence = confidence, rows = {l.spinner or l.last}}
		end,
	},
	{
		name = "queued", state = "thinking", confidence = 0.7,
		needs = {at_prompt, {"messages that are queued", function(l)
			local _, hint = layout.input(l)
			return hint and contains(hint, "queued messages")
		end}},
		make = function(l) return {evidence = "a message is queued, so the next turn is about to begin", rows = {l.prompt}} end,
	},
	{
		name = "submitting", state = "ready", confidence = 0.7,
		needs = {at_prompt, no_turn, {"a prompt that is on its way into the input", sent.submitting}},
		make = function(l)
			return {state = memory.sent.state, evidence = "what was sent is being typed, and was not submitted yet", rows = {l.prompt}}
		end,
	},
	{
		name = "not-logged-in", state = "waiting_for_login", confidence = 0.85,
		needs = {at_prompt, no_turn, of_now, {"a turn that failed", failure}, {"/login in its message", function(l)
			local f = failure(l)
			return f and (contains(lower(f.message), "not logged in") or contains(f.message, "run /login"))
		end}},
		make = failed,
	},
	{
		name = "failed", state = "error", confidence = 0.9,
		needs = {at_prompt, no_turn, of_now, {"a turn that failed", failure}},
		make = failed,
	},
	{
		name = "blocked-unseen", state = "unknown", confidence = 0.5,
		needs = {at_prompt, {"the status blocked", function(l) return l.status == "blocked" end}},
		make = function(l)
			local message = l.s.status.message
			local evidence = "the program reports that it waits for the user" .. (message ~= "" and " (" .. message .. ")" or "")
			return {source = "program_status", evidence = evidence .. ", but the dialog is not on the screen"}
		end,
	},
	{
		name = "submitted", state = "thinking", confidence = 0.6,
		needs = {
			at_prompt, no_turn,
			{"something that the user said, and nothing behind it", function(l) return sent.taken(l) or not sent.past() and in_flight(l) end},
			{"no word that the program is idle", function(l)
				local m = memory.sent
				if sent.taken(l) or m and m.turn and not m.command and not m.during then return true end
				if l.s.last_intent == "prompt_submitted" and l.status ~= "idle" then return true end
				return l.title ~= "idle" and l.status == nil and not is_command(l)
			end},
			{"an empty input", function(l) return not typed(l) end},
			{"no cancel of it that has worked", function(l)
				return not memory.cancel or memory.cancel.said ~= signs.said(l) or l.s.stable_ms < rules.UNSEEN
			end},
			{"a screen that has just changed", function(l) return l.s.stable_ms < FIRST_SIGN end},
		},
		make = function(l) return {evidence = "a prompt was submitted and nothing has come back yet", rows = {l.echo or l.prompt}} end,
	},
	{
		name = "put-back", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn, {"a prompt that was stopped before anything came back", sent.put_back}},
		make = at("prompt", "the turn was stopped by the user before anything came back, and its prompt was put back into the input", "idle"),
	},
	{
		name = "notice", state = "ready", confidence = 0.9,
		needs = {
			at_prompt, no_turn, {"no text in the input", function(l) return not typed(l) end},
			{"something that was sent, and no turn of it", sent.past},
			{"the program's own answer", function(l) return l.notice and memory.sent.notice end},
		},
		make = function(l) return {evidence = "the program has answered by itself: " .. sub(memory.sent.notice, 5, 300), rows = {l.notice}} end,
	},
	{
		name = "typed", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn, {"text in the input", typed}},
		make = at("prompt", "text stands in the prompt and was not submitted", "idle", "done"),
	},
	{
		name = "interrupted", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn, of_now, {"a turn that the user stopped", interrupted}},
		make = at("interrupted", "the turn was stopped by the user; the prompt takes input", "idle"),
	},
	{
		name = "completed", state = "completed_turn", confidence = 0.95,
		needs = {at_prompt, no_turn, of_now, {"the line that closes a turn", function(l) return l.done end}},
		make = at("done", "the turn's closing line stands behind what the user said last", "done"),
	},
	{
		name = "tool-running", state = "thinking", confidence = 0.6,
		needs = {at_prompt, no_turn, of_now, {"a tool that has not ended, as the last thing", function(l)
			return l.result and (not l.block or l.result > l.block) and match(l.lines[l.result], "^  ⎿[ \194\160]*Running…$")
		end}},
		make = function(l) return {evidence = "the last tool still runs, as far as its row tells", rows = {l.result}} end,
	},
	{
		name = "answered", state = "completed_turn", confidence = 0.75,
		needs = {
			at_prompt, no_turn, of_now,
			{"something the program said", function(l) return l.block end},
			{"a prompt that it answers, no command", function(l) return not is_command(l) end},
		},
		make = at("block", "an answer stands behind what the user said last, and no turn runs", "done"),
	},
	{
		name = "answered", state = "completed_turn", confidence = 0.6,
		needs = {
			at_prompt, no_turn, of_now,
			{"nothing that the user said, nor the head of a session", function(l)
				return not l.echo and not l.queued and not l.s:find("Claude Code v", 1, l.prompt_top)
			end},
			{"prose at the top and at the bottom", function(l)
				return l.s:test("^  \\S", 1, 3) and l.s:test("^  \\S", math.max(1, l.prompt_top - 6), l.prompt_top - 1)
			end},
		},
		make = at("prompt_top", "an answer fills the screen above the prompt, and no turn runs", "done"),
	},
	{
		name = "idle", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn},
		make = at("prompt", "an empty prompt, and no turn runs", "idle", "done"),
	},
}

-- What stands in the place of the prompt.

local function dialog(l) return dialogs.read(l) end
local an_option_list = {"options with a pointer", dialog}

-- option returns the first option whose label begins with a text.
local function option(l, text)
	local d = dialog(l)
	for _, o in ipairs(d and d.options or {}) do
		if starts(o.label, text) then return o end
	end
	return nil
end

local function asks(l, ...)
	local d = dialog(l)
	if not d then return false end
	for i = 1, select("#", ...) do
		local text = select(i, ...)
		if contains(d.question, text) or contains(d.head, text) then return true end
	end
	return false
end

-- shown makes a dialog's state. Its evidence quotes the question, or the head where that says more.
local function shown(what, by_head)
	return function(l)
		local d = dialog(l)
		return {
			evidence = what .. ": " .. (not by_head and d.question ~= "" and d.question or d.head),
			rows = {d.head_row > 0 and d.head_row or d.row, d.row},
			source = l.status == "blocked" and "program_status" or "screen",
		}
	end
end

local function screen_shows(what, row)
	return function(l) return {evidence = what, rows = {row and row(l) or math.max(l.floor, 1)}} end
end

-- What a local screen says about its keys: "Esc to close", "↑/↓ to navigate".
local KEYS = "(?i)\\b(?:esc|enter|tab|↑/↓|←/→) to " ..
	"(?:cancel|close|go back|exit|continue|navigate|switch|return|dismiss|confirm|select|toggle|use|clear|filter|save)\\b"

local function on_panel(l) return l.panel and not l.prompt end

-- What the page about the use says, and no other of the panel.
local FIGURES = "(?i)^ *(?:(?:total|estimated) cost:|total duration|current (?:session|week)|" ..
	"/usage is only|loading usage|failed to load usage|\\d+% used)"

local transcript = {"the footer of the detailed transcript", function(l)
	return no_prompt(l) and l.last and contains(l.lines[l.last], "detailed transcript")
end}

rules.elsewhere = {
	ended,
	{
		name = "blank", state = "starting", confidence = 0.6,
		needs = {
			{"a blank screen", function(l) return not l.last end},
			{"no title yet, or a dialog of the start before", function(l)
				local before = memory.state
				return not l.s.title or before == "starting" or before == "waiting_for_trust" or before == "waiting_for_login"
			end},
		},
		make = function() return {evidence = "nothing is on the screen yet"} end,
	},
	{
		name = "left", state = "error", confidence = 0.7,
		needs = {
			{"a dialog that nobody answers", dialog},
			{"a terminal that was given back, its title too", function(l) return l.s.title == "" and not l.s.modes.bracketed_paste end},
		},
		make = function(l)
			l.failure = {kind = "exited", message = string.trim(l.lines[l.last]), row = l.last}
			return {evidence = "the program has left its dialog standing and given the terminal back", rows = {l.dialog.row}}
		end,
	},
	{
		name = "detailed-transcript-working", state = "thinking", confidence = 0.85,
		needs = {
			transcript,
			{"a sign of a running turn", function(l)
				return l.status == "working" or l.title == "working" or match(l.lines[l.last], "^ *working")
			end},
		},
		make = function(l)
			local source = l.status == "working" and "program_status" or l.title == "working" and "title" or "screen"
			return {evidence = "the detailed transcript of a running turn is shown", rows = {l.last}, source = source}
		end,
	},
	{
		name = "detailed-transcript", state = "local_ui_screen", confidence = 0.8,
		needs = {transcript},
		make = screen_shows("the detailed transcript is shown", function(l) return l.last end),
	},
	{
		name = "trust", state = "waiting_for_trust", confidence = 0.97,
		needs = {
			an_option_list,
			{"an option to leave", function(l) return option(l, "No, exit") end},
			{"an option to go on", function(l) return option(l, "Yes") end},
			{"a question about trust", function(l) return l.s:test("(?i)\\btrust", l.floor + 1, dialog(l).row) end},
		},
		make = shown("the program asks whether to trust the folder", true),
	},
	{
		name = "api-key", state = "waiting_for_login", confidence = 0.95,
		needs = {an_option_list, {"a question about an API key", function(l) return asks(l, "API key") and option(l, "Yes") end}},
		make = shown("the program asks about the API key in its environment"),
	},
	{
		name = "login-method", state = "waiting_for_login", confidence = 0.95,
		needs = {an_option_list, {"a question for the login method", function(l)
			return asks(l, "login method", "Login") or contains(lower(dialog(l).question), "log in")
		end}},
		make = shown("the program asks how to log in"),
	},
	{
		name = "enter-plan", state = "waiting_for_enter_plan_mode", confidence = 0.96,
		needs = {an_option_list, {"the question for plan mode", function(l)
			return asks(l, "Enter plan mode?") or option(l, "Yes, enter plan mode")
		end}},
		make = shown("the program asks to enter plan mode", true),
	},
	{
		name = "plan", state = "waiting_for_plan_approval", confidence = 0.96,
		needs = {
			an_option_list,
			{"a question whether to go on with a plan", function(l)
				return asks(l, "Would you like to proceed?", "Exit plan mode?", "Ready to code?")
					or option(l, "Yes, manually approve") or option(l, "Yes, and manually approve")
			end},
		},
		make = shown("the program asks whether to carry out its plan"),
	},
	{
		name = "question", state = "waiting_for_user_input", confidence = 0.95,
		needs = {
			an_option_list,
			{"tabs of questions, or an option to answer otherwise", function(l)
				local head = l.dialog.head
				return contains(head, "☐") or contains(head, "☒") or contains(head, "✔ Submit") or head == "Review your answers" or
					not l.panel and option(l, "Type something") -- its tabs have left the screen
			end},
		},
		make = shown("the program asks the user"),
	},
	{
		name = "model", state = "waiting_for_model_select", confidence = 0.96,
		needs = {an_option_list, {"the heading of the model picker", function(l)
			local head = dialog(l).head
			return match(head, "^Select %a* ?model") or match(head, "^Switch %a* ?model")
		end}},
		make = shown("the model picker is open", true),
	},
	{
		name = "permission", state = "waiting_for_permission", confidence = 0.95,
		needs = {
			an_option_list,
			{"an option to agree", function(l) return option(l, "Yes") or option(l, "Allow") end},
			{"an option to refuse", function(l) return option(l, "No") or option(l, "Type here to tell Claude") or option(l, "Deny") end},
			{"a question", function(l) return contains(l.dialog.question, "?") or l.status == "blocked" end},
		},
		make = shown("the program asks for permission"),
	},
	{
		name = "usage", state = "usage_screen", confidence = 0.93,
		needs = {
			{"the panel of settings", function(l)
				return no_prompt(l) and l.last and l.s:test("^ *Settings:? +Status +Config +Usage", l.floor + 1, l.floor + 3)
			end},
			{"figures of use", function(l) return l.s:test(FIGURES, l.floor + 2, l.last) end},
		},
		make = screen_shows("the panel of settings shows the use"),
	},
	{
		name = "panel", state = "local_ui_screen", confidence = 0.85,
		needs = {{"a rule of ▔ and no prompt below it", on_panel}},
		make = function(l)
			local heading, row = dialogs.heading(l)
			return {evidence = "a panel is open: " .. heading, rows = {row}}
		end,
	},
	{
		name = "sign-in", state = "waiting_for_login", confidence = 0.85,
		needs = {
			{"no prompt", function(l) return no_prompt(l) and l.last end},
			{"a way to sign in", function(l)
				local from = l.floor + 1
				return l.s:find("aste code here", from) or l.s:find("/oauth/authorize", from) or l.s:find("to sign in", from)
			end},
		},
		make = screen_shows("the program waits for a sign-in"),
	},
	{
		name = "external-editor", state = "waiting_for_external_editor", confidence = 0.9,
		needs = {
			{"no prompt", function(l) return no_prompt(l) and l.last end},
			{"the file of the prompt in an editor's first or last rows, or a word of the program", function(l)
				return l.s:find("claude-prompt-", 1, 2) or l.s:find("claude-prompt-", #l.lines - 2)
					or l.s:find("ave and close editor to continue")
			end},
		},
		make = screen_shows("an editor shows the prompt's file", function(l) return l.last end),
	},
	{
		name = "offline", state = "error", confidence = 0.9,
		needs = {
			{"neither prompt nor dialog", function(l) return no_prompt(l) and l.last and not dialog(l) end},
			{"the message that there is no connection", function(l)
				l.offline = l.s:find("Unable to connect to Anthropic services")
				return l.offline
			end},
		},
		make = function(l)
			l.failure = {kind = "connection", message = string.trim(l.lines[l.offline]), row = l.offline}
			return {evidence = l.failure.message, rows = {l.offline}}
		end,
	},
	{
		name = "local-screen", state = "local_ui_screen", confidence = 0.75,
		needs = {
			{"no prompt", function(l) return no_prompt(l) and l.last end},
			{"keys that a local screen offers, in the last rows", function(l)
				local from = math.max(l.last - 2, l.floor + 1)
				return l.s:find(" to ", from, l.last) and l.s:test(KEYS, from, l.last)
			end},
		},
		make = function(l) return {evidence = "in the place of the prompt stands a screen with keys of its own", rows = {l.last}} end,
	},
	{
		name = "command", state = "local_ui_screen", confidence = 0.65,
		needs = {
			{"no prompt", function(l) return no_prompt(l) and l.last end},
			{"what a command shows, right below it", function(l)
				return l.above and l.last > l.floor and match(l.lines[l.above], "^[❯>]+ /%a")
			end},
		},
		make = function(l)
			return {evidence = "in the place of the prompt stands what a command shows: " .. sub(l.lines[l.above], 1, 80), rows = {l.above}}
		end,
	},
	{
		name = "list", state = "local_ui_screen", confidence = 0.6,
		needs = {an_option_list, {"two options or more", function(l) return #l.dialog.options > 1 end}},
		make = shown("a list with a pointer stands in the place of the prompt"),
	},
	{
		name = "starting", state = "starting", confidence = 0.6,
		needs = {
			{"no prompt", function(l) return no_prompt(l) and l.last end},
			{"nothing but the head of a session", function(l)
				return l.last <= 14 and l.s:test("^(?:.{0,12}Claude Code v\\d|Welcome to Claude Code)", 1, 3)
			end},
		},
		make = screen_shows("only the head of a session is on the screen", function() return 1 end),
	},
}

-- explained are all rules, for an explanation, which looks at the rest of a rule's needs when one is not met. What stands on the
-- first one is then not asked.
local explained = {}
local function explain(rule)
	local ground = rule.needs[1][2]
	local needs = {rule.needs[1]}
	for i = 2, #rule.needs do
		local need = rule.needs[i]
		needs[i] = {need[1], function(l) return ground(l) and need[2](l) end}
	end
	explained[#explained + 1] = {
		name = rule.name, state = rule.state, confidence = rule.confidence, source = rule.source, needs = needs, make = rule.make,
	}
end
for _, rule in ipairs(rules.at_prompt) do explain(rule) end
for i = 2, #rules.elsewhere do explain(rules.elsewhere[i]) end

-- sources lists what each source says.
local function sources(l)
	local place
	if l.prompt then
		place = "a prompt at the bottom" .. (l.spinner and ", a spinner" or "") .. (l.done and ", a closing line" or "")
	elseif dialogs.read(l) then
		place = "options with a pointer in the place of the prompt"
	elseif l.last then
		place = l.panel and "a panel in the place of the prompt" or "no prompt"
	else
		place = "blank"
	end
	local list = {{source = "screen", says = place}}
	if l.title then list[#list + 1] = {source = "title", says = l.title} end
	if l.status then
		local message = l.s.status.message or ""
		list[#list + 1] = {source = "program_status", says = message ~= "" and l.status .. ": " .. sub(message, 1, 500) or l.status}
	end
	return list
end

-- decide returns the state of a layout.
function rules.decide(l)
	sent.follow(l)
	local state = ptywright.decide(l.explain and explained or l.prompt and rules.at_prompt or rules.elsewhere, l)
	state.sources = sources(l)
	return state
end

return rules
