-- Which state a layout is. What stands in the place of the input decides first, since that takes the keys; then what the program
-- has reported in-band (OSC 7501, which Codex sends unasked); then the title; then the conversation. A source that is not there
-- is passed over, so each suffices alone.

local contains, starts, match, trim, sub = string.contains, string.starts_with, string.match, string.trim, string.sub

local DRAWN = 300 -- ms after a report until its row is on the screen; it takes some 10

local function on(evidence, ...)
	local rows = {...}
	return function(l)
		local list = {}
		for i, name in ipairs(rows) do list[i] = l[name] end
		return {evidence = evidence, rows = list}
	end
end

local function no_input(l) return l.last and not l.prompt end
local function a_menu(l) return l.dialog and l.keys end

-- asking makes the state of a pane with options.
local function asking(evidence)
	return function(l)
		local d = l.dialog
		return {evidence = evidence .. ": " .. d.heading, rows = {d.heading_row, d.options[d.pointer].row}}
	end
end

local function option(l, ...)
	for _, o in ipairs(l.dialog and l.dialog.options or {}) do
		for i = 1, select("#", ...) do
			if starts(o.label, (select(i, ...))) then return true end
		end
	end
	return false
end

-- working tells from which source it is known that a turn runs. The row with the spinner stands right above the input, and
-- only there: a quotation of it is followed by the rest of the text that quotes it.
local function working(l)
	if l.status then
		if l.status == "working" then return "program_status", "the program reports working" end
		return nil
	end
	if l.title == "working" then return "title", "a spinner turns in the title" end
	if l.block and not l.worked and not l.fault and l.s:test("^• .*\\((?:\\d+[hms] ?)+ ?• esc to interrupt\\)", l.block, l.block) then
		return "screen", "the row above the input says how to interrupt"
	end
	return nil
end

-- The session's head, above which nothing has been said, and a footer that names no model yet.
local function head(l) return not l.said and l.s:find(">_ OpenAI Codex (v", 1, 8) end -- warnings may stand above it

local rules = {
	{
		name = "ended", state = "unknown", confidence = 1, source = "exit",
		needs = {{"that the program has ended", function(l) return l.s.process_exited end}},
		make = function() return {evidence = "the program has ended"} end,
	},
	{
		name = "blank", state = "starting", confidence = 0.6,
		needs = {
			{"a blank screen", function(l) return not l.last end},
			{"nothing seen before", function(l) return not l.s.previous or l.s.previous.state == "starting" end},
		},
		make = function() return {evidence = "nothing has been drawn yet"} end,
	},
	{
		name = "trust", state = "waiting_for_trust", confidence = 0.97,
		needs = {
			{"options with a pointer and a footer of keys", a_menu},
			{"the question whether to trust a folder", function(l)
				return l.dialog and l.s:test("^ {2}(?:Trust this folder\\?|Do you trust the contents of this directory)|^ {2}Folder access$|^> You are (?:in|running Codex in) ", 1, l.dialog.first - 1)
			end},
			{"an option to trust it", function(l) return option(l, "Trust and continue", "Yes, continue", "Yes, allow Codex", "Open restricted") end},
		},
		make = asking("the program asks whether the folder is trusted"),
	},
	{
		name = "login", state = "waiting_for_login", confidence = 0.96,
		needs = {
			{"no input", no_input},
			{"the page that welcomes", function(l)
				l.welcome = l.s:match("^ {2}Welcome to Codex\\b")
				l.welcome = l.welcome and l.welcome.row
				return l.welcome
			end},
			{"a key that goes on or back below it", function(l) return l.welcome and l.s:test("^ {2}Press (?:enter|esc) to ", l.welcome) end},
			{"a way to sign in", function(l)
				return l.welcome and l.s:test("(?i)\\bsign(?:ing|ed)? in\\b|\\bapi key\\b|device code|one-time code", l.welcome)
			end},
		},
		make = on("the program asks how to sign in", "welcome"),
	},
	{
		name = "question", state = "waiting_for_user_input", confidence = 0.96,
		needs = {
			{"no input, and a footer of keys", function(l) return no_input(l) and l.keys end},
			{"a numbered question", function(l) return l.keys and l.s:test("^ +Question \\d+/\\d+", 1, l.keys - 1) end},
			{"a key that submits an answer", function(l) return l.keys and l.s:test("enter to submit", l.keys - 2, l.keys) end},
		},
		make = on("the program asks a question", "keys"),
	},
	{
		name = "model", state = "waiting_for_model_select", confidence = 0.96,
		needs = {
			{"options with a pointer and a footer of keys", a_menu},
			{"the heading of the model picker", function(l) return l.dialog and (starts(l.dialog.heading, "Select Model") or starts(l.dialog.heading, "Select Reasoning Level")) end},
		},
		make = asking("the model picker is open"),
	},
	{
		name = "permission", state = "waiting_for_permission", confidence = 0.96,
		needs = {
			{"options with a pointer and a footer of keys", a_menu},
			{"an option to agree", function(l) return option(l, "Yes", "Allow", "Accept", "Approve") end},
			{"an option to refuse, or more than the screen has room for", function(l) return option(l, "No", "Cancel", "Decline", "Deny") or a_menu(l) and l.s:find("↓", l.dialog.first, l.keys) end},
			{"a question whether to allow it", function(l)
				local h = l.dialog and l.dialog.heading or ""
				return starts(h, "Would you like to ") or starts(h, "Do you want to ") or contains(h, "needs your approval") or l.status == "blocked" or l.title == "blocked"
			end},
		},
		make = asking("the program asks for permission"),
	},
	{
		name = "list", state = "local_ui_screen", confidence = 0.8,
		needs = {{"options with a pointer and a footer of keys", a_menu}},
		make = asking("a list stands in the place of the input"),
	},
	{
		name = "panel", state = "local_ui_screen", confidence = 0.75,
		needs = {{"no input, and a footer of keys", function(l) return no_input(l) and l.keys end}},
		make = on("a pane with keys of its own stands in the place of the input", "keys"),
	},
	{
		name = "browsing", state = "local_ui_screen", confidence = 0.9,
		needs = {
			{"an input", function(l) return l.prompt end},
			{"a footer for reading back", function(l) return l.prompt and l.s:test("^ {2}Browsing\\b", l.prompt) end},
		},
		make = on("the keys scroll the conversation", "last"),
	},
	{
		name = "queued", state = "starting", confidence = 0.9,
		needs = {{"an input that has been submitted and waits", function(l) return l.queued end}},
		make = function(l) return {evidence = trim(l.lines[l.last]) .. ": the prompt is sent when the session is set up", rows = {l.prompt, l.last}} end,
	},
	{
		name = "loading", state = "starting", confidence = 0.8,
		needs = {
			{"the session's head, and nothing said", head},
			{"an input", function(l) return l.prompt end},
			{"no model named below it, or a spinner before anything was said", function(l)
				if l.prompt and l.s:test("^│ model: +loading ", 1, l.prompt) then return true end -- until 0.150
				return working(l) and not l.sent or not l.status and not l.title and l.footer and l.footer == l.last and trim(l.lines[l.last]) == "? for shortcuts"
			end},
		},
		make = on("the session is being set up", "prompt", "last"),
	},
	{
		name = "blocked", state = "thinking", confidence = 0.6,
		needs = {{"a source that says that the program waits for an answer", function(l) return l.last and (l.status == "blocked" or not l.status and l.title == "blocked") end}},
		make = function(l)
			return {evidence = "the program says that it waits for an answer, but its dialog is not drawn yet", source = l.status and "program_status" or "title", rows = {l.last}, unclear = true}
		end,
	},
	{
		name = "working", state = "thinking", confidence = 0.95,
		needs = {
			{"a source that says that a turn runs", working},
			{"something on the screen", function(l) return l.last end},
		},
		make = function(l)
			local source, says = working(l)
			return {evidence = says, source = source, rows = {l.block or l.prompt or l.last}}
		end,
	},
	{
		-- The report comes some milliseconds before the row that tells the same.
		name = "settling", state = "thinking", confidence = 0.7, source = "program_status",
		needs = {
			{"an input", function(l) return l.prompt end},
			{"a report that the turn has ended", function(l) return l.status == "done" and not l.worked or l.status == "error" and not l.fault end},
			{"a screen that has just changed", function(l) return l.s.stable_ms < DRAWN end},
		},
		make = function(l) return {evidence = "the program reports " .. l.status .. ", but the end of the turn is not on the screen yet", rows = {l.prompt}, recheck_ms = DRAWN} end,
	},
	{
		name = "failed", state = "error", confidence = 0.93,
		needs = {
			{"an input", function(l) return l.prompt end},
			{"a report or a row that says so", function(l)
				if l.status then return l.status == "error" end
				return l.prompt and l.fault and l.input == "" and not starts(l.lines[l.fault], "■ Conversation interrupted")
			end},
		},
		make = function(l)
			return {evidence = l.fault and trim(sub(l.lines[l.fault], 4)) or "the program reports an error", rows = {l.fault}, source = l.status and "program_status", ended = true}
		end,
	},
	{
		name = "completed", state = "completed_turn", confidence = 0.95,
		needs = {
			{"an input", function(l) return l.prompt end},
			{"a report or a row that says that the turn is done", function(l)
				if l.status then return l.status == "done" end
				return l.worked and l.input == ""
			end},
		},
		make = function(l)
			return {evidence = l.worked and trim(l.lines[l.worked]) or "the program reports that it is done", rows = {l.worked}, source = l.status and "program_status", ended = true}
		end,
	},
	{
		name = "interrupted", state = "ready", confidence = 0.93,
		needs = {
			{"an input", function(l) return l.prompt end},
			{"a row that says that the turn was ended", function(l) return l.fault and starts(l.lines[l.fault], "■ Conversation interrupted") end},
		},
		make = function(l) return {evidence = "the turn was interrupted", rows = {l.fault}, source = l.status and "program_status", ended = true} end,
	},
	{
		name = "ready", state = "ready", confidence = 0.93,
		needs = {
			{"an input", function(l) return l.prompt end},
			{"a source that says that no turn runs, or nothing said that could have begun one", function(l) return l.status or l.title or l.worked or l.fault or not l.said end},
		},
		make = function(l)
			return {
				evidence = l.input ~= "" and "text stands in the input, and no turn runs" or "the input is empty, and no turn runs",
				source = l.status and "program_status" or l.title and "title", rows = {l.prompt},
			}
		end,
	},
}

return rules
