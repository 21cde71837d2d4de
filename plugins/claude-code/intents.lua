-- The intents. Each reads the screen first and refuses where it makes no sense: error({code = "wrong_state"}) when what it acts
-- on is not there, "stale_dialog" when it is another one than the client means, "no_such_option", "empty_prompt",
-- "input_not_empty", "bad_params". None knows which digit or which line answers what: an option is looked up by its text, the
-- pointer is moved to it, and Enter comes only when the screen shows it there.
--
-- Two facts about timing, measured on 2.1.328. A dialog swallows Enter for 150 ms after it has appeared, the one about a plan
-- Escape too (the arrows are taken at once), and the one about trust is drawn anew after 130 ms, with the pointer back where it
-- was. So nothing is pressed before the dialog has stood still, what was pressed is proved by the dialog being gone, and Enter
-- is pressed again only while the very same dialog stands there with the pointer on the same option.

local layout = require("layout")
local dialogs = require("dialogs")
local rules = require("rules")
local signs = require("signs")
local about = require("about")
local sent = require("sent")
local memory = require("memory")
local prompts = require("prompts")
local submit = require("ptywright.submit")

local SUBMIT = prompts.SUBMIT

local action, matcher = ptywright.action, ptywright.matcher
local words = layout.words
local match, sub, gsub = string.match, string.sub, string.gsub
local starts, contains, trim, lower = string.starts_with, string.contains, string.trim, string.lower

local GUARD = 250 -- ms that a dialog must have stood before Enter: 150 are swallowed; more makes every answer later
local GUARD_TRUST = 400 -- likewise: it is drawn anew after 90 to 180
local ANSWER = 2500 -- ms for a dialog to stand, and then to go away (20; 300 on a busy machine). Then a key counts as swallowed

local STOP = 2000 -- ms for a turn to end after Escape; it takes some 50. Escape right after the prompt is lost on 2.0.60

local intents = {}

local function refuse(code, message) error({code = code, message = message}) end

local now = prompts.now

-- text_param returns a parameter that must be a text.
local function text_param(params, name)
	local value = params[name]
	if type(value) ~= "string" then refuse("bad_params", "give " .. name .. ", a string") end
	return value
end

-- the_dialog returns the dialog when the state is one of those wanted and it is the one that the client means.
local function the_dialog(s, params, what, ...)
	local l, state, metadata = now(s)
	local wanted = select("#", ...) == 0 and dialogs.read(l) ~= false
	for i = 1, select("#", ...) do wanted = wanted or state.state == select(i, ...) end
	local d = dialogs.read(l)
	if not wanted or not d then
		refuse("wrong_state", what .. " is not on the screen: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	if params.dialog_id ~= nil and params.dialog_id ~= metadata.dialog_id then
		refuse("stale_dialog", "the dialog on the screen is " .. tostring(metadata.dialog_id) .. ", not " .. tostring(params.dialog_id))
	end
	return l, d, state, metadata
end

-- answering notes which dialog is being answered, for the predicates and for wait_turn_matcher.
local function answering(l, state, metadata)
	memory.answered = {id = metadata.dialog_id or "", state = state.state, face = dialogs.face(l), gone = false}
end

-- ANSWERED is the last intent after a dialog was answered, whatever the answer: what was submitted before it is done with.
local ANSWERED = "dialog_answered"

-- steps_to returns the actions that move the pointer to an option. Each arrow waits for the one before it to be seen: 2.0.60 drops
-- arrows that it reads together.
local function steps_to(d, index, trust)
	local steps = {action.expect(matcher.predicate("dialog_stands", {still_ms = trust and GUARD_TRUST or GUARD, anew = trust}), ANSWER)}
	local step = index > d.pointer and 1 or -1
	for i = d.pointer + step, index, step do
		if index == d.pointer then break end
		steps[#steps + 1] = action.key(step > 0 and "down" or "up")
		steps[#steps + 1] = action.expect(matcher.predicate("pointer_on", {index = i}), ANSWER)
	end
	return steps
end

-- pick moves the pointer to an option, once the dialog has stood still, and presses Enter when it is seen there.
local function pick(l, d, state, metadata, index, done)
	answering(l, state, metadata)
	local trust = state.state == "waiting_for_trust" or nil
	local function there(again)
		local params = {index = index, label = d.options[index].label, still_ms = trust and GUARD_TRUST or 0, anew = trust, again = again}
		return matcher.predicate("pointer_on", params)
	end
	return {
		actions = steps_to(d, index, trust), last_intent = ANSWERED,
		submission = {
			echo = there(), submit = {action.key("enter")},
			done = done or matcher.any({matcher.predicate("dialog_gone"), matcher.process_exited()}),
			retry_when = there(true), retries = 2, timeout_ms = ANSWER,
		},
	}
end

-- leave presses Escape, which the question about a plan swallows as well, and wants the dialog gone.
local function leave(l, state, metadata)
	answering(l, state, metadata)
	return {
		actions = {}, last_intent = ANSWERED,
		submission = {
			echo = matcher.predicate("dialog_stands", {still_ms = GUARD}), submit = {action.key("escape")},
			done = matcher.any({matcher.predicate("dialog_gone"), matcher.process_exited()}),
			retry_when = matcher.predicate("dialog_stands", {again = true}), retries = 1, timeout_ms = ANSWER,
		},
	}
end

-- first returns the first option for which a test holds.
local function first(d, test)
	for i, o in ipairs(d.options) do
		if test(o.label) then return i end
	end
	return nil
end

-- What agrees to more than this once.
local WIDER = {
	"don't ask again", "do not ask again", "allow all", "always", "auto mode", "auto-accept", "accept edits", "switch to", "bypass",
	"for this session", "during this session",
}

local function agrees_once(label)
	if not starts(label, "Yes") and not starts(label, "Allow") then return false end
	local text = lower(label)
	for _, w in ipairs(WIDER) do
		if contains(text, w) then return false end
	end
	return true
end

-- approve agrees to what a dialog asks, this once: never to an option that widens what the program may do.
function intents.approve(params, s)
	local l, d, state, metadata = the_dialog(
		s, params, "something to approve", "waiting_for_permission", "waiting_for_plan_approval", "waiting_for_enter_plan_mode", "waiting_for_login",
		"waiting_for_user_input"
	)
	local question = metadata.question
	if question and not question.review then
		refuse("wrong_state", "a question wants one of its answers: use choose_option (" .. state.evidence .. ")")
	end
	local index = first(d, question and function(label) return starts(label, "Submit") end or agrees_once)
	if not index then refuse("no_such_option", "no option agrees to just this; see metadata.options and use choose_option") end
	return pick(l, d, state, metadata, index)
end

-- deny refuses. Where Escape is known to do that it is pressed; otherwise the option that says no is chosen.
function intents.deny(params, s)
	local l, d, state, metadata = the_dialog(
		s, params, "something to deny", "waiting_for_permission", "waiting_for_plan_approval", "waiting_for_enter_plan_mode", "waiting_for_login",
		"waiting_for_user_input"
	)
	if state.state == "waiting_for_enter_plan_mode" or state.state == "waiting_for_login" then
		local index = first(d, function(label) return match(label, "^No%f[%W]") ~= nil end)
		if not index then refuse("no_such_option", "no option says no; press escape by the key intent to leave") end
		return pick(l, d, state, metadata, index)
	end
	return leave(l, state, metadata)
end

-- find_option looks an option up by its number, its place, or its label: exactly, else by its beginning, else by a part that
-- only one has.
local function find_option(d, wanted)
	local n = type(wanted) == "number" and wanted or type(wanted) == "string" and match(wanted, "^%d+$") and tonumber(wanted)
	if n then
		for i, o in ipairs(d.options) do
			if (o.number or i) == n then return i end
		end
		refuse("no_such_option", "there is no option " .. n .. "; there are " .. #d.options)
	end
	if type(wanted) ~= "string" or trim(wanted) == "" then refuse("bad_params", "give index, or option: a number or a label") end
	local text = lower(trim(wanted))
	for _, fits in ipairs({
		function(label) return label == text end,
		function(label) return starts(label, text) end,
		function(label) return contains(label, text) end,
	}) do
		local found, more
		for i, o in ipairs(d.options) do
			if fits(lower(about.full(o))) or fits(lower(o.label)) then
				more, found = found, found or i
				if more then break end
			end
		end
		if found and not more then return found end
		if found then refuse("no_such_option", "more than one option fits " .. string.format("%q", sub(wanted, 1, 60))) end
	end
	local labels = {}
	for i, o in ipairs(d.options) do labels[i] = sub(o.label, 1, 60) end
	local there = table.concat(labels, " | ")
	refuse("no_such_option", "no option is labelled " .. string.format("%q", sub(wanted, 1, 60)) .. "; there are: " .. there)
end

-- choose_option picks one of the options of any dialog or list. In a question with several answers it ticks the option, or
-- with checked = false unticks it, and "next" goes on. An option that takes text gets it from text.
function intents.choose_option(params, s)
	local l, d, state, metadata = the_dialog(s, params, "a dialog with options")
	local wanted = params.index
	if wanted == nil then wanted = params.option end
	if wanted == nil then wanted = params.choice end
	local question = metadata.question
	if question and question.multi and type(wanted) == "string" and (lower(wanted) == "next" or lower(wanted) == "submit") then
		answering(l, state, metadata)
		return {actions = {}, last_intent = ANSWERED, submission = {submit = {action.key("tab")}, done = matcher.predicate("dialog_gone"), timeout_ms = ANSWER}}
	end
	local index = find_option(d, wanted)
	local o = d.options[index]
	if question and question.multi and o.checked ~= nil and params.text == nil then
		local checked = params.checked ~= false
		if o.checked == checked then return {actions = {}} end
		return pick(l, d, state, metadata, index, matcher.predicate("option_checked", {index = index, checked = checked}))
	end
	if params.text ~= nil then
		local text = text_param(params, "text")
		if trim(text) == "" or contains(text, "\n") then refuse("bad_params", "text must be one line that is not empty") end
		answering(l, state, metadata)
		local actions = steps_to(d, index)
		actions[#actions + 1] = action.bracketed_paste(text)
		return {actions = actions, last_intent = ANSWERED, submission = {
			echo = matcher.predicate("pointer_on", {index = index, holds = sub(text, -20)}), submit = {action.key("enter")},
			done = matcher.predicate("dialog_gone"), timeout_ms = ANSWER,
		}}
	end
	return pick(l, d, state, metadata, index)
end

function intents.approve_trust(params, s)
	local l, d, state, metadata = the_dialog(s, params, "the question whether to trust the folder", "waiting_for_trust")
	local index = first(d, function(label) return starts(label, "Yes") end)
	if not index then refuse("no_such_option", "no option begins with Yes") end
	return pick(l, d, state, metadata, index)
end

function intents.deny_trust(params, s)
	local l, d, state, metadata = the_dialog(s, params, "the question whether to trust the folder", "waiting_for_trust")
	local index = first(d, function(label) return starts(label, "No") end)
	if not index then refuse("no_such_option", "no option begins with No") end
	return pick(l, d, state, metadata, index)
end

-- dismiss_welcome goes on from a page of the first run that waits for Enter alone.
function intents.dismiss_welcome(params, s)
	local l, state = now(s)
	local row = not l.prompt and l.last and s:match_last("(?i)(?:press )?enter to continue", math.max(1, l.last - 2), l.last)
	if not row or dialogs.read(l) then
		refuse("wrong_state", "no page waits for Enter alone: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	local page = matcher.predicate("row_holds", {row = row.row, text = row.text})
	return {
		actions = {},
		submission = {submit = {action.key("enter")}, done = matcher.negate(page), retry_when = page, retries = 1, timeout_ms = SUBMIT},
	}
end

function intents.send_prompt(params, s) return submit.send_prompt(prompts, params, s) end

-- steer types into a turn that runs: the program queues it, or takes it up between two tools.
function intents.steer(params, s)
	local plan = submit.send_prompt(prompts.steering, params, s)
	plan.last_intent = nil
	return plan
end

function intents.clear_input(params, s) return submit.clear_input(prompts, s) end

-- slash_command types a command key by key, as its menu wants it, and presses Enter when the input shows all of it and the
-- menu has come to rest: Enter takes the entry that is highlighted.
function intents.slash_command(params, s)
	local command = params.command
	if command == nil then command = params.name end
	if type(command) ~= "string" then refuse("bad_params", "give command, a string") end
	command = trim(gsub(command, "^%s*/", ""))
	if command == "" or contains(command, "\n") then refuse("bad_params", "the command must be one line that is not empty") end
	local l = prompts.at(s, "a command")
	if layout.input(l) ~= "" then refuse("input_not_empty", "text stands in the prompt already: clear it by the key intent") end
	local text = "/" .. command
	local here = matcher.predicate("input_holds", {words = words(text), exact = true, idle = true})
	sent.note(l, s, true, words(text))
	memory.cancel, memory.answered = {over = true}, nil
	return {
		actions = {action.text(text)}, last_intent = "command_submitted",
		submission = {
			echo = matcher.all({matcher.predicate("input_holds", {words = words(text), exact = true}), matcher.screen_stable(150)}),
			submit = {action.key("enter")},
			done = matcher.any({matcher.predicate("prompt_taken", {working = false}), matcher.process_exited()}),
			retry_when = here, retries = 1, timeout_ms = SUBMIT,
		},
	}
end

-- attach_file puts a path into the input and submits nothing. The program makes a mark of an image.
function intents.attach_file(params, s)
	local path = text_param(params, "path")
	if trim(path) == "" or contains(path, "\n") or contains(path, "\r") then
		refuse("bad_params", "the path must be one line that is not empty")
	end
	local l = prompts.at(s, "a path")
	local before = layout.input(l)
	if before ~= "" and not memory.attached then
		refuse("input_not_empty", "text stands in the prompt already: clear it by the key intent")
	end
	memory.attached = true
	local shown = {matcher.predicate("input_holds", {words = sub(words(path), -24)}), matcher.predicate("input_holds", {words = "[Image"})}
	return {actions = {
		action.bracketed_paste((before ~= "" and " " or "") .. path .. " "),
		action.expect(matcher.any(shown), SUBMIT),
	}}
end

-- cancel stops the turn with Escape, and presses it again only while that turn is seen to run. What is queued is then sent by
-- the program: cancel again, or force_cancel.
function intents.cancel(params, s)
	local l, state, metadata = now(s)
	local d = dialogs.read(l)
	if d and metadata.dialog_id then -- Escape refuses what is asked, which ends the turn
		local plan = leave(l, state, metadata)
		plan.last_intent = "cancelling"
		return plan
	end
	if state.state ~= "thinking" and state.state ~= "cancelling" then
		refuse("wrong_state", "no turn runs: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	memory.cancel = {said = signs.said(l), over = false, worked = signs.working(l) ~= false}
	return {
		actions = {}, last_intent = "cancelling",
		submission = {
			submit = {action.key("escape")}, done = matcher.predicate("cancel_settled"),
			retry_when = matcher.predicate("in_state", {state = "cancelling"}), retries = 2, timeout_ms = STOP,
		},
	}
end

-- force_cancel presses Escape until nothing runs any more, queued messages included. It never presses it at an idle prompt,
-- where twice would open the list to rewind to.
function intents.force_cancel(params, s)
	local l, state, metadata = now(s)
	local d = dialogs.read(l)
	if not (d and metadata.dialog_id) and state.state ~= "thinking" and state.state ~= "cancelling" then
		refuse("wrong_state", "no turn runs: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	memory.cancel = {said = signs.said(l), over = false, worked = signs.working(l) ~= false}
	local runs = matcher.predicate("in_state", {states = {
		"thinking", "cancelling", "waiting_for_permission", "waiting_for_plan_approval", "waiting_for_user_input", "waiting_for_enter_plan_mode",
	}})
	return {
		actions = {}, last_intent = "cancelling",
		submission = {submit = {action.key("escape")}, done = matcher.predicate("at_rest"), retry_when = runs, retries = 4, timeout_ms = 1500},
	}
end

-- Names that others have for keys.
local ALIASES = {
	["return"] = "enter", esc = "escape", pgup = "page_up", pgdn = "page_down", pageup = "page_up", pagedown = "page_down",
	backtab = "shift_tab", del = "delete", bs = "backspace", spacebar = "space",
}

local function set(names)
	local t = {}
	for name in string.gmatch(names, "%S+") do t[name] = true end
	return t
end
local KEYS = set("enter escape tab shift_tab backspace delete insert home end page_up page_down up down left right space")
local MODIFIERS = set("ctrl alt shift super meta hyper")

-- key presses a key, by its name or with modifiers, or types what is no name.
function intents.key(params, s)
	local key = text_param(params, "key")
	if key == "" then refuse("bad_params", "give key, the name of a key or a text") end
	local name = gsub(lower(key), "[- ]", "_")
	name = ALIASES[name] or name
	if name == "escape" or name == "enter" or match(name, "^[%dyn]$") then -- a dialog that this closes is not to be waited for any more
		local l, state, metadata = now(s)
		if not l.prompt then answering(l, state, metadata) end
	end
	if KEYS[name] or match(name, "^f%d%d?$") or match(name, "^ctrl_%w$") then return {actions = {action.key(name)}} end
	local modifiers, rest = match(lower(key), "^([%a+]-)%+?([^+]+)$")
	if modifiers and modifiers ~= "" and contains(key, "+") then
		local known = true
		for m in string.gmatch(modifiers, "%a+") do known = known and MODIFIERS[m] end
		rest = ALIASES[rest] or rest
		if known and (KEYS[rest] or match(rest, "^f%d%d?$") or #rest == 1) then
			return {actions = {action.key(modifiers .. "+" .. rest)}}
		end
	end
	return {actions = {action.text(key)}}
end

-- expand opens or closes the detailed transcript.
function intents.expand(params, s) return {actions = {action.key("ctrl_o")}} end

local function effort(key)
	return function(params, s)
		the_dialog(s, params, "the model picker", "waiting_for_model_select")
		return {actions = {action.key(key)}}
	end
end
intents.model_effort_left, intents.model_effort_right = effort("left"), effort("right")

return intents
