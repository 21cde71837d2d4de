-- How a prompt gets into a program that reads it in an input at the bottom of its screen: once and unchanged, or not at all. Adapters of
-- agents have it by require("ptywright.submit"); those made with ptywright.agent have it by that.
--
-- What a program makes of a prompt is told by a table, its input:
--   name      what the program is called, for people
--   trims     the ends that it takes blanks off: "both" or "end"; nil when it keeps them
--   pads      a blank is pasted behind a prompt, which the program trims again, so that the last word opens no menu that would take
--             Enter, and a backslash does not change what Enter does
--   behind    a function of a prompt: whether such a blank has to be typed behind it, where it may not be part of the paste
--   ends      a function of a prompt without the blanks around it: whether the program would end at it
--   slash     a pattern of first words that are commands; nil: there are none
--   shell     it runs what stands behind a ! in front in the user's shell, and nothing on the screen tells beforehand
--   commands  the name of the intent for them, if there is one
--   alters    a list of {expression, what the program does to what matches}
--   refuses   a function of a prompt that returns what the program does to it, or nil: what no expression tells
--   erases    a set of first characters that switch a mode unless they get there behind a blank that is erased again
--   closes    the key that closes a menu of completions, where no blank behind the prompt does
--   sums      a function of a prompt: whether the program may show a mark for it, and add a blank behind that
--   clear     the key that empties the input; presses: how often it may have to be pressed, 1 when that is nil
--   leave     the key that leaves shell mode when the input is empty
-- and by functions that the plugin gives:
--   at(s)             the layout when a prompt can be sent; refuses otherwise
--   read(s)           the layout of a screen: prompt (nil when there is none), input (the text in it), shell, menu (one is open that
--                     would take Enter), summed (a mark stands in the place of the text, with a blank behind)
--   ours(l)           whether what stands in the input is a prompt of ours, to be cleared; keeps(l): it is to stay, and the prompt comes behind
--   matchers(l, prompt)  {holds, again, taken, timeout_ms}: the prompt stands in the input; it may be submitted once more; it was taken
--   note(l, s, prompt)   called when nothing is refused any more
--   dropped()            called when the input is empty after a prompt that was not submitted

local submit = {}

local action, matcher = ptywright.action, ptywright.matcher
local sub, gsub, match = string.sub, string.gsub, string.match
local starts = string.starts_with

local CLEARED = 2000 -- ms for the input to be empty after its key; it takes some 50, and a second on a busy machine
local STILL = 150 -- ms without a change after a key that has not emptied the input yet: then it has done what it does
local PRESSED = 500 -- ms for a key of several to show something; two count as one pair for some 800
local OPENED = 1000 -- ms for a menu of completions to open behind a paste; one of files takes some 100
local ECHO = 5000 -- ms for a paste to appear; it takes some 50, and a second on a busy machine

-- Blanks as the programs take them off: those of Unicode, and the byte order mark, which JavaScript counts among them.
local BLANK = "[\\s\\p{Z}\\x{feff}\\x{85}]"

local function refuse(code, message) error({code = code, message = message}) end

-- trimmed is a text without the blanks at both ends, or at its end only.
local function trimmed(text, ends)
	text = re.gsub(text, BLANK .. "+$", "")
	return ends == "end" and text or (re.gsub(text, "^" .. BLANK .. "+", ""))
end

-- changes returns what the program would make of a prompt, as a sentence; nil when it arrives as it is.
local function changes(input, prompt)
	if re.test(prompt, "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\x{80}-\\x{9f}]") then return "a paste carries no control characters but tab and line feed" end
	if string.find(prompt, "\r", 1, true) then return "a carriage return arrives as a line feed" end
	if input.trims and trimmed(prompt, input.trims) ~= prompt then
		return input.name .. " takes blanks and line feeds off the " .. (input.trims == "end" and "end" or "ends") .. " of a prompt"
	end
	for _, a in ipairs(input.alters or {}) do
		if re.test(prompt, a[1]) then return input.name .. " " .. a[2] end
	end
	local says = input.refuses and input.refuses(prompt)
	return says and input.name .. " " .. says or nil
end

-- check returns the prompt that is to arrive. With exact = false it is the client's as the program would have it, and not refused for that.
function submit.check(input, params)
	local prompt, exact = params.prompt, params.exact
	if type(prompt) ~= "string" then refuse("bad_params", "give prompt, a string") end
	if exact ~= nil and type(exact) ~= "boolean" then refuse("bad_params", "exact is true or false") end
	if exact == false then
		prompt = gsub(gsub(prompt, "\r\n", "\n"), "\r", "\n")
		prompt = re.gsub(prompt, "[\\x00-\\x08\\x0b-\\x1f\\x7f\\x{80}-\\x{9f}]", "")
		if input.trims then prompt = trimmed(prompt, input.trims) end
	end
	local bare = trimmed(re.gsub(prompt, "[\\p{Cc}\\p{Cf}]", ""))
	if bare == "" then refuse("empty_prompt", "the prompt is empty") end
	if exact ~= false then
		local says = changes(input, prompt)
		if says then refuse("would_change", "the prompt would not arrive as it is: " .. says .. "; send it without, or with exact = false") end
	end
	bare = trimmed(prompt)
	if input.ends and input.ends(bare) then
		refuse("runs_as_command", input.name .. " ends at this prompt: put a word before it")
	end
	if input.shell and starts(bare, "!") then
		refuse("runs_as_command", input.name .. " runs what follows a ! in the user's shell: put a word before it")
	end
	local word = match(bare, "^%S+")
	if input.slash and match(word, input.slash) then
		local before = input.name .. " takes a prompt that begins with " .. string.format("%q", sub(word, 1, 40)) .. " for a command of its own: "
		if input.commands then refuse("use_slash_command", before .. "use " .. input.commands .. ", or put a word before it") end
		refuse("runs_as_command", before .. "put a word before it")
	end
	return prompt
end

-- clearing returns the steps that empty the input. Each key is pressed only while it is needed: the one that empties an input may end a
-- program whose input is empty.
local function clearing(input, undone)
	local steps, left = {}, matcher.predicate("input_left", {idle = true})
	local gone = matcher.predicate("input_left", {gone = true})
	for _ = 1, input.presses or 1 do
		steps[#steps + 1] = action.when(left, {action.key(input.clear)})
		-- A key of several may show nothing, or something else than an empty input.
		steps[#steps + 1] = action.when(matcher.any({gone, matcher.screen_stable(STILL)}), {}, input.presses and PRESSED or CLEARED)
	end
	local empty = matcher.predicate("input_empty", {undone = undone})
	steps[#steps + 1] = action.when(matcher.predicate("shell_mode"), {action.key(input.leave or input.clear), action.expect(empty, CLEARED)})
	steps[#steps + 1] = action.expect(empty, CLEARED)
	return steps
end

-- typing adds the actions that put a prompt into the input.
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
	-- A key that comes right behind a paste may be taken before it, and the paste be lost.
	if input.behind and input.behind(prompt) then add(action.when(holds, {action.key("space")}, ECHO)) end
	if input.sums and input.sums(prompt) then
		local summed = matcher.predicate("input_summed")
		add(action.when(matcher.any({holds, summed}), {}, ECHO))
		add(action.when(summed, {action.key("backspace")}))
	end
	if input.closes and re.test(prompt, "@\\S*$") then
		add(action.when(matcher.predicate("menu_open"), {action.key(input.closes), action.expect(matcher.predicate("menu_open", {gone = true}), CLEARED)}, OPENED))
	end
end

-- send_prompt is the intent: it returns the plan that puts a prompt into the input, submits it once it stands there, and clears the input
-- when that comes to nothing.
function submit.send_prompt(input, params, s)
	local prompt = submit.check(input, params)
	local l = input.at(s)
	if not s.modes.bracketed_paste then refuse("wrong_state", input.name .. " takes no pastes yet, so a line feed in the prompt would submit half of it: wait for ready") end
	local actions, standing = {}, l.input ~= "" and not (input.keeps and input.keeps(l))
	if standing then
		if not input.ours or not input.ours(l) then
			refuse("input_not_empty", "the input shows " .. string.format("%q", sub(l.input, 1, 60)) .. ", and the prompt would be joined to it: use clear_input")
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
			echo = m.holds, submit = {action.key("enter")}, done = m.taken, retry_when = m.again, retries = 2, timeout_ms = m.timeout_ms,
			undo = clearing(input, true),
		},
	}
end

-- clear_input is the intent that empties the input, whoever has typed there, and leaves shell mode.
function submit.clear_input(input, s)
	local l = input.read(s)
	if not l.prompt or not l.idle then refuse("wrong_state", "no prompt takes input, or a turn runs, which the key that clears would stop") end
	return {actions = clearing(input, true)}
end

-- predicates returns those that the steps ask. Each says why.
function submit.predicates(input)
	local function yes(evidence) return {matched = true, evidence = evidence} end
	local function no(evidence) return {matched = false, evidence = evidence} end
	local function is(there, evidence, gone)
		if gone then return there and no(evidence) or yes("not any more: " .. evidence) end
		return there and yes(evidence) or no("it is not so that " .. evidence)
	end
	local p = {}
	function p.input_left(s)
		local l, p = input.read(s), s.params or {}
		if p.idle and not l.idle then return no("a turn runs, which the key that clears would stop") end
		return is(l.prompt and l.input ~= "", "text stands in the input", p.gone)
	end
	function p.input_empty(s)
		local l = input.read(s)
		if not l.prompt then return no("there is no prompt") end
		if l.input ~= "" or l.shell then return no(l.shell and "the input is in shell mode" or "text stands in the input") end
		if s.params and s.params.undone then input.dropped() end
		return yes("the input is empty")
	end
	function p.shell_mode(s)
		local l = input.read(s)
		return is(l.prompt and l.shell, "the input is in shell mode", false)
	end
	if input.closes then
		function p.menu_open(s)
			local l = input.read(s)
			return is(l.menu, "a menu is open that would take Enter", s.params and s.params.gone)
		end
	end
	if input.sums then
		function p.input_summed(s) return is(input.read(s).summed, "a mark stands in the place of the text", false) end
	end
	return p
end

submit.params_schema = {
	type = "object", required = {"prompt"},
	properties = {
		prompt = {type = "string"},
		exact = {
			type = "boolean",
			description = "true, the default: refuse with would_change what the program would change; false: send it as the program has it",
		},
	},
}

submit.trimmed = trimmed

-- skeleton is what of a text every program draws alike: its visible ASCII characters.
function submit.skeleton(text) return (gsub(text, "[^!-~]", "")) end

return submit
