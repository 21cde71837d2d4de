-- How a prompt gets into a program that reads it in an input at the bottom of its screen: once and
-- unchanged, or not at all. Adapters of agents have it by require("ptywright.submit"), or through the
-- library that agent.lua is.
--
-- An input is a table that tells what one program makes of a prompt. Everything but name and clear
-- may be left out:
--   name      what the program is called, for people
--   trims     the ends that it strips blanks from: "both" or "end"
--   alters    a list of {expression, what the program does to text that matches}
--   refuses   a function of a prompt: what the program does to it, where no expression can tell
--   slash     a pattern of first words that are commands; commands: the intent that runs those
--   shell     true: it runs what follows a leading ! in the user's shell, and its screen does not
--             tell beforehand
--   ends      a function of a prompt without blanks around it: the program would exit
--   erases    a set of first characters that switch to another mode. They are let in behind a blank
--             that is erased again; the layout's shell tells whether the mode has changed all the same
--   pads      true: a blank is pasted behind the prompt. The program strips it, and until then it
--             keeps a menu of completions closed and a trailing backslash away from Enter
--   behind    a function of a prompt: such a blank is typed behind it. For programs that hand a long
--             paste on as it is, blanks included
--   closes    the key that closes a menu of completions, where a blank would not be stripped
--   sums      a function of a prompt: the program may show a mark in its place, and a blank behind it
--   clear     the key that empties the input, or a list of keys that do no harm in an empty one, to be
--             pressed up to rounds times
--   leave     the key that leaves shell mode once the input is empty; clear unless set
-- and functions that look at the screen:
--   at(s)     the layout of a screen that takes a prompt; refuses others
--   read(s)   the layout of any screen: prompt (nil: there is none), input (the text in it), idle (no
--             turn runs), shell (typed text would not become a prompt), menu (one is open that would
--             take Enter), summed (a mark stands in place of the text, with a blank behind it)
--   ours(l)   the text in the input is a prompt of ours that the program put back: clear it
--   keeps(l)  the text in the input belongs in front of the prompt: keep it
--   matchers(l, prompt)  {holds: the prompt stands in the input, again: it may be submitted once
--             more, taken: it was submitted, timeout_ms}
--   note(l, s, prompt)   nothing is refused any more, and the prompt is about to be typed
--   dropped() a prompt that was not submitted has been taken back

local submit = {}

local action, matcher = ptywright.action, ptywright.matcher
local sub, gsub, match, find = string.sub, string.gsub, string.match, string.find
local starts = string.starts_with

local ECHO = 5000 -- ms for a paste to appear; it takes some 50, and a second on a busy machine
local CLEARED = 2000 -- ms for the input to be empty after its key; likewise
local EMPTY = 10000 -- ms for it to be empty in the end; 2,000 did not do at a load of 40
local STILL = 150 -- ms without a change after which a round of keys has done what it does
local OPENED = 1000 -- ms for a menu of completions to open after a paste; one of files takes some 100

-- Blanks as these programs strip them: Unicode's, and the byte order mark, which JavaScript strips too.
local BLANK = "[\\s\\p{Z}\\x{feff}\\x{85}]"

-- What no terminal carries in a paste. Tab, line feed and carriage return it does.
local CONTROL = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\x{80}-\\x{9f}]"

local function refuse(code, message) error({code = code, message = message}) end
local function quoted(text) return string.format("%q", sub(text, 1, 60)) end

-- trimmed is a text without blanks at both ends, or with ends = "end" at its end only.
function submit.trimmed(text, ends)
	text = re.gsub(text, BLANK .. "+$", "")
	return ends == "end" and text or (re.gsub(text, "^" .. BLANK .. "+", ""))
end
local trimmed = submit.trimmed

-- skeleton is the part of a text that every program draws alike: its visible ASCII characters.
function submit.skeleton(text) return (gsub(text, "[^!-~]", "")) end

-- change says what would become of a prompt on its way; nil: it arrives as it is.
local function change(input, prompt)
	if re.test(prompt, CONTROL) then
		return "a paste carries no control characters except tab and line feed"
	end
	if find(prompt, "\r", 1, true) then return "a carriage return arrives as a line feed" end
	if input.trims and trimmed(prompt, input.trims) ~= prompt then
		local ends = input.trims == "end" and "end" or "ends"
		return input.name .. " strips blanks and line feeds from the " .. ends .. " of a prompt"
	end
	for _, a in ipairs(input.alters or {}) do
		if re.test(prompt, a[1]) then return input.name .. " " .. a[2] end
	end
	local says = input.refuses and input.refuses(prompt)
	return says and input.name .. " " .. says or nil
end

-- no_command refuses a prompt that the program would take for something else.
local function no_command(input, prompt)
	local bare = trimmed(prompt)
	local before = input.name .. " would take this prompt for a command: "
	if input.ends and input.ends(bare) then
		refuse("runs_as_command", before .. "it would exit; put a word before it")
	end
	if input.shell and starts(bare, "!") then
		refuse("runs_as_command", before .. "it runs what follows a ! in a shell; put a word before it")
	end
	local word = match(bare, "^%S+")
	if input.slash and match(word, input.slash) then
		if input.commands then
			refuse("use_slash_command", before .. "use " .. input.commands .. ", or put a word before it")
		end
		refuse("runs_as_command", before .. "put a word before " .. quoted(word))
	end
end

-- check returns the text that is to arrive, and refuses a prompt that would not arrive as that. With
-- exact = false the text is the prompt as the program would have it, instead of a refusal.
function submit.check(input, params)
	local prompt, exact = params.prompt, params.exact
	if type(prompt) ~= "string" or not utf8.len(prompt) then
		refuse("bad_params", "give prompt, a string of UTF-8")
	end
	if exact ~= nil and type(exact) ~= "boolean" then
		refuse("bad_params", "exact must be true or false")
	end
	if exact == false then
		prompt = re.gsub(gsub(gsub(prompt, "\r\n", "\n"), "\r", "\n"), CONTROL, "")
		if input.trims then prompt = trimmed(prompt, input.trims) end
	end
	if trimmed(re.gsub(prompt, "[\\p{Cc}\\p{Cf}]", "")) == "" then
		refuse("empty_prompt", "the prompt is empty")
	end
	local says = exact ~= false and change(input, prompt)
	if says then
		refuse("would_change", "the prompt would not arrive unchanged: " .. says ..
			". Change it, or send it with exact = false")
	end
	no_command(input, prompt)
	return prompt
end

-- clearing returns the steps that empty the input. No key is pressed that is not needed: a key that
-- empties an input may end a program whose input is empty. It goes round twice: of "!ls", typed a
-- moment ago, only the ! may be there at first. The key that leaves shell mode then takes the s, and
-- the l is left.
local function clearing(input, undone)
	local steps, keys = {}, {}
	for i, key in ipairs(type(input.clear) == "table" and input.clear or {input.clear}) do
		keys[i] = action.key(key)
	end
	local left = matcher.predicate("input_left", {idle = true})
	local gone = matcher.predicate("input_left", {gone = true})
	local empty = matcher.predicate("input_empty", {undone = undone})
	local leave = {action.key(input.leave or input.clear)}
	for _ = 1, 2 do
		for round = input.rounds or 1, 1, -1 do
			steps[#steps + 1] = action.when(left, keys)
			if round == 1 then
				steps[#steps + 1] = action.when(gone, {}, CLEARED)
			else
				steps[#steps + 1] = action.when(matcher.any({gone, matcher.screen_stable(STILL)}), {}, CLEARED)
			end
		end
		steps[#steps + 1] = action.when(matcher.predicate("shell_mode"), leave)
		steps[#steps + 1] = action.when(matcher.any({empty, matcher.screen_stable(STILL)}), {}, CLEARED)
	end
	steps[#steps + 1] = action.expect(empty, EMPTY)
	return steps
end

-- typing appends the steps that put a prompt into the input. holds is the matcher of a prompt that
-- stands there.
local function typing(input, prompt, holds, actions)
	local function add(a) actions[#actions + 1] = a end
	local first = match(prompt, "^[%z\1-\127\194-\244][\128-\191]*")
	if input.erases and input.erases[first] then
		add(action.bracketed_paste(" " .. first))
		add(action.expect(matcher.predicate("input_left"), ECHO))
		add(action.key("home"))
		add(action.key("delete"))
		add(action.key("end"))
		prompt = sub(prompt, #first + 1)
	end
	if prompt ~= "" then add(action.bracketed_paste(input.pads and prompt .. " " or prompt)) end
	if input.behind and input.behind(prompt) then
		-- A key right behind a paste may be handled before it, and the paste be lost.
		add(action.when(holds, {action.key("space")}, ECHO))
	end
	if input.sums and input.sums(prompt) then
		local summed = matcher.predicate("input_summed")
		add(action.when(matcher.any({holds, summed}), {}, ECHO))
		add(action.when(summed, {action.key("backspace")}))
	end
	if input.closes and re.test(prompt, "@\\S*$") then
		local closed = action.expect(matcher.predicate("menu_open", {gone = true}), CLEARED)
		add(action.when(matcher.predicate("menu_open"), {action.key(input.closes), closed}, OPENED))
	end
end

-- send_prompt is the intent of that name. Its plan puts the prompt into the input, submits it once it
-- stands there, and clears the input when that comes to nothing.
function submit.send_prompt(input, params, s)
	local prompt = submit.check(input, params)
	local l = input.at(s)
	if not s.modes.bracketed_paste then
		refuse("wrong_state", input.name .. " does not take pastes yet: a line feed would submit half a prompt")
	end
	local actions = {}
	if l.input ~= "" and not (input.keeps and input.keeps(l)) then
		if not input.ours or not input.ours(l) then
			refuse("input_not_empty", "the input holds " .. quoted(l.input) ..
				", and the prompt would be joined to it: use clear_input first")
		end
		actions = clearing(input)
	end
	local m = input.matchers(l, prompt)
	actions[#actions + 1] = action.mark_transcript("turn_start")
	typing(input, prompt, m.holds, actions)
	input.note(l, s, prompt)
	return {
		actions = actions, last_intent = "prompt_submitted",
		submission = {
			echo = m.holds, submit = {action.key("enter")}, done = m.taken, retry_when = m.again,
			retries = 2, timeout_ms = m.timeout_ms, undo = clearing(input, true),
		},
	}
end

-- clear_input is the intent that empties the input, whoever typed there, and leaves shell mode.
function submit.clear_input(input, s)
	local l = input.read(s)
	if not l.prompt then refuse("wrong_state", "there is no prompt to clear") end
	if not l.idle then refuse("wrong_state", "a turn runs, and the key that clears could stop it") end
	return {actions = clearing(input, true)}
end

-- predicates returns the ones that these steps ask. A plugin exports and describes them.
function submit.predicates(input)
	local function answer(held, evidence) return {matched = held, evidence = evidence} end
	local p = {}
	function p.input_left(s)
		local l, params = input.read(s), s.params or {}
		if params.idle and not l.idle then return answer(false, "a turn runs, and the key could stop it") end
		local left = l.prompt ~= nil and l.input ~= ""
		return answer(left == not params.gone, left and "the input holds text" or "the input is empty")
	end
	function p.input_empty(s)
		local l = input.read(s)
		if not l.prompt then return answer(false, "there is no prompt") end
		if l.input ~= "" then return answer(false, "the input holds text") end
		if l.shell then return answer(false, "the input is in shell mode") end
		if s.params and s.params.undone then input.dropped() end
		return answer(true, "the input is empty")
	end
	function p.shell_mode(s)
		local l = input.read(s)
		local shell = l.prompt ~= nil and l.shell == true
		return answer(shell, shell and "the input is in shell mode" or "the input takes prompts")
	end
	function p.menu_open(s)
		local open, gone = input.read(s).menu == true, s.params and s.params.gone
		return answer(open == not gone, open and "a menu is open that takes Enter" or "no menu is open")
	end
	function p.input_summed(s)
		local summed = input.read(s).summed == true
		return answer(summed, summed and "a mark stands in place of the text" or "there is no such mark")
	end
	return p
end

submit.params_schema = {
	type = "object", required = {"prompt"},
	properties = {
		prompt = {type = "string"},
		exact = {
			type = "boolean",
			description = "true, the default: refuse with would_change a prompt that would not arrive "
				.. "unchanged; false: send it as the program would have it",
		},
	},
}

return submit
