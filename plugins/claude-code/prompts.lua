-- How prompts get into Claude Code's input: what the program makes of them, and which text there may
-- be ours. The head of ptywright.submit tells what each function is for.

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

-- SUBMIT is how long, in ms, typed text may take to appear (20; 500 for 1,500 lines), and the input to
-- be empty after Enter (10 to 170).
prompts.SUBMIT = 4000

-- TYPED is how many bytes of sent prompts are remembered, to recognise one that the program puts back.
local TYPED = 32768

local function refuse(code, message) error({code = code, message = message}) end

-- now reads the screen: layout, state and what the dialog is about.
function prompts.now(s)
	memory.seen(s)
	local l = layout.read(s)
	local state, metadata = rules.decide(l), {}
	if not l.prompt then about.describe(l, state.state, metadata) end
	return l, state, metadata
end

-- blanks returns the blanks in front of the cell that is drawn as the cursor, in an input that shows no
-- text.
local function blanks(l)
	for _, run in ipairs(l.s:styles(l.prompt) or {}) do
		if run.inverse then return string.rep(" ", run.col - 3) end
	end
	return ""
end

-- add adds to a layout what ptywright.submit reads.
local function add(l)
	if not l.prompt then return l end
	local text, hint = layout.input(l)
	l.input = text == "" and not hint and blanks(l) or text
	l.shell = l.glyph == "!" or l.glyph == "#"
	l.idle = not signs.working(l)
	return l
end

-- at returns the layout of a screen that takes text; what names the text in a refusal.
function prompts.at(s, what)
	local l, state = prompts.now(s)
	if not l.prompt or state.rule == "input-closed" or state.rule == "ended" then
		local is = state.state .. " (" .. state.evidence .. ")"
		refuse("wrong_state", (what or "a prompt") .. " needs the prompt: the state is " .. is)
	end
	if l.glyph == "!" or l.glyph == "#" then
		local mode = l.glyph == "!" and "shell" or "memory"
		refuse("wrong_state", "the prompt is in " .. mode .. " mode: use clear_input to leave it")
	end
	return add(l)
end

function prompts.read(s)
	memory.seen(s)
	return add(layout.read(s))
end

prompts.name, prompts.trims = "Claude Code", "end"

-- Ctrl-K and Ctrl-U delete a row of the input from the cursor to either end, and then what joins it to
-- the next. Neither does anything in an empty input: there Escape twice would open the list to rewind
-- to, and Ctrl-C, even seconds and a whole turn after another one, ends the program (2.1.328).
prompts.clear, prompts.rounds, prompts.leave = {}, 8, "backspace"
for i = 1, 32, 2 do prompts.clear[i], prompts.clear[i + 1] = "ctrl_k", "ctrl_u" end

prompts.slash, prompts.commands = "^/[%w_:%-]*$", "slash_command"

-- A leading ! runs the rest in the user's shell, a # saves it to a memory file (2.0.60).
prompts.erases = {["!"] = true, ["#"] = true}

local ENDS = {exit = true, quit = true, [":q"] = true, [":q!"] = true, [":wq"] = true, [":wq!"] = true}
function prompts.ends(prompt) return ENDS[lower(prompt)] end

-- A backslash before Enter makes a line feed of it, and the menu of files takes Enter. A blank behind
-- the prompt prevents both, and is stripped.
function prompts.behind(prompt) return sub(prompt, -1) == "\\" or re.test(prompt, "@\\S*$") end

prompts.alters = {
	{"\\t", "makes four blanks of a tab"},
	{"[\\x{2028}\\x{2029}]", "makes a line feed of a line separator"},
	{
		-- Text that is not in NFC, as far as it is common: letters with combining marks, Hangul jamo,
		-- and characters that are only another code for one.
		"[\\p{Latin}\\p{Greek}\\p{Cyrillic}][\\x{300}-\\x{345}]|[\\x{1100}-\\x{1112}][\\x{1161}-\\x{1175}]"
			.. "|[\\x{340}\\x{341}\\x{343}\\x{344}\\x{374}\\x{37e}\\x{387}\\x{2000}\\x{2001}]"
			.. "|[\\x{2126}\\x{212a}\\x{212b}\\x{f900}-\\x{faff}]",
		"writes characters in their composed form (NFC)",
	},
}

-- Claude Code removes invisible characters, joiners and variation selectors only outside of emoji.
local JOINED = "[\\p{So}\\p{Sk}\\p{Sm}\\p{Po}0-9]\\x{fe0f}?"
	.. "(?:\\x{20e3}|(?:\\x{200d}[\\p{So}\\p{Sm}]\\p{Sk}?\\x{fe0f}?)*)"
local INVISIBLE = "\\p{Cf}|[\\x{34f}\\x{115f}\\x{1160}\\x{17b4}\\x{17b5}\\x{180b}-\\x{180f}\\x{3164}]"
	.. "|[\\x{fe00}-\\x{fe0f}\\x{ffa0}\\x{e0100}-\\x{e01ef}]"
function prompts.refuses(prompt)
	local found = re.test(prompt, INVISIBLE) and re.test(re.gsub(prompt, JOINED, ""), INVISIBLE)
	return found and "removes invisible characters" or nil
end

-- ours reports whether the input holds a prompt of ours: one that was cancelled before anything came
-- back, and put back there.
function prompts.ours(l) return l.idle and contains(memory.typed or "", words(l.input)) end

-- keeps reports whether attach_file put the text there.
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

-- steering is the same for a prompt that does not begin a turn.
local steering = {}
for name, value in pairs(prompts) do steering[name] = value end
function steering.note(l, s, prompt) typed(prompt) end
function steering.dropped() end
prompts.steering = steering

return prompts
