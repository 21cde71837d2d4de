-- The adapter of shells. A shell that marks its commands (OSC 133, OSC 633), as bash, zsh and fish are made to, says itself when it
-- asks for a line, what ran and how it ended. Of another one only the screen is known: a row that ends with the sign of a prompt,
-- with the cursor behind it. metadata.source says which it was.

local prompt = require("ptywright.prompt")

local action, matcher = ptywright.action, ptywright.matcher
local sub, trim = string.sub, string.trim

local ROWS = 200 -- above a prompt, in which the line that it answers is looked for: a large screen

-- SIGN ends a prompt. What is typed behind it is not known until the prompt has been seen with nothing behind it.
local SIGN = "[$#%>❯»λ➜] ?$"
-- MORE is the prompt of a line that is not complete: PS2 of bash and dash, and zsh's, which names what is open.
local MORE = "^(?:[a-z]+ )*[a-z]*>$"
local SECRET = "(?i)(?:password|passphrase|passcode|PIN)\\b[^:]*: ?$"

-- The prompt that was seen last, and the command that was typed by an intent, with "; echo" for its exit code where that was asked.
local known
local sent
-- How the rows begin in which the line before the output went on: an expression, nil when it did not.
local went_on

-- strip takes the blanks off a text's end.
local function strip(text) return (string.gsub(text, "%s+$", "")) end

-- line_of returns what a row holds behind the known prompt, nil when it does not begin with it.
local function line_of(row)
	if known and known ~= "" and sub(row, 1, #known) == known then return sub(row, #known + 1) end
	return nil
end

-- The line that the output of now belongs to: at, its row, counted from the first line ever; prompt, what stood before it; block, the
-- number of the block before it; lines, those that an intent typed, nil for a line of somebody else.
local anchor
-- The prompt behind output that has no line feed at its end, and its row, counted likewise.
local standing

local function squeezed(text) return (string.gsub(text, "%s", "")) end

local function here(s, row) return s.scrolled + row end

local function newest(s) return s.block and s.block.number or 0 end

-- follow takes what was typed by an intent at a prompt; rest goes on with the line before.
local function follow(l, list, rest)
	if rest and anchor and anchor.lines then
		for _, line in ipairs(list) do table.insert(anchor.lines, line) end
	else
		anchor = {at = here(l.s, l.row), prompt = l.prompt or known or "", block = newest(l.s), lines = list}
	end
end

-- holds reports whether the anchor's line still stands in a row: rows move when the terminal gets another width.
local function holds(row)
	if sub(row, 1, #anchor.prompt) ~= anchor.prompt then return false end
	local line = squeezed(sub(row, #anchor.prompt + 1))
	return line ~= "" and (not anchor.lines or line == squeezed(anchor.lines[1]))
end

-- take notes a row as that of the line, last as its end, and what stands below as its output.
local function take(l, s, line, last)
	if anchor and anchor.lines then -- those that were typed behind it, each where it stands first
		for n = 2, #anchor.lines do
			local wanted = squeezed(anchor.lines[n])
			for i = last + 1, wanted == "" and last or l.row - 1 do
				local row, to = prompt.whole(s, i, l.row - 1)
				if string.ends_with(squeezed(row), wanted) and (line_of(row) or re.test(row, "^(?:(?:[a-z]+ )*[a-z]*> | )")) then
					last = to
					break
				end
			end
		end
	else
		while went_on and last + 1 < l.row and re.test(s:row(last + 1), went_on) do last = last + 1 end
	end
	l.entered, l.output_row = trim(line), last + 1
	l.output = prompt.between(s, last + 1, l.row - 1)
	if l.lead then l.output = (l.output == "" and "" or l.output .. "\n") .. l.lead end
end

-- answer finds the line that was entered last above a prompt, and what it printed: between the shell's own marks, else below the row
-- in which it was typed. What only looks like that row may be output: then whole is false.
local function answer(l, s)
	local block = l.sure and s.block
	if block and block.number > (anchor and anchor.block or 0) then
		l.entered, l.whole = trim(block.command or l.ran or ""), block.screen_whole
		local at = anchor and anchor.at - s.scrolled or 0
		if at >= 1 and at < l.row and not anchor.lines then -- as it was typed, when it still stands there
			local row = prompt.whole(s, at, l.row - 1)
			if holds(row) then l.entered = trim(sub(row, #anchor.prompt + 1)) end
		end
		l.output = string.gsub(strip(block.screen_text), "\n?%++ __ptywright_[^\n]*.*$", "") -- of set -x
		return
	end
	local i = anchor and anchor.at - s.scrolled
	if i and i < 1 then return end
	if i and i < l.row then
		local row, last = prompt.whole(s, i, l.row - 1, anchor.lines and anchor.lines[1])
		if holds(row) then
			take(l, s, sub(row, #anchor.prompt + 1), last)
			l.whole = not l.lead
			return
		end
	end
	for i = l.row - 1, math.max(1, l.row - ROWS), -1 do
		local row, last = prompt.whole(s, i, l.row - 1)
		local line = line_of(row)
		-- Another folder may be in the prompt since: the command tells.
		if not line and l.ran and l.ran ~= "" and string.ends_with(row, " " .. l.ran) then line = l.ran end
		if line and trim(line) ~= "" then return take(l, s, line, last) end
	end
end

-- goes_on reports whether a row goes on with a line above it: fish indents what comes after a line that is not complete.
local function goes_on(s, row)
	for i = row - 1, math.max(1, row - 20), -1 do
		local line = line_of(s:row(i))
		if line then return trim(line) ~= "" end
		if sub(s:row(i), 1, 1) ~= " " then return false end
	end
	return false
end

-- below returns the line of the cursor without the one that has run, which seems to go on in it when it fills its row.
local function below(l, s, text, row)
	if not anchor or here(s, row) ~= anchor.at or row == s.cursor_row then return text, row end
	local ran
	if not l.sure then
		ran = anchor.lines and anchor.lines[#anchor.lines]
	elseif newest(s) > anchor.block then
		ran = s.block.command
	end
	if not ran then return text, row end
	local above, last = prompt.whole(s, row, s.cursor_row - 1, ran)
	if not string.ends_with(squeezed(above), squeezed(ran)) then return text, row end
	return prompt.line(s, last + 1)
end

local function read(s)
	local l = {input = "", asks = false}
	if s.process_exited or s.alternate_screen then return l end
	-- Marks in the output of a shell that was not made to mark are anybody's.
	local marks = s.shell_marked and s.shell or nil
	l.phase = marks and marks.phase
	if l.phase == "" then l.phase = nil end
	l.sure = l.phase ~= nil
	local text, row = below(l, s, prompt.line(s))
	local shown = strip(text)
	if l.phase and l.phase ~= "input" then return l end
	if re.test(shown, SECRET) then
		l.secret = true
		return l
	end
	if l.phase and s.cursor_col > 1 and re.test(text, "^(?: |$)") and goes_on(s, row) then
		l.asks, l.more, l.row, l.input = true, true, row, trim(text)
		went_on = "^ "
		return l
	end
	if shown == "" then return l end
	local at = here(s, row)
	local line
	if standing and standing.at == at and sub(text, 1, #standing.prompt) == standing.prompt then
		line, l.lead, l.prompt = sub(text, #standing.prompt + 1), standing.lead, standing.prompt
	else
		line = line_of(text)
	end
	if not line and shown ~= known and known and re.test(shown, MORE) then
		l.asks, l.more, l.row = true, true, row
		went_on = "^(?:[a-z]+ )*[a-z]*> "
		return l
	end
	if not line then
		if not l.phase and not re.test(text, SIGN) then
			if shown == known then line = "" else return l end
		end
		-- Output without a line feed at its end, or another prompt, which then is there again for a line that was typed behind it.
		if known and known ~= "" and shown ~= known and string.ends_with(shown, known) and not (anchor and anchor.prompt == shown) then
			local lead = sub(shown, 1, #shown - #known)
			standing = {at = at, prompt = shown, lead = lead}
			l.lead, l.prompt = lead, shown
		else
			known = shown
		end
		line = ""
	end
	l.asks, l.row, l.input = true, row, trim(line)
	if l.input ~= "" then
		went_on = nil
		-- While an intent's command may run, what looks like a typed line may be its output.
		if not (anchor and anchor.lines and (not anchor.over or anchor.at == at)) then
			anchor, sent = {at = at, prompt = l.prompt or known, block = newest(s)}, nil
		end
	end
	l.ran = marks and marks.command or sent and sent.command
	answer(l, s)
	if l.sure then
		l.exit_code, l.exit_source = marks.exit_code, marks.exit_code and "marks"
	elseif l.output and sent and sent.asked then
		local output, code = string.match(l.output, "^(.-)\n?%[exit (%d+)%]$")
		if code then l.output, l.exit_code, l.exit_source = output, tonumber(code), "echo" end
	end
	return l
end

local rules = {
	{name = "ended", state = "ended", needs = {{"that the shell has ended", function(l) return l.s.process_exited end}}},
	{name = "screen", state = "full_screen", needs = {{"the alternate screen", function(l) return l.s.alternate_screen end}}, make = function()
		return {evidence = "a program has the whole screen", source = "modes"}
	end},
	{name = "secret", state = "waiting_for_secret", needs = {{"a question for a password in the cursor's row", function(l) return l.secret or l.phase == "running" and re.test(prompt.before(l.s), SECRET) end}},
		make = function(l) return {evidence = trim(prompt.before(l.s)), rows = {l.s.cursor_row}} end},
	{name = "more", state = "continuation", needs = {{"a prompt for the rest of a line", function(l) return l.more end}},
		make = function(l) return {evidence = "the line is not complete", rows = {l.row}} end},
	{name = "marked_line", state = "typing", source = "marks", confidence = 0.95, needs = {
		{"the mark of a shell that reads a line", function(l) return l.phase == "input" and l.asks end},
		{"something typed", function(l) return l.input ~= "" end},
	}, make = function(l) return {evidence = "a line is being typed", rows = {l.row}} end},
	{name = "marked_prompt", state = "idle", source = "marks", confidence = 1, needs = {
		{"the mark of a shell that reads a line", function(l) return l.phase == "input" and l.asks end},
	}, make = function(l) return {evidence = "the shell says that it reads a line", rows = {l.row}} end},
	{name = "marked_command", state = "running", source = "marks", confidence = 1, needs = {
		{"the mark of a shell that does not read a line", function(l) return l.phase and (known or l.phase == "running") and not l.asks end},
	}, make = function(l) return {evidence = "the shell says that it does not read a line", rows = {l.s.cursor_row}} end},
	{name = "line", state = "typing", confidence = 0.8, needs = {
		{"the prompt that was there before in the cursor's row", function(l) return l.asks end},
		{"something behind it", function(l) return l.input ~= "" end},
	}, make = function(l) return {evidence = "a line is being typed", rows = {l.row}} end},
	{name = "prompt", state = "idle", confidence = 0.8, needs = {
		{"the sign of a prompt in the cursor's row, with nothing behind it", function(l) return l.asks end},
	}, make = function(l) return {evidence = "the cursor stands behind " .. string.format("%q", known), rows = {l.row}} end},
	{name = "first", state = "starting", needs = {{"that no prompt has been seen", function() return not known end}}},
	{name = "output", state = "running", confidence = 0.7, needs = {
		{"that a prompt has been seen, and none is in the cursor's row", function(l) return known and not l.asks end},
	}, make = function(l) return {evidence = "no prompt stands in the cursor's row", rows = {l.s.cursor_row}} end},
}

local function result(l)
	if l.more then return {continuation = true, source = l.sure and "marks" or "screen"} end
	if anchor then anchor.over = true end
	return {
		command = sent and sent.command or l.entered, exit_code = l.exit_code, exit_source = l.exit_source, cwd = l.s.shell and l.s.shell.cwd,
		output = l.output or prompt.between(l.s, 1, l.row - 1), complete = l.entered ~= nil and l.whole == true or l.s.last_intent ~= "line_submitted",
		source = l.sure and "marks" or "screen",
	}
end

local function describe(l, metadata, state)
	metadata.source = (l.phase and "marks") or "screen"
	metadata.cwd = l.s.shell and l.s.shell.cwd
	if state.state == "typing" then metadata.input = l.input end
	if state.state == "idle" then
		metadata.prompt = known
		metadata.exit_code, metadata.exit_source = l.exit_code, l.exit_source
		if l.entered then metadata.command, metadata.output = sent and sent.command or l.entered, l.output end
	end
end

local intents = {}

-- run types a command. With exit_code, a shell without marks is made to print it.
function intents.run(params, l, state)
	prompt.asking(l, state, params.rest)
	local list = prompt.lines(params.command, "command")
	sent = {command = params.command}
	if params.exit_code and not l.sure and not params.rest then
		sent.asked = true
		list[#list] = list[#list] .. '; echo "[exit $?]"'
	end
	follow(l, list, params.rest)
	return prompt.typing(list)
end

-- cd goes to a folder, quoted so that every name is one.
function intents.cd(params, l, state)
	prompt.asking(l, state)
	local path = prompt.lines(params.path, "path")
	if #path > 1 then prompt.refuse("bad_params", "path has a line feed in it") end
	local quoted = "'" .. string.gsub(path[1], "'", "'\\''") .. "'"
	sent = {command = "cd -- " .. quoted}
	follow(l, {sent.command})
	return prompt.typing({sent.command})
end

-- input types a line to the program that runs.
function intents.input(params, l, state)
	if state.state ~= "running" and state.state ~= "waiting_for_secret" then
		prompt.refuse("wrong_state", "no program reads a line: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	local list = prompt.lines(params.text, "text")
	if #list > 1 then prompt.refuse("bad_params", "text has more than one line: send one after the other") end
	return {actions = {action.text(list[1]), action.key("enter")}}
end

-- key presses a key of the program that runs, as one that has the whole screen.
function intents.key(params, l, state)
	if type(params.key) ~= "string" then prompt.refuse("bad_params", "give key, the name of a key") end
	if l.asks then prompt.refuse("wrong_state", "no program runs: the state is " .. state.state) end
	return {actions = {action.key(params.key)}}
end

-- interrupt ends what runs, or throws away what is typed.
function intents.interrupt(params, l, state)
	if state.state == "ended" or state.state == "full_screen" then
		prompt.refuse("wrong_state", "Ctrl-C is not for state " .. state.state .. ": press the keys of the program there")
	end
	return prompt.interrupting()
end

function intents.exit(params, l, state)
	prompt.asking(l, state)
	return {actions = {action.text("exit")}, submission = {
		echo = matcher.predicate("line_holds", {text = "exit"}), submit = {action.key("enter")}, done = matcher.process_exited(), timeout_ms = 10000,
	}}
end

local text = {type = "string"}

return prompt.plugin({
	read = read, rules = rules, describe = describe, result = result, intents = intents, rest = 150,
	described = {
		{
			name = "run", description = "Types a command and submits it; wait_turn_matcher's capture has output and exit code, as far as they are known.",
			params_schema = {type = "object", required = {"command"}, properties = {
				command = text, rest = {type = "boolean", description = "it is the rest of a line that is not complete"},
				exit_code = {type = "boolean", description = "have a shell without marks print the exit code"},
			}},
		},
		{name = "cd", description = "Goes to a folder.", params_schema = {type = "object", properties = {path = text}, required = {"path"}}},
		{name = "input", description = "Types a line to the program that runs.", during_turn = true, params_schema = {type = "object", properties = {text = text}, required = {"text"}}},
		{name = "key", description = "Presses a key of the program that runs.", during_turn = true, params_schema = {type = "object", properties = {key = text}, required = {"key"}}},
		{name = "interrupt", description = "Ends what runs, or throws away what is typed, as Ctrl-C does.", during_turn = true},
		{name = "exit", description = "Leaves the shell."},
	},
	states = {
		{name = "starting", description = "No prompt has been seen yet."},
		{name = "idle", description = "The prompt asks for a line; metadata tells of the last command."},
		{name = "typing", description = "Text stands behind the prompt; see metadata.input."},
		{name = "continuation", description = "The prompt asks for the rest of a line."},
		{name = "running", description = "A command runs."},
		{name = "waiting_for_secret", description = "A program asks for a password."},
		{name = "full_screen", description = "A program has the whole screen, as an editor or a pager."},
		{name = "ended", description = "The shell has ended."},
	},
})
