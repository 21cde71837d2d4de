-- The adapter of interpreters that read lines behind a prompt: Python, Node.js, SQLite and psql, told apart by their prompts.
-- dialects.lua has what each of them draws.

local prompt = require("ptywright.prompt")
local dialects = require("dialects")

local action, matcher = ptywright.action, ptywright.matcher
local trim = string.trim

local ROWS = 200 -- rows above a prompt in which the line that it answers is looked for: a large screen

-- asked returns what a row asks, and what is typed behind it: {dialect, more, input}, nil for a row without a prompt.
local function asked(row, dialect)
	for _, d in ipairs(dialects) do
		if not dialect or d == dialect then
			local input = re.match(row, d.prompt)
			if input ~= nil then return d, false, input or "" end
			input = re.match(row, d.more)
			if input ~= nil then return d, true, input or "" end
		end
	end
	return nil
end

-- The dialect that the prompt before this one was of: a continuation's prompt alone may be anybody's.
local known

-- What eval typed last: at, the row of its prompt, counted from the first line ever; lines; ended, the row of the prompt behind its output.
local typed

-- Whether this program has asked with a line editor of its own. Then what looks like its prompt while the terminal edits lines was printed
-- by what runs.
local edits

local function here(s, row) return s.scrolled + row end

local function squeezed(text) return (string.gsub(text, "%s", "")) end

-- answered returns the row in which the last statement begins of what eval typed, and how many rows it was typed in. What it printed may
-- look like a prompt, so each line counts only where it stands first. nil when one of them is not there.
local function answered(s, d, l)
	local n, start, rows = 1, nil, 0
	local i = typed.at - s.scrolled
	if i < 1 then return nil end
	while i < l.row do
		local text, last = prompt.whole(s, i, l.row - 1)
		local above, rest, input = asked(text, d)
		if above and squeezed(input) == squeezed(typed.lines[n]) then
			if not rest then start, rows = i, 0 end
			n, rows = n + 1, rows + 1
			if n > #typed.lines then return start, rows end
		end
		i = last + 1
	end
	return nil
end

local function read(s)
	local l = {input = "", asks = false}
	if s.process_exited then return l end
	local before, row = prompt.line(s)
	local d, more, input = asked(before, known)
	-- What runs may ask something itself, like another interpreter: input("> ") does.
	if not d and known and not (typed and not typed.ended) then d, more, input = asked(before) end
	if not d or more and not known then return l end
	if s.reads_keys then edits = true elseif edits then return l end
	if not more then known = d end
	l.dialect, l.more, l.row, l.asks = d, more, row, true
	l.input = trim(input)
	if more then return l end
	-- What stands above, up to the line that was entered last.
	local at, rows
	if typed and typed.ended and typed.ended ~= here(s, l.row) then typed = nil end -- somebody has entered another line since
	if typed and typed.at < here(s, l.row) then
		at, rows = answered(s, d, l)
		if at and l.input == "" then typed.ended = here(s, l.row) end
		l.unsure = not at
	end
	for i = at and 0 or l.row - 1, math.max(1, l.row - ROWS), -1 do
		local above, rest = asked(s:row(i), d)
		if above and not rest then
			at = i
			break
		end
	end
	if not at then return l end
	l.entered = {}
	while at < l.row and #l.entered < (rows or l.row) do
		local text, last = prompt.whole(s, at, l.row - 1)
		local above, rest, input = asked(text, d)
		if not above or not rest and #l.entered > 0 then break end
		l.entered[#l.entered + 1] = input
		at = last + 1
	end
	l.output_row = at
	l.output = string.gsub(prompt.between(s, at, l.row - 1), "^%^C\n?", "")
	l.fault = l.output ~= "" and d.fault(string.split(l.output, "\n")) or nil
	return l
end

local function asks(l) return l.asks end
local function nothing_typed(l) return l.asks and l.input == "" end

local rules = {
	{name = "ended", state = "ended", needs = {{"that the program has ended", function(l) return l.s.process_exited end}}},
	{name = "more", state = "continuation", confidence = 0.95, needs = {
		{"a prompt that asks for the rest", function(l) return l.more end},
	}, make = function(l) return {evidence = l.dialect.name .. " asks for the rest", rows = {l.row}} end},
	{name = "line", state = "typing", needs = {
		{"a prompt in the cursor's row", asks},
		{"something typed behind it", function(l) return l.input ~= "" end},
	}, make = function(l) return {evidence = "a line is being typed", rows = {l.row}} end},
	{name = "fault", state = "error", confidence = 0.95, needs = {
		{"a prompt in the cursor's row", asks},
		{"an error in what the last line printed", function(l) return l.fault end},
	}, make = function(l) return {evidence = l.fault.message, rows = {l.output_row, l.row}} end},
	{name = "prompt", state = "ready", confidence = 0.95, needs = {
		{"a prompt in the cursor's row", asks},
		{"nothing typed behind it", nothing_typed},
	}, make = function(l) return {evidence = l.dialect.name .. " asks for a line", rows = {l.row}} end},
	{name = "first", state = "starting", needs = {
		{"that no prompt has been seen", function(l) return not known end},
	}},
	{name = "output", state = "running", confidence = 0.8, needs = {
		{"that a prompt has been seen, and none is in the cursor's row", function(l) return known and not l.asks end},
	}, make = function(l) return {evidence = known.name .. " does not ask for a line", rows = {l.s.cursor_row}} end},
}

local function describe(l, metadata, state)
	metadata.dialect = known and known.name or nil
	if state.state == "typing" then metadata.input = l.input end
	if l.entered and (state.state == "ready" or state.state == "error") then
		metadata.input, metadata.output, metadata.error = table.concat(l.entered, "\n"), l.output, l.fault
	elseif state.state == "ready" and l.s.last_intent == "line_submitted" then
		metadata.incomplete = true -- what was entered has scrolled away
	end
end

local function result(l)
	if l.more then return {dialect = l.dialect.name, continuation = true} end
	-- What was entered has scrolled away: the output on the screen is its end.
	return {
		dialect = l.dialect.name, output = l.output or prompt.between(l.s, 1, l.row - 1), error = l.fault,
		complete = not l.unsure and (l.entered ~= nil or l.s.last_intent ~= "line_submitted"),
	}
end

local intents = {}

-- eval types code, a line at a time. An indented block of Python ends with an empty line, which is added; a blank line within one
-- would end it too early, and is left out.
function intents.eval(params, l, state)
	prompt.asking(l, state, params.rest)
	local list = prompt.lines(params.code, "code")
	if l.dialect.indents and #list > 1 and not params.rest then
		local kept = {}
		for i, line in ipairs(list) do
			if trim(line) ~= "" then
				local indented = string.find(line, "^%s")
				if not indented and #kept > 0 and string.find(kept[#kept], "^%s") and not re.test(line, "^(?:else|elif|except|finally)\\b") then
					kept[#kept + 1] = ""
				end
				kept[#kept + 1] = line
			end
		end
		if string.find(kept[#kept], "^%s") then kept[#kept + 1] = "" end
		list = kept
	end
	if params.rest and typed then
		for _, line in ipairs(list) do table.insert(typed.lines, line) end
	else
		typed = {at = here(l.s, l.row), lines = {unpack(list)}}
	end
	return prompt.typing(list)
end

-- interrupt ends what runs, or throws away what is typed.
function intents.interrupt(params, l, state)
	if state.state == "ended" then prompt.refuse("wrong_state", "the program has ended") end
	if l.dialect == dialects.sqlite and l.asks then
		prompt.refuse("wrong_state", "SQLite does not throw away what is typed: finish it with eval and rest = true, and a semicolon")
	end
	typed = nil
	return prompt.interrupting()
end

-- exit leaves the interpreter by its own word.
function intents.exit(params, l, state)
	prompt.asking(l, state)
	local leave = l.dialect.leave
	return {actions = {action.text(leave)}, submission = {
		echo = matcher.predicate("line_holds", {text = leave}), submit = {action.key("enter")}, done = matcher.process_exited(), timeout_ms = 10000,
	}}
end

-- How long a prompt must have stood still to count, in ms: Python writes what it prints word by word, so that print(">>>", 1) shows a
-- prompt for as long as a busy machine keeps the processor from it: over 150 ms were seen. Where a line editor asks, the terminal's mode
-- tells the two apart; elsewhere only this does. More makes each eval longer.
local REST = 150

return prompt.plugin({
	read = read, rules = rules, describe = describe, result = result, intents = intents, rest = REST,
	described = {
		{
			name = "eval", description = "Types code and submits it; wait_turn_matcher's capture has output and error.",
			params_schema = {type = "object", properties = {code = {type = "string"}, rest = {type = "boolean", description = "it is the rest of what was entered"}}, required = {"code"}},
		},
		{name = "interrupt", description = "Ends what runs, or throws away what is typed, as Ctrl-C does.", during_turn = true},
		{name = "exit", description = "Leaves the interpreter."},
	},
	states = {
		{name = "starting", description = "No prompt has been seen yet."},
		{name = "ready", description = "The prompt asks for a line; metadata.input and output are those of the last one."},
		{name = "typing", description = "Text stands behind the prompt; see metadata.input."},
		{name = "continuation", description = "The prompt asks for the rest of what was entered."},
		{name = "running", description = "What was entered runs."},
		{name = "error", description = "What was entered failed; see metadata.error. The prompt asks for a line."},
		{name = "ended", description = "The program has ended."},
	},
})
