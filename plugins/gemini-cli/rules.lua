-- Which state a layout is. A box at the bottom decides first, since it takes the keys; then the title, whose glyph tells of a turn
-- (◇ none, ✦ one runs, ✋ it waits); then, where the title is set otherwise, the row above the input that says how to cancel.

local starts, match, trim, sub = string.starts_with, string.match, string.trim, string.sub

local REDRAW = 250 -- ms for a frame to be complete; it takes some 5, and 100 on a busy machine

local HEADLESS = 2000 -- ms until an input without a head counts, which settings may hide; it comes some 100 ms later, on a busy machine a second

local function a_box(l) return l.box end
local function a_choice(l) return l.dialog end
local function an_input(l) return l.prompt end

local function option(l, ...)
	for _, o in ipairs(l.dialog and l.dialog.options or {}) do
		for i = 1, select("#", ...) do
			if starts(o.label, (select(i, ...))) then return true end
		end
	end
	return false
end

-- holds looks for a text in the box.
local function holds(l, text) return l.box and l.s:find(text, l.top + 1, l.last) end

local function asking(evidence)
	return function(l)
		local d = l.dialog
		local about = d and d.question ~= "" and d.question or l.heading or ""
		return {evidence = evidence .. ": " .. about, rows = {d and d.question_row or l.heading_row, d and d.pointer and d.options[d.pointer].row}}
	end
end

-- working tells from which source it is known that a turn runs.
local function working(l)
	if l.title == "working" then return "title", "the title says so" end
	if not l.title and l.rule and l.s:test("^ [⠀-⣿] .*\\(esc to cancel, (?:\\d+[hms] ?)+\\)", math.max(1, l.rule - 3), l.rule - 1) then
		return "screen", "the row above the input says how to cancel"
	end
	return nil
end

local AT_REST = {ready = true, completed_turn = true, error = true}

-- early reports whether nothing but the start has been seen.
local function early(l)
	local p = l.s.previous
	return not l.said and (not p or p.state == "starting")
end

local rules = {
	{
		name = "ended", state = "unknown", confidence = 1, source = "exit",
		needs = {{"that the program has ended", function(l) return l.s.process_exited end}},
		make = function() return {evidence = "the program has ended"} end,
	},
	{
		name = "trust", state = "waiting_for_trust", confidence = 0.97,
		needs = {
			{"options with a pointer in a box at the bottom", a_choice},
			{"the question whether to trust a folder", function(l) return holds(l, "Do you trust the files in this folder?") end},
			{"an option to trust it", function(l) return option(l, "Trust folder") end},
		},
		make = asking("the program asks whether the folder is trusted"),
	},
	{
		name = "login", state = "waiting_for_login", confidence = 0.96,
		needs = {
			{"a box at the bottom", a_box},
			{"a question about how to log in", function(l)
				return holds(l, "How would you like to authenticate") or holds(l, "Enter Gemini API Key")
			end},
		},
		make = asking("the program asks how to log in"),
	},
	{
		name = "code", state = "waiting_for_login", confidence = 0.93,
		needs = {
			{"a question for a code in the last row", function(l) return l.last and l.s:test("^Enter the authorization code:", l.last) end},
			{"an address to get it from", function(l) return l.s:find("https://accounts.google.com/") end},
		},
		make = function(l) return {evidence = "the program asks for an authorization code", rows = {l.last}} end,
	},
	{
		name = "plan", state = "waiting_for_plan_approval", confidence = 0.95,
		needs = {
			{"options with a pointer in a box at the bottom", a_choice},
			{"an option to carry out a plan", function(l) return option(l, "Yes, automatically accept edits", "Yes, manually accept edits") end},
		},
		make = asking("the program asks whether to carry out its plan"),
	},
	{
		name = "permission", state = "waiting_for_permission", confidence = 0.96,
		needs = {
			{"options with a pointer in a box at the bottom", a_choice},
			{"an option to agree", function(l) return option(l, "Allow once", "Allow", "Yes") end},
			{"an option to refuse", function(l) return option(l, "No") end},
		},
		make = asking("the program asks for permission"),
	},
	{
		-- A question is drawn before there is room for its options, and then again.
		name = "laid-out", state = "thinking", confidence = 0.6,
		needs = {
			{"a question with more options than there is room for", function(l) return l.heading == "Answer Questions" and l.s:test("│ +[▲▼] +│$", l.top + 1, l.last) end},
			{"a screen that has just changed", function(l) return l.s.stable_ms < REDRAW end},
		},
		make = function(l) return {evidence = "a question is being drawn", rows = {l.heading_row}, recheck_ms = REDRAW, unclear = true} end,
	},
	{
		name = "question", state = "waiting_for_user_input", confidence = 0.95,
		needs = {
			{"a box at the bottom", a_box},
			{"keys that answer a question", function(l) return l.box and l.s:test("Enter to (?:select|submit)\\b.* Esc to cancel", l.top + 1, l.last) or l.heading == "Answer Questions" end},
		},
		make = asking("the program asks a question"),
	},
	{
		name = "model", state = "waiting_for_model_select", confidence = 0.96,
		needs = {
			{"a box at the bottom", a_box},
			{"the heading of the model picker", function(l) return l.heading and starts(l.heading, "Select Model") end},
		},
		make = asking("the model picker is open"),
	},
	{
		name = "choice", state = "waiting_for_user_input", confidence = 0.7,
		needs = {
			{"options with a pointer in a box at the bottom", a_choice},
			{"a title that says that action is required", function(l) return l.title == "blocked" end},
		},
		make = asking("the program wants a choice"),
	},
	{
		name = "panel", state = "local_ui_screen", confidence = 0.8,
		needs = {
			{"a box at the bottom", a_box},
			{"keys that leave it, or options", function(l) return l.dialog or l.box and l.s:test("(?i)\\besc\\b.* to (?:close|exit|cancel|go back)|press esc|esc to close", l.top + 1, l.last) end},
			{"that it is not about signing in", function(l) return not holds(l, "Waiting for authentication") end},
		},
		make = asking("a box of the program's own stands in the place of the input"),
	},
	{
		name = "blocked", state = "thinking", confidence = 0.6, source = "title",
		needs = {{"a title that says that action is required", function(l) return l.title == "blocked" and l.last end}},
		make = function(l) return {evidence = "the title says that action is required, but no dialog is drawn yet", rows = {l.last}, unclear = true} end,
	},
	{
		name = "working", state = "thinking", confidence = 0.95,
		needs = {{"a source that says that a turn runs", working}, {"something on the screen", function(l) return l.last end}},
		make = function(l)
			local source, says = working(l)
			return {evidence = says, source = source, rows = {l.rule}}
		end,
	},
	{
		name = "signing-in", state = "starting", confidence = 0.7,
		needs = {{"a box at the bottom", a_box}, {"a word about it", function(l) return holds(l, "Waiting for authentication") end}},
		make = function(l)
			local p = l.s.previous
			return {evidence = "the program waits for the sign-in to finish", state = p and p.state == "waiting_for_login" and p.state or nil, rows = {l.heading_row}}
		end,
	},
	{
		name = "first-frame", state = "starting", confidence = 0.7,
		needs = {
			{"that nothing was seen before", early},
			{"an input", an_input},
			{"nothing above it but notes, where the program's head has to come", function(l)
				if not l.rule then return false end
				local anew = l.s:find_last("Gemini CLI is restarting", 1, l.rule) or 0
				local top = l.s:match("\\S", anew + 1, l.rule - 2) -- the row above the rule has hints
				return l.rule > 2 and (not top or l.s:test("^[ℹ⚠]", top.row, top.row))
			end},
			{"a screen that has just changed", function(l) return l.s.stable_ms < HEADLESS end},
		},
		make = function(l) return {evidence = "the input is there before the program's head", rows = {l.prompt}, recheck_ms = HEADLESS} end,
	},
	{
		name = "loading", state = "starting", confidence = 0.75,
		needs = {
			{"that nothing was seen before", early},
			{"neither an input nor a box that is complete", function(l) return not l.prompt and not l.box end},
		},
		make = function(l) return {evidence = l.last and "the program has drawn no input yet" or "nothing has been drawn yet", rows = {l.last}} end,
	},
	{
		name = "restarting", state = "starting", confidence = 0.9,
		needs = {{"a word about it in the last row", function(l) return l.last and l.s:test("^ Gemini CLI is restarting", l.last) end}},
		make = function(l) return {evidence = "the program starts anew", rows = {l.last}} end,
	},
	{
		-- A frame is drawn in pieces, and each key press draws one.
		name = "drawing", state = "ready", confidence = 0.5,
		needs = {
			{"a title that says that no turn runs", function(l) return l.title == "idle" end},
			{"neither an input nor a box that is complete", function(l) return not l.prompt and not l.box end},
			{"that a moment ago there was an input", function(l)
				local p = l.s.previous
				return p and AT_REST[p.state] and l.s.stable_ms < REDRAW
			end},
		},
		make = function(l) return {state = l.s.previous.state, evidence = "the screen is being drawn anew; before that it was " .. l.s.previous.state, rows = {l.last}, recheck_ms = REDRAW, unclear = true} end,
	},
	{
		name = "typed", state = "ready", confidence = 0.93,
		needs = {{"an input", an_input}, {"text in it", function(l) return l.input ~= "" end}},
		make = function(l) return {evidence = "text stands in the input, and no turn runs", source = l.title and "title", rows = {l.prompt}} end,
	},
	{
		name = "command", state = "ready", confidence = 0.9,
		needs = {{"an input", an_input}, {"that the user ran a command last", function(l) return l.said and match(l.said, "^/%a") end}},
		make = function(l) return {evidence = "the user ran a command of the program, and no turn runs", source = l.title and "title", rows = {l.said_row}} end,
	},
	{
		name = "cancelled", state = "ready", confidence = 0.93,
		needs = {{"an input", an_input}, {"a note that the turn was cancelled", function(l) return l.cancelled end}},
		make = function(l) return {evidence = "the turn was cancelled", source = l.title and "title", rows = {l.cancelled}, ended = true} end,
	},
	{
		name = "failed", state = "error", confidence = 0.93,
		needs = {{"an input", an_input}, {"a row that says what went wrong, and no answer behind it", function(l) return l.fault and (not l.answer or l.answer < l.fault) end}},
		make = function(l) return {evidence = trim(sub(l.lines[l.fault], 4)), rows = {l.fault}, ended = true} end,
	},
	{
		name = "completed", state = "completed_turn", confidence = 0.93,
		needs = {{"an input", an_input}, {"an answer behind what the user said", function(l) return l.answer end}},
		make = function(l) return {evidence = "an answer, and no turn runs", source = l.title and "title", rows = {l.answer}, ended = true} end,
	},
	{
		name = "scrolled", state = "completed_turn", confidence = 0.8,
		needs = {
			{"an input", an_input},
			{"only rows above it that are indented, as an answer's are behind its first", function(l)
				l.above = l.rule and not l.said and not l.s:test("^\\S", 1, l.rule - 1) and l.s:match_last("\\S", 1, l.rule - 2)
				return l.above and l.s:test("^ {2,}[^\\s│╰▝▗]", l.above.row, l.above.row)
			end},
		},
		make = function(l) return {evidence = "an answer that is longer than the screen, and no turn runs", source = l.title and "title", rows = {l.above.row}, ended = true} end,
	},
	{
		name = "ready", state = "ready", confidence = 0.93,
		needs = {{"an input", an_input}},
		make = function(l) return {evidence = "the input is empty, and no turn runs", source = l.title and "title", rows = {l.prompt}} end,
	},
}

return rules
