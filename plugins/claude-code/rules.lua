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

local rules = {}

local sub, match, find = string.sub, string.match, string.find
local starts, contains, lower = string.starts_with, string.contains, string.lower

-- working returns which source says that a turn runs, and how it says so; nil when none does.
local function working(l)
	if l.working ~= nil then return l.working, l.working_says end
	local source, says = false, nil
	if l.status == "working" then
		source, says = "program_status", "the program reports that it works"
	elseif l.title == "working" then
		source, says = "title", "the title shows the glyph of a program at work"
	elseif l.s:find("esc to interrupt", l.prompt_bottom + 1) then
		source, says = "screen", "the footer says: esc to interrupt"
	elseif l.spinner then
		source, says = "screen", "a line with a spinner stands above the prompt"
	else
		local p = l.s.progress
		if p and (p.state == "busy" or p.state == "normal") then source, says = "progress", "the program reports progress" end
	end
	l.working, l.working_says = source, says
	return source, says
end
rules.working = working

-- What a turn's failure begins with, behind ● or ⎿, and what kind it is. The first that is contained counts.
local FAILURES = {
	{"not logged in", "auth"}, {"please run /login", "auth"}, {"invalid api key", "auth"}, {"authentication", "auth"}, {"oauth", "auth"}, {"unauthorized", "auth"},
	{"credit balance", "quota"}, {"usage limit", "quota"}, {"hit your", "quota"}, {"extra usage", "quota"}, {"5-hour limit", "quota"}, {"weekly limit", "quota"},
	{"(429)", "rate_limit"}, {"429", "rate_limit"}, {"rate limit", "rate_limit"},
	{"overloaded", "overloaded"}, {"529", "overloaded"},
	{"connection", "connection"}, {"unable to connect", "connection"}, {"network", "connection"}, {"timed out", "connection"}, {"econn", "connection"},
	{"prompt is too long", "too_long"}, {"context limit", "too_long"},
	{"api error", "api"}, {"api_error", "api"}, {"error", "api"},
}

function rules.kind_of_failure(text)
	text = lower(text)
	for _, f in ipairs(FAILURES) do
		if contains(text, f[1]) then return f[2] end
	end
	return "unknown"
end

-- coloured reports whether the text behind a mark is coloured, as failures are and prose is not. Where the program uses no
-- colour at all (its rules have none either) nothing can be told, and the text decides.
local function coloured(l, row)
	local frame = l.s:styles(l.prompt_bottom)
	if not frame or not frame[1] or frame[1].foreground == "default" then return true end
	for _, run in ipairs(l.s:styles(row) or {}) do
		if run.col > 1 and match(run.text, "%w") then return run.foreground ~= "default" and not run.dim end
	end
	return false
end

-- joined returns a row's text behind its mark with the rows that continue it.
local function joined(l, row, mark)
	local text = match(l.lines[row], "^ *" .. mark .. "[ \194\160]*(.*)$") or ""
	local indent = #match(l.lines[row], "^ *") + (mark == "●" and 2 or 3)
	for i = row + 1, l.prompt_top - 1 do
		local line = l.lines[i]
		local blanks, rest = match(line, "^( *)(%S.*)$")
		if not blanks or #blanks < indent or starts(rest, "⎿") then break end
		text = text .. " " .. rest
	end
	return text
end
rules.joined = joined

-- failure looks for the message that a turn ended with: the last block when it is "● API Error: …", or a result directly below
-- what the user said, which no tool gave, when it reads like one or when the prompt asks to send the message again.
local function failure(l)
	if l.failure ~= nil then return l.failure end
	l.failure = false
	local text, row
	if l.block and match(l.lines[l.block], "^● *API Error") and coloured(l, l.block) then
		text, row = joined(l, l.block, "●"), l.block
	elseif l.echo and not l.block and l.top_result == l.echo + 1 and not match(l.lines[l.echo], "^[❯>!]+ ?/") and not starts(l.lines[l.echo], "!") then
		local t = joined(l, l.top_result, "⎿")
		local _, placeholder = layout.input(l)
		if not starts(t, "Interrupted") and (placeholder and contains(lower(placeholder), "resend") or rules.kind_of_failure(t) ~= "unknown" and coloured(l, l.top_result)) then
			text, row = t, l.top_result
		end
	end
	if not text and (l.status == "error" or l.status == "blocked" and l.s.status.kind == "auth") then
		text, row = l.s.status.message or "", nil
	end
	if text then
		l.failure = {kind = rules.kind_of_failure(text), message = text, row = row}
	end
	return l.failure
end
rules.failure = failure

-- interrupted reports whether the turn ended because the user stopped it or refused something.
local function interrupted(l)
	if l.interrupted ~= nil then return l.interrupted end
	l.interrupted = false
	if l.result then
		local text = match(l.lines[l.result], "^  ⎿[ \194\160]*(.*)$") or ""
		if (not l.block or l.result > l.block) and (starts(text, "Interrupted") or starts(text, "Rejected ") or starts(text, "User rejected ") or starts(text, "Declined ")) then
			l.interrupted = l.result
		end
	end
	if not l.interrupted and l.block and match(l.lines[l.block], "^●[ \194\160]*%S* ?[Dd]eclined to answer Claude's questions") then l.interrupted = l.block end
	return l.interrupted
end
rules.interrupted = interrupted

local function prompt(l) return l.prompt end
local function no_prompt(l) return not l.prompt end
local function idle(l) return not working(l) end
local at_prompt = {"a prompt at the bottom", prompt}
local no_turn = {"no sign of a running turn", idle}

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

-- in_flight reports whether something stands there that the user said, and nothing behind it.
local function in_flight(l)
	return l.echo and not l.block and not l.result and not l.done and not starts(l.lines[l.echo], "> Unknown slash command")
end

-- is_command reports whether what the user said last is a command of the program's own.
local function is_command(l) return l.echo and match(l.lines[l.echo], "^[❯>]+ /%a") ~= nil end

local function typed(l)
	if l.glyph == "!" then return true end
	return layout.input(l) ~= ""
end

-- What is left on the screen of a program that has ended is nobody's prompt any more.
local ended = {
	name = "ended", state = "unknown", confidence = 1, source = "exit",
	needs = {{"the program's end", function(l) return l.s.process_exited end}},
	make = function(l)
		local exit = l.s.exit or {}
		if exit.code == 0 then return {evidence = "the program has ended with status 0"} end
		local how = exit.signal and "by signal " .. exit.signal or "with status " .. tostring(exit.code)
		local offline = l.s:find("Unable to connect to Anthropic services")
		l.failure = {kind = offline and "connection" or "exited", message = offline and string.trim(l.lines[offline]) or "the program has ended " .. how, row = offline}
		return {state = "error", evidence = "the program has ended " .. how .. (offline and ": " .. l.failure.message or ""), rows = {offline}}
	end,
}

rules.at_prompt = {
	ended,
	{
		name = "input-closed", state = "unknown", confidence = 0.5,
		needs = {at_prompt, {"a terminal that was given back", function(l) return not l.s.modes.bracketed_paste end}},
		make = function() return {evidence = "a prompt stands there, but the program takes no input: it is starting, ending or stopped"} end,
	},
	{
		name = "cancelling", state = "cancelling", confidence = 0.85,
		needs = {
			at_prompt,
			{"a cancel that was sent", function(l)
				if memory.cancel then return not memory.cancel.over end
				return l.s.last_intent == "cancelling"
			end},
			{"the turn that was cancelled", function(l) return not memory.cancel or memory.cancel.said == rules.said(l) end},
			{"a turn that still runs", function(l) return working(l) or memory.cancel and in_flight(l) end},
		},
		make = function(l)
			local source, says = working(l)
			return {source = source or "screen", evidence = "a cancel was sent, and " .. (says or "the turn has not ended"), rows = {l.spinner or l.prompt}}
		end,
	},
	{
		name = "working", state = "thinking", confidence = 0.9,
		needs = {at_prompt, {"a source that says so", working}},
		make = function(l)
			local source, says = working(l)
			return {source = source, evidence = says, confidence = source == "program_status" and 0.98 or 0.92, rows = {l.spinner or l.last}}
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
		name = "not-logged-in", state = "waiting_for_login", confidence = 0.85,
		needs = {at_prompt, no_turn, {"a turn that failed", failure}, {"/login in its message", function(l)
			local f = failure(l)
			return f and (contains(lower(f.message), "not logged in") or contains(f.message, "run /login"))
		end}},
		make = function(l) return {evidence = "the turn failed: " .. l.failure.message, rows = {l.failure.row}, source = told(l, "error", "blocked")} end,
	},
	{
		name = "failed", state = "error", confidence = 0.9,
		needs = {at_prompt, no_turn, {"a turn that failed", failure}},
		make = function(l) return {evidence = "the turn failed: " .. l.failure.message, rows = {l.failure.row}, source = told(l, "error", "blocked")} end,
	},
	{
		name = "blocked-unseen", state = "unknown", confidence = 0.5,
		needs = {at_prompt, {"the status blocked", function(l) return l.status == "blocked" end}},
		make = function(l)
			local message = l.s.status.message
			return {source = "program_status", evidence = "the program reports that it waits for the user" .. (message ~= "" and " (" .. message .. ")" or "") .. ", but the dialog is not on the screen"}
		end,
	},
	{
		name = "submitted", state = "thinking", confidence = 0.6,
		needs = {
			at_prompt, no_turn,
			{"something that the user said, and nothing behind it", in_flight},
			{"no word that the program is idle", function(l)
				if l.s.last_intent == "prompt_submitted" and l.status ~= "idle" then return true end
				return l.title ~= "idle" and l.status == nil and not is_command(l)
			end},
			{"an empty input", function(l) return not typed(l) end},
			{"no cancel of it that has worked", function(l) return not memory.cancel or memory.cancel.said ~= rules.said(l) or l.s.stable_ms < rules.UNSEEN end},
			{"a screen that has just changed", function(l) return l.s.stable_ms < FIRST_SIGN end},
		},
		make = function(l) return {evidence = "a prompt was submitted and nothing has come back yet", rows = {l.echo}} end,
	},
	{
		name = "typed", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn, {"text in the input", typed}},
		make = function(l) return {evidence = "text stands in the prompt and was not submitted", rows = {l.prompt}, source = told(l, "idle", "done")} end,
	},
	{
		name = "interrupted", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn, {"a turn that the user stopped", interrupted}},
		make = function(l) return {evidence = "the turn was stopped by the user; the prompt takes input", rows = {l.interrupted}, source = told(l, "idle")} end,
	},
	{
		name = "completed", state = "completed_turn", confidence = 0.95,
		needs = {at_prompt, no_turn, {"the line that closes a turn", function(l) return l.done end}},
		make = function(l) return {evidence = "the turn's closing line stands behind what the user said last", rows = {l.done}, source = told(l, "done")} end,
	},
	{
		name = "tool-running", state = "thinking", confidence = 0.6,
		needs = {at_prompt, no_turn, {"a tool that has not ended, as the last thing", function(l)
			return l.result and (not l.block or l.result > l.block) and match(l.lines[l.result], "^  ⎿[ \194\160]*Running…$")
		end}},
		make = function(l) return {evidence = "the last tool still runs, as far as its row tells", rows = {l.result}} end,
	},
	{
		name = "answered", state = "completed_turn", confidence = 0.75,
		needs = {at_prompt, no_turn, {"something the program said", function(l) return l.block end}, {"a prompt that it answers, no command", function(l) return not is_command(l) end}},
		make = function(l) return {evidence = "an answer stands behind what the user said last, and no turn runs", rows = {l.block}, source = told(l, "done")} end,
	},
	{
		name = "answered", state = "completed_turn", confidence = 0.6,
		needs = {
			at_prompt, no_turn,
			{"an answer that fills the screen", function(l)
				return not l.echo and not l.queued and not l.s:find("Claude Code v", 1, l.prompt_top) and l.s:test("^  \\S", 1, 3) and l.s:test("^  \\S", math.max(1, l.prompt_top - 6), l.prompt_top - 1)
			end},
		},
		make = function(l) return {evidence = "an answer fills the screen above the prompt, and no turn runs", rows = {1}, source = told(l, "done")} end,
	},
	{
		name = "idle", state = "ready", confidence = 0.9,
		needs = {at_prompt, no_turn},
		make = function(l) return {evidence = "an empty prompt, and no turn runs", rows = {l.prompt}, source = told(l, "idle", "done")} end,
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
		return {evidence = what .. ": " .. (not by_head and d.question ~= "" and d.question or d.head), rows = {d.head_row > 0 and d.head_row or d.row, d.row}, source = l.status == "blocked" and "program_status" or "screen"}
	end
end

local function screen_shows(what, row)
	return function(l) return {evidence = what, rows = {row and row(l) or math.max(l.floor, 1)}} end
end

local PANEL_FOOTER = "(?i)\\b(?:esc|enter|tab|↑/↓|←/→) to (?:cancel|close|go back|exit|continue|navigate|switch|return|dismiss|confirm|select|toggle|use|clear|filter|save)\\b"

local function on_panel(l) return l.panel and not l.prompt end

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
			{"the footer of the detailed transcript", function(l) return no_prompt(l) and l.last and contains(l.lines[l.last], "detailed transcript") end},
			{"a sign of a running turn", function(l) return l.status == "working" or l.title == "working" or match(l.lines[l.last], "^ *working") end},
		},
		make = function(l) return {evidence = "the detailed transcript of a running turn is shown", rows = {l.last}, source = l.status == "working" and "program_status" or l.title == "working" and "title" or "screen"} end,
	},
	{
		name = "detailed-transcript", state = "local_ui_screen", confidence = 0.8,
		needs = {{"the footer of the detailed transcript", function(l) return no_prompt(l) and l.last and contains(l.lines[l.last], "detailed transcript") end}},
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
		needs = {an_option_list, {"a question for the login method", function(l) return asks(l, "login method", "Login") or contains(lower(l.dialog.question), "log in") end}},
		make = shown("the program asks how to log in"),
	},
	{
		name = "enter-plan", state = "waiting_for_enter_plan_mode", confidence = 0.96,
		needs = {an_option_list, {"the question for plan mode", function(l) return asks(l, "Enter plan mode?") or option(l, "Yes, enter plan mode") end}},
		make = shown("the program asks to enter plan mode", true),
	},
	{
		name = "plan", state = "waiting_for_plan_approval", confidence = 0.96,
		needs = {
			an_option_list,
			{"a question whether to go on with a plan", function(l)
				return asks(l, "Would you like to proceed?", "Exit plan mode?", "Ready to code?") or option(l, "Yes, manually approve") or option(l, "Yes, and manually approve")
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
		needs = {an_option_list, {"the heading of the model picker", function(l) return match(l.dialog.head, "^Select %a* ?model") or match(l.dialog.head, "^Select model") or match(l.dialog.head, "^Switch %a* ?model") end}},
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
			{"the panel of settings", function(l) return not l.prompt and l.last and l.s:test("^ *Settings:? +Status +Config +Usage", l.floor + 1, l.floor + 3) end},
			{"figures of use", function(l) return l.s:test("(?i)^ *(?:(?:total|estimated) cost:|total duration|current (?:session|week)|/usage is only|loading usage|failed to load usage|\\d+% used)", l.floor + 2, l.last) end},
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
				return l.s:find("claude-prompt-", 1, 2) or l.s:find("claude-prompt-", #l.lines - 2) or l.s:find("ave and close editor to continue")
			end},
		},
		make = screen_shows("an editor shows the prompt's file", function(l) return l.last end),
	},
	{
		name = "offline", state = "error", confidence = 0.9,
		needs = {{"no prompt", function(l) return no_prompt(l) and l.last and not dialog(l) end}, {"the message that there is no connection", function(l)
			local row = l.s:find("Unable to connect to Anthropic services")
			l.offline = row
			return row
		end}},
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
				return l.s:find(" to ", from, l.last) and l.s:test(PANEL_FOOTER, from, l.last)
			end},
		},
		make = function(l) return {evidence = "in the place of the prompt stands a screen with keys of its own", rows = {l.last}} end,
	},
	{
		name = "command", state = "local_ui_screen", confidence = 0.65,
		needs = {
			{"no prompt", function(l) return no_prompt(l) and l.last end},
			{"what a command shows, right below it", function(l) return l.above and l.last > l.floor and match(l.lines[l.above], "^[❯>]+ /%a") end},
		},
		make = function(l) return {evidence = "in the place of the prompt stands what a command shows: " .. sub(l.lines[l.above], 1, 80), rows = {l.above}} end,
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
			{"nothing but the head of a session", function(l) return l.s:test("^(?:.{0,12}Claude Code v\\d|Welcome to Claude Code)", 1, 3) and l.last <= 14 end},
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
	explained[#explained + 1] = {name = rule.name, state = rule.state, confidence = rule.confidence, source = rule.source, needs = needs, make = rule.make}
end
for _, rule in ipairs(rules.at_prompt) do explain(rule) end
for i = 2, #rules.elsewhere do explain(rules.elsewhere[i]) end

-- said returns what the user said last, as it stands there, or "".
function rules.said(l) return l.echo and l.lines[l.echo] or "" end

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
		local message = l.s.status.message
		list[#list + 1] = {source = "program_status", says = message and message ~= "" and l.status .. ": " .. sub(message, 1, 500) or l.status}
	end
	return list
end

-- decide returns the state of a layout.
function rules.decide(l)
	local state = ptywright.decide(l.explain and explained or l.prompt and rules.at_prompt or rules.elsewhere, l)
	state.sources = sources(l)
	return state
end

return rules
