-- An adapter of {{PROGRAM}}: what its screen shows, and how to send it a line.
--
-- As it stands it knows a program that reads lines behind a prompt, as shells and many others do. Make the rules yours: record what
-- your program shows, see what the plugin makes of it, and change a rule at a time.
--
--   ptywright plugin run --record first {{FOLDER}}
--   ptywright plugin test --update {{FOLDER}}

local a, m = ptywright.action, ptywright.matcher

-- PROMPT matches the beginning of a row that waits for a line.
local PROMPT = "^\\S*[$#%>](?: |$)"

-- prompt returns the prompt in the cursor's row, and what is typed behind it.
local function prompt(s)
	local hit = s:match(PROMPT, s.cursor_row, s.cursor_row)
	if not hit then return nil end
	return hit, string.sub(s:row(s.cursor_row), #hit.text + 1)
end

-- The first rule whose needs all hold decides: from the special to the general. A screen that none knows is "unknown".
local rules = {
	{name = "exited", state = "ended", needs = {{"that the program has ended", function(s) return s.process_exited end}}},
	{name = "blank", state = "starting", needs = {{"a blank screen", function(s) return not s:test("\\S") end}}},
	{name = "prompt", state = "ready", needs = {
		{"a prompt in the cursor's row", prompt},
		{"nothing typed behind it", function(s) return select(2, prompt(s)) == "" end},
	}},
	{name = "line", state = "typing", needs = {{"a prompt in the cursor's row", prompt}}, make = function(s)
		return {metadata = {line = select(2, prompt(s))}}
	end},
	{name = "output", state = "busy", needs = {{"something in the last rows, and no prompt behind it", function(s) return s:test("\\S") end}}},
}

local plugin = {}

function plugin.classify(s) return ptywright.decide(rules, s) end

-- only refuses what makes no sense in another state.
local function only(s, wanted)
	local is = plugin.classify(s)
	if is.state ~= wanted then
		error({code = "wrong_state", message = "the state is " .. is.state .. " (" .. is.evidence .. "), not " .. wanted})
	end
end

-- send types a line, sees it stand behind the prompt, presses Enter and sees it gone.
function plugin.send(params, s)
	only(s, "ready")
	if type(params.text) ~= "string" or params.text == "" or re.test(params.text, "[[:cntrl:]]") then
		error({code = "bad_params", message = "give text: one line"})
	end
	local typed = m.predicate("typed", {text = params.text})
	return {
		actions = {a.mark_transcript("turn_start"), a.text(params.text)},
		submission = {
			echo = typed, submit = {a.key("enter")}, done = m.any({m.negate(typed), m.process_exited()}),
			retry_when = typed, retries = 1,
		},
	}
end

function plugin.interrupt(params, s)
	only(s, "busy")
	local back = m.predicate("at_prompt")
	return {actions = {}, submission = {submit = {a.interrupt()}, done = m.any({back, m.process_exited()}), retry_when = m.negate(back), retries = 1}}
end

-- quit ends the input, as Ctrl-D does.
function plugin.quit(params, s)
	only(s, "ready")
	return {actions = {}, submission = {submit = {a.eof()}, done = m.process_exited()}}
end

-- Predicates are what waits are made of: they say whether, and why.
function plugin.at_prompt(s)
	local is = plugin.classify(s)
	return {matched = is.state == "ready", evidence = "the state is " .. is.state .. ": " .. is.evidence}
end

function plugin.typed(s)
	local _, line = prompt(s)
	return line == s.params.text
end

function plugin.wait_ready_matcher() return m.any({m.predicate("at_prompt"), m.process_exited()}) end
plugin.wait_turn_matcher = plugin.wait_ready_matcher -- what adapter.wait takes when it is not told

function plugin.describe()
	return {
		intents = {
			{
				name = "send", description = "Types a line and presses Enter.",
				params_schema = {type = "object", properties = {text = {type = "string"}}, required = {"text"}},
			},
			{name = "interrupt", description = "Ends what runs, as Ctrl-C does.", during_turn = true},
			{name = "quit", description = "Ends the program."},
		},
		wait_matchers = {
			{name = "wait_ready_matcher", description = "The prompt waits for a line, or the program has ended."},
			{name = "wait_turn_matcher", description = "The same."},
		},
		states = {
			{name = "starting", description = "Nothing is on the screen yet."},
			{name = "ready", description = "The prompt waits for a line."},
			{name = "typing", description = "A line stands behind the prompt; see metadata.line."},
			{name = "busy", description = "The program is at work."},
			{name = "ended", description = "The program has ended."},
		},
		predicates = {{name = "at_prompt"}, {name = "typed"}},
	}
end

return plugin
