-- How prompts get into Claude Code's input: what it makes of them, and what of ours may stand there. See submit.lua of ptywright.

local layout = require("layout")
local rules = require("rules")
local signs = require("signs")
local about = require("about")
local sent = require("sent")
local memory = require("memory")
local submit = require("ptywright.submit")

local matcher = ptywright.matcher
local words = layout.words
local contains, lower, sub = string.contains, string.lower, string.sub

local prompts = {}

-- SUBMIT is how long typed text may take to appear (20 ms; 500 for 1,500 lines), and the input to be empty after Enter (10 to 170 ms).
prompts.SUBMIT = 4000

local TYPED = 32768 -- bytes of what was sent that are remembered, to know it again when the program puts it back

local function refuse(code, message) error({code = code, message = message}) end

-- now reads the screen: layout, state and what the dialog is about.
function prompts.now(s)
	memory.seen(s)
	local l = layout.read(s)
	local state, metadata = rules.decide(l), {}
	if not l.prompt then about.describe(l, state.state, metadata) end
	return l, state, metadata
end

-- blanks returns those before the cell that is drawn as the cursor, in an input that shows nothing.
local function blanks(l)
	for _, run in ipairs(l.s:styles(l.prompt) or {}) do
		if run.inverse then return string.rep(" ", run.col - 3) end
	end
	return ""
end

-- add gives the layout what submit.lua asks of it.
local function add(l)
	if not l.prompt then return l end
	local text, hint = layout.input(l)
	l.input = text == "" and not hint and blanks(l) or text
	l.shell = l.glyph == "!" or l.glyph == "#"
	l.idle = not signs.working(l)
	return l
end

-- at returns the layout when text can be typed; what says for what.
function prompts.at(s, what)
	local l, state = prompts.now(s)
	if not l.prompt or state.rule == "input-closed" or state.rule == "ended" then
		refuse("wrong_state", (what or "a prompt") .. " needs the prompt: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	if l.glyph == "!" or l.glyph == "#" then
		refuse("wrong_state", "the prompt is in " .. (l.glyph == "!" and "shell" or "memory") .. " mode: use clear_input to leave it")
	end
	return add(l)
end

function prompts.read(s)
	memory.seen(s)
	return add(layout.read(s))
end

-- Escape twice empties the input, and once more where a menu is open. Not Ctrl-C: the second within some seconds ends the program,
-- whatever came between.
prompts.name, prompts.trims, prompts.clear, prompts.presses, prompts.leave = "Claude Code", "end", "escape", 6, "escape"
prompts.slash, prompts.commands = "^/[%w_:%-]*$", "slash_command"

-- ! runs what follows in the user's shell, # keeps it in a file of memory (2.0.60).
prompts.erases = {["!"] = true, ["#"] = true}

local ENDS = {exit = true, quit = true, [":q"] = true, [":q!"] = true, [":wq"] = true, [":wq!"] = true}
function prompts.ends(prompt) return ENDS[lower(prompt)] end

-- A backslash right before Enter makes a line feed of it, and the menu of files takes Enter: a blank behind the prompt, which is
-- trimmed again, prevents both.
function prompts.behind(prompt) return sub(prompt, -1) == "\\" or re.test(prompt, "@\\S*$") end

prompts.alters = {
	{"\\t", "makes four blanks of a tab"},
	{"[\\x{2028}\\x{2029}]", "makes a line feed of a line separator"},
	{
		-- What has another form in NFC, as far as it is met: letters with marks of their own, jamo, and characters that stand
		-- for another.
		"[\\p{Latin}\\p{Greek}\\p{Cyrillic}][\\x{300}-\\x{345}]|[\\x{1100}-\\x{1112}][\\x{1161}-\\x{1175}]"
			.. "|[\\x{340}\\x{341}\\x{343}\\x{344}\\x{374}\\x{37e}\\x{387}\\x{2000}\\x{2001}\\x{2126}\\x{212a}\\x{212b}\\x{f900}-\\x{faff}]",
		"writes characters in their composed form (NFC)",
	},
}

-- Invisible characters are taken out; joiners and variation selectors only where they belong to no emoji.
local JOINED = "[\\p{So}\\p{Sk}\\p{Sm}\\p{Po}0-9]\\x{fe0f}?(?:\\x{20e3}|(?:\\x{200d}[\\p{So}\\p{Sm}]\\p{Sk}?\\x{fe0f}?)*)"
local INVISIBLE = "\\p{Cf}|[\\x{34f}\\x{115f}\\x{1160}\\x{17b4}\\x{17b5}\\x{180b}-\\x{180f}\\x{3164}\\x{fe00}-\\x{fe0f}\\x{ffa0}\\x{e0100}-\\x{e01ef}]"
function prompts.refuses(prompt)
	if re.test(prompt, INVISIBLE) and re.test(re.gsub(prompt, JOINED, ""), INVISIBLE) then return "takes out invisible characters" end
	return nil
end

-- ours reports whether a prompt that was cancelled before anything came back has been put back into the input.
function prompts.ours(l) return l.idle and contains(memory.typed or "", words(l.input)) end

-- keeps reports whether a path was put there, to which the prompt is added.
function prompts.keeps(l) return memory.attached end

function prompts.matchers(l, prompt)
	local all, attached = words(prompt), memory.attached or nil
	return {
		holds = matcher.predicate("prompt_stands", {words = all, attached = attached}),
		again = matcher.predicate("prompt_stands", {words = all, attached = attached, idle = true}),
		taken = matcher.predicate("prompt_taken", {working = signs.working(l) and true or false}),
		timeout_ms = prompts.SUBMIT,
	}
end

local function typed(prompt)
	local all = words(prompt)
	memory.typed, memory.attached = sub((memory.typed or "") .. all, -TYPED), false
	return all
end

function prompts.note(l, s, prompt)
	sent.note(l, s, nil, typed(prompt))
	memory.cancel, memory.answered = {over = true}, nil
end

function prompts.dropped() memory.sent = nil end

-- steering is the same without beginning a turn.
prompts.steering = {}
for name, value in pairs(prompts) do prompts.steering[name] = value end
function prompts.steering.note(l, s, prompt) typed(prompt) end
function prompts.steering.dropped() end

return prompts
