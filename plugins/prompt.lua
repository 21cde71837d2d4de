-- What adapters of programs have in common that read lines behind a prompt: shells, interpreters, database clients. A line is typed,
-- seen behind the prompt, and submitted; its turn is over when the program asks for the next. A plugin has it by
-- require("ptywright.prompt").
--
-- prompt.plugin(program) makes a plugin of what is known about one sort of program:
--   read(s)                  the layout of a screen, see below
--   rules                    tried in order by ptywright.decide, on a layout
--   describe(l, metadata, state)  adds what else the screen tells
--   result(l)                what became of the last line, for who waited for it; may be nil
--   intents                  functions (params, l, state) by name
--   described                entries of describe for them
--   states                   {name, description} of each state
--   rest                     ms for which a prompt must have stood still to count, where it could be part of a program's output; a
--                            layout with sure set needs no rest
--
-- A layout has s, and where the program asks for a line:
--   asks     a prompt stands in the cursor's row, or in one above that the line goes on from
--   input    what is typed behind it, "" for nothing
--   more     it asks for the rest of a line that is not complete
--   sure     the program says so itself, and not only its screen

local prompt = {}

local action, matcher = ptywright.action, ptywright.matcher
local sub, gsub = string.sub, string.gsub

local ECHO = 5000 -- ms for a line to stand behind the prompt, and to be taken; it takes some 10, and a second on a busy machine
local STOP = 3000 -- ms for Ctrl-C to bring the prompt back; one that comes before the program has begun is lost
local MAX_LINES = 60 -- of one text: each is seen before the next is typed, and an intent has at most 256 actions

function prompt.refuse(code, message) error({code = code, message = message}) end
local refuse = prompt.refuse
local function yes(evidence, capture) return {matched = true, evidence = evidence, capture = capture} end
local function no(evidence) return {matched = false, evidence = evidence} end

-- squeezed is a text without the blanks and breaks that wrapping changes, and in small letters: fish shows what is typed in those of
-- the history's line that it suggests.
local function squeezed(text) return string.lower((gsub(gsub(text, "\194\160", ""), "%s", ""))) end

-- before is the cursor's row up to the cursor: behind it stand suggestions, which nobody has typed.
function prompt.before(s)
	local row = s:row(s.cursor_row) or ""
	if string.find(row, "[\128-\255]") then return row end -- its columns are not its bytes
	if s.cursor_col == s.cols and #row == s.cols then return row end -- it stands behind the last column
	return sub(row, 1, s.cursor_col - 1)
end

-- whole joins a row with those that it goes on in, up to the row last or to where it ends with a text, and returns the last that
-- it took. A line that fills its row seems to go on in what is below: the text tells where it ends.
function prompt.whole(s, i, last, wanted)
	local text = s:row(i)
	while i < last and s:full(i) and not (wanted and string.ends_with(squeezed(text), squeezed(wanted))) do
		i = i + 1
		text = text .. s:row(i)
	end
	return text, i
end

-- line returns what stands before the cursor in its row, and in those above that go on in it, down from row top if that is given,
-- and the first of them.
function prompt.line(s, top)
	local text, i = prompt.before(s), s.cursor_row
	while i > (top or 1) and s:full(i - 1) do
		i = i - 1
		text = s:row(i) .. text
	end
	return text, i
end

-- stands reports whether a text is what stands before the cursor, perhaps over several rows.
local function stands(s, text)
	local wanted = squeezed(text)
	local shown = squeezed(prompt.before(s))
	for i = s.cursor_row - 1, math.max(1, s.cursor_row - math.ceil(#text / s.cols) - 1), -1 do
		if #shown >= #wanted or not s:full(i) then break end
		shown = squeezed(s:row(i)) .. shown
	end
	return string.ends_with(shown, wanted)
end

-- lines splits a text into the lines to be typed. A tab would complete a word, so it becomes blanks.
function prompt.lines(text, name)
	if type(text) ~= "string" or string.trim(text) == "" then refuse("bad_params", "give " .. name .. ", a text") end
	text = gsub(gsub(gsub(text, "\r\n?", "\n"), "\n+$", ""), "\t", "    ")
	if re.test(text, "[\\x00-\\x09\\x0b-\\x1f\\x7f]") then refuse("bad_params", name .. " holds a control character: press a key instead") end
	local list = string.split(text, "\n")
	if #list > MAX_LINES then refuse("bad_params", name .. " has " .. #list .. " lines, at most " .. MAX_LINES .. " are typed: put it into a file") end
	return list
end

-- typing returns what types lines: each is seen behind its prompt, submitted, and followed when the program asks for the next.
function prompt.typing(list)
	local actions = {action.mark_transcript("turn_start")}
	for i, line in ipairs(list) do
		if line ~= "" then actions[#actions + 1] = action.text(line) end
		if i < #list then
			if line ~= "" then actions[#actions + 1] = action.expect(matcher.predicate("line_holds", {text = line}), ECHO) end
			actions[#actions + 1] = action.key("enter")
			actions[#actions + 1] = action.expect(matcher.predicate("asks"), ECHO)
		end
	end
	local last = list[#list]
	local holds = last ~= "" and matcher.predicate("line_holds", {text = last}) or nil
	return {
		actions = actions, last_intent = "line_submitted",
		submission = {
			echo = holds, submit = {action.key("enter")},
			done = matcher.any({matcher.predicate("line_taken", {text = last}), matcher.process_exited()}), timeout_ms = ECHO,
		},
	}
end

-- interrupting returns what presses Ctrl-C until the program asks again: once more only while it does not.
function prompt.interrupting()
	return {actions = {}, last_intent = "", submission = {
		submit = {action.interrupt()}, done = matcher.any({matcher.predicate("asks"), matcher.process_exited()}),
		retry_when = matcher.predicate("busy"), retries = 2, timeout_ms = STOP,
	}}
end

-- asking refuses what needs a prompt with nothing behind it; rest says that what is typed is the rest of a line.
function prompt.asking(l, state, rest)
	if not l.asks then refuse("wrong_state", "no prompt asks for a line: the state is " .. state.state .. " (" .. state.evidence .. ")") end
	if l.input ~= "" then refuse("input_not_empty", "the input shows " .. string.format("%q", sub(l.input, 1, 60)) .. ": clear it first") end
	if l.more and not rest then refuse("wrong_state", "a line that is not complete stands there: finish it with rest = true, or interrupt it") end
	if rest and not l.more then refuse("wrong_state", "no line that is not complete stands there") end
end

-- between returns the rows from one to another, wrapped ones joined, without the blank ones at their end.
function prompt.between(s, from, to)
	local parts = {}
	for i = from, to do
		local row = s:row(i)
		parts[#parts + 1] = row
		parts[#parts + 1] = s:full(i) and "" or "\n"
	end
	return (gsub(table.concat(parts), "\n+$", ""))
end

local program

local function look(s)
	local l = program.read(s)
	l.s = s
	l.explain, l.hits = s.explain, function() return s:hits() end
	return l, ptywright.decide(program.rules, l)
end

local function classify(s)
	local l, state = look(s)
	state.metadata = state.metadata or {}
	program.describe(l, state.metadata, state)
	return state
end

local predicates = {}

function predicates.line_holds(s)
	if stands(s, s.params.text) then return yes("the line stands behind the prompt") end
	return no("the cursor's row shows " .. string.format("%q", sub(prompt.before(s), -80)))
end

-- line_taken holds when the line does not stand before the cursor any more: the program has gone to the next row.
function predicates.line_taken(s)
	if s.params.text ~= "" and stands(s, s.params.text) then return no("the line still stands behind the prompt") end
	return yes("the line was taken")
end

-- asks holds when there is a prompt with nothing behind it, of a line that goes on too.
function predicates.asks(s)
	local l, state = look(s)
	if l.asks and l.input == "" then return yes(state.state .. ": " .. state.evidence) end
	return no(state.state .. ": " .. state.evidence)
end

-- busy holds when the program does not ask.
function predicates.busy(s)
	local l, state = look(s)
	if l.asks then return no(state.state .. ": " .. state.evidence) end
	return yes(state.state .. ": " .. state.evidence)
end

-- turn_over holds when the program asks again. What only looks like a prompt has to stand still for a moment, and so does the prompt of a
-- program that has been interrupted or has just begun: it may be drawn twice.
function predicates.turn_over(s)
	local l, state = look(s)
	if not l.asks or l.input ~= "" then return no(state.state .. ": " .. state.evidence) end
	if not (l.sure and s.last_intent) and s.stable_ms < program.rest then return no("a prompt stands there, but the screen has not come to rest") end
	return yes(state.state .. ": " .. state.evidence, program.result and program.result(l) or nil)
end

local matchers = {}
function matchers.wait_turn_matcher() return matcher.any({matcher.predicate("turn_over"), matcher.process_exited()}) end
matchers.wait_ready_matcher = matchers.wait_turn_matcher

-- plugin returns the functions of a plugin for a program.
function prompt.plugin(p)
	program = p
	local described = {
		intents = p.described, states = p.states, predicates = {{name = "line_holds"}, {name = "line_taken"}, {name = "asks"}, {name = "busy"}, {name = "turn_over"}},
		wait_matchers = {
			{name = "wait_turn_matcher", description = "The program asks for a line again; the capture tells what became of the last one."},
			{name = "wait_ready_matcher", description = "The same."},
		},
	}
	local plugin = {classify = classify, describe = function() return described end}
	for name, f in pairs(p.intents) do
		plugin[name] = function(params, s)
			local l, state = look(s)
			return f(params, l, state)
		end
	end
	for _, functions in ipairs({predicates, matchers}) do
		for name, f in pairs(functions) do plugin[name] = f end
	end
	return plugin
end

return prompt
