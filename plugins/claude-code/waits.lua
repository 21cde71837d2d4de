-- Wait matchers, and the predicates that they and the intents' submissions are made of. A predicate that is bound to an adapter
-- runs in the adapter's own instance of the plugin and so sees what intents have noted there; without that it judges by the
-- screen alone. Each says why, also when it says no: that is what a wait that ran out of time shows.

local layout = require("layout")
local dialogs = require("dialogs")
local rules = require("rules")
local signs = require("signs")
local sent = require("sent")
local about = require("about")
local memory = require("memory")
local prompts = require("prompts")
local submit = require("ptywright.submit")

local matcher = ptywright.matcher
local words = layout.words
local match, sub, gsub = string.match, string.sub, string.gsub
local starts, ends, contains = string.starts_with, string.ends_with, string.contains

local SHOWN = 700 -- ms without a change after which what stands in the input is all that will; a paste of 1,500 lines takes 500
local SETTLED = 400 -- ms without a change for an end that no source tells outright; longer than the gaps between two frames

-- SWALLOWED is how long the screen must not change, in ms, before a dialog that was answered and still stands there counts as one
-- that wants an answer. A mark above it may blink every 600.
local SWALLOWED = 500

local waits = {}

local function yes(evidence, capture) return {matched = true, evidence = evidence, capture = capture} end
local function no(evidence) return {matched = false, evidence = evidence} end
local function quoted(text) return string.format("%q", sub(text, 1, 80)) end

-- now reads the screen, and notes what it shows of what was sent and answered.
local function now(s)
	memory.seen(s)
	local l = layout.read(s)
	local state, metadata = rules.decide(l), {}
	if not l.prompt then about.describe(l, state.state, metadata) end
	waits.note(l, metadata)
	return l, state, metadata
end

-- note follows up on what the intents have noted: whether the dialog that was answered has gone, whether the turn that was
-- cancelled has ended. The rules follow up on what was sent.
function waits.note(l, metadata)
	if l.prompt then
		if not memory.late then memory.stood = nil end
	else
		sent.dialog(metadata.dialog_id)
	end
	local answered = memory.answered
	if answered and not answered.gone and (l.prompt or (metadata.dialog_id or "") ~= answered.id) then answered.gone = true end
	local cancel = memory.cancel
	if cancel and not cancel.over and l.prompt then
		local working = signs.working(l) ~= false
		cancel.worked = cancel.worked or working
		-- Where nothing showed that the turn runs, that nothing shows it now says little.
		cancel.over = signs.said(l) ~= cancel.said or signs.interrupted(l) ~= false
			or not working and (cancel.worked or layout.input(l) ~= "" or l.s.stable_ms >= rules.UNSEEN)
	end
end

-- stood_for returns for how long the dialog has stood, in ms: as long as the screen was still, or since it was first seen, while
-- something else on the screen moves.
local function stood_for(s, metadata)
	local still, stood = s.stable_ms, memory.stood
	return stood and stood.id == metadata.dialog_id and math.max(still, s.at_ms - stood.at) or still
end

local AT_PROMPT = {ready = true, completed_turn = true, error = true, waiting_for_login = true}

-- The rules that see a turn's own end: a closing line, a failure, a stop. What others see could be the moment between two frames.
local ENDS = {completed = true, failed = true, interrupted = true, ["put-back"] = true, ["not-logged-in"] = true}

local UNDER_WAY = {thinking = true, cancelling = true, starting = true, unknown = true, plugin_error = true}

-- wants_user tells of a dialog or a local screen whether it waits for somebody: not while it is the one that has just been
-- answered and has not gone yet.
local function wants_user(s, l, state, metadata)
	local answered = memory.answered
	local same = answered and not answered.gone and answered.id == (metadata.dialog_id or "") and answered.state == state.state
	if same and dialogs.face(l) == answered.face and s.stable_ms < SWALLOWED then return no("the dialog that was answered has not gone yet") end
	if metadata.permission and metadata.permission.incomplete and stood_for(s, metadata) < SWALLOWED then
		return no("the dialog does not show yet what it is about")
	end
	return yes(state.state .. ": " .. state.evidence, {state = state.state, dialog_id = metadata.dialog_id})
end

-- turn_over holds when the turn has ended, or something needs the user.
function waits.turn_over(s)
	local l, state, metadata = now(s)
	local name = state.state
	if name == "unknown" and state.rule == "ended" then return yes(state.evidence, {state = name}) end
	if UNDER_WAY[name] then return no(name .. ": " .. state.evidence) end
	if not l.prompt then return wants_user(s, l, state, metadata) end
	if memory.sent and not memory.sent.begun then return no("nothing has come yet of what was sent: " .. state.evidence) end
	if not ENDS[state.rule] and s.stable_ms < SETTLED then
		return no("it looks over (" .. state.evidence .. "), but the screen has not come to rest")
	end
	return yes(name .. ": " .. state.evidence, {state = name})
end

-- is_ready holds when the prompt takes input and no turn runs, or when something stands in its way.
function waits.is_ready(s)
	local l, state, metadata = now(s)
	if UNDER_WAY[state.state] then return no(state.state .. ": " .. state.evidence) end
	if not l.prompt then return wants_user(s, l, state, metadata) end
	return yes(state.state .. ": " .. state.evidence, {state = state.state})
end

-- at_rest holds when the prompt is there and nothing runs.
function waits.at_rest(s)
	local l, state = now(s)
	if l.prompt and AT_PROMPT[state.state] then
		if s.stable_ms < SETTLED then return no("nothing runs, but what was queued may yet be sent") end
		return yes(state.evidence)
	end
	return no(state.state .. ": " .. state.evidence)
end

-- cancel_settled holds when the turn that was cancelled has ended, though the next may have begun.
function waits.cancel_settled(s)
	local l, state = now(s)
	local cancel = memory.cancel
	if cancel and cancel.over then
		-- Before anything came back the program takes the prompt out of the conversation and puts it back into the input.
		if l.prompt and not signs.working(l) and signs.said(l) ~= cancel.said and layout.input(l) == "" and s.stable_ms < SETTLED then
			return no("the turn was stopped, and its prompt may yet be put back into the input")
		end
		local goes_on = state.state == "thinking" and "the turn was stopped, and the program went on with what the user had said next"
		return yes(goes_on or state.evidence, {state = state.state})
	end
	if UNDER_WAY[state.state] then return no(state.state .. ": " .. state.evidence) end
	return yes(state.evidence, {state = state.state})
end

-- in_state holds in the states of params.states (or params.state), with params.text on the screen when that is given.
function waits.in_state(s)
	local p = s.params or {}
	local l, state, metadata = now(s)
	local wanted = false
	for _, name in ipairs(p.states or {p.state}) do wanted = wanted or name == state.state end
	if not wanted then return no(state.state .. ": " .. state.evidence) end
	if p.text and not s:find(p.text) then return no(state.state .. ", but the text is not on the screen") end
	if not l.prompt and metadata.dialog_id then return wants_user(s, l, state, metadata) end
	return yes(state.evidence, {state = state.state, dialog_id = metadata.dialog_id})
end

-- answered_here reports whether the dialog on the screen is the one that is being answered, and notes how it looks before the
-- key that answers it; with params.again it must still look so, since what looks otherwise asks something else.
local function answered_here(s, l, metadata)
	local answered = memory.answered
	if not answered then return true end
	if answered.id ~= (metadata.dialog_id or "") then return false end
	local face = dialogs.face(l)
	if s.params.again then return face == answered.face end
	answered.face = face
	return true
end

-- long_enough reports whether the dialog has stood for params.still_ms; with params.anew, for a dialog that may be drawn anew,
-- without any change of the screen.
local function long_enough(s, metadata)
	local p = s.params
	return (p.still_ms or 0) == 0 or (p.anew and s.stable_ms or stood_for(s, metadata)) >= p.still_ms
end

-- pointer_on holds when the pointer of the dialog that is being answered is on option params.index with params.label, and the
-- dialog has stood long enough.
function waits.pointer_on(s)
	local p = s.params
	local l, _, metadata = now(s)
	local d = dialogs.read(l)
	if not d then return no("no dialog is on the screen") end
	if d.pointer ~= p.index then return no("the pointer is on option " .. d.pointer .. ", not on " .. p.index) end
	local o = d.options[d.pointer]
	if p.label and o.label ~= p.label and not match(p.label, "^T[ye][pl]") then -- "Type something" gives way to what is typed
		return no("option " .. p.index .. " is now " .. quoted(o.label))
	end
	if p.holds and not contains(words(about.full(o)), words(p.holds)) then return no("the text does not stand in the option") end
	if not answered_here(s, l, metadata) then return no("another dialog is on the screen") end
	if not long_enough(s, metadata) then return no("the dialog has not stood for " .. p.still_ms .. " ms") end
	return yes("the pointer is on " .. quoted(o.label))
end

-- dialog_stands holds when the dialog that is being answered is there and has stood long enough.
function waits.dialog_stands(s)
	local l, _, metadata = now(s)
	if not dialogs.read(l) or not answered_here(s, l, metadata) then return no("the dialog is not on the screen") end
	if not long_enough(s, metadata) then return no("the dialog has not stood for " .. s.params.still_ms .. " ms") end
	return yes("the dialog stands there")
end

-- dialog_gone holds when the dialog that was answered is not on the screen any more, or another one is.
function waits.dialog_gone(s)
	local answered = memory.answered
	local l, state = now(s)
	local d = dialogs.read(l)
	local seen = {state = state.state}
	if not l.last then return no("the screen is blank") end
	if not d then return yes("the dialog has gone; the state is " .. state.state, seen) end
	if not answered then return no("a dialog is on the screen") end
	if answered.gone or dialogs.face(l) ~= answered.face then return yes("another dialog is there now; the state is " .. state.state, seen) end
	return no("the dialog is still there, with the pointer on " .. quoted(d.options[d.pointer].label))
end

function waits.option_checked(s)
	local p = s.params
	local l = now(s)
	local d = dialogs.read(l)
	local o = d and d.options[p.index]
	if not o then return no("the option is not on the screen") end
	local says = "option " .. p.index .. (o.checked and " is ticked" or " is not ticked")
	return o.checked == p.checked and yes(says) or no(says)
end

-- input_holds holds when params.words stand in the input; with params.exact nothing else may stand there, with params.idle no turn
-- may run.
function waits.input_holds(s)
	local p = s.params
	local l = now(s)
	if not l.prompt then return no("there is no prompt") end
	if l.glyph == "!" then return no("the prompt is in shell mode") end
	if p.idle and signs.working(l) then return no("a turn runs") end
	local text = layout.input(l)
	local w = words(text)
	if p.exact then -- "/model  [model]" is a command with a hint of what it takes
		local all = words(gsub(text, "%s+[%[<].*$", "")) == p.words
		return all and yes("the input shows all of it") or no("the input shows " .. quoted(text))
	end
	if contains(w, p.words) then return yes("the text stands in the input") end
	return no("the input shows " .. quoted(text))
end

-- prompt_stands holds when the input shows the prompt of which params.words are the words: all of it, or its end where the input is
-- scrolled, or the program's mark for pasted text; with params.attached behind a path. With params.idle no turn may run. Characters
-- beyond ASCII need not be drawn as they were typed: a text that has come to rest counts when the rest of it is the same. Anything
-- else is not submitted.
function waits.prompt_stands(s)
	local p = s.params
	local l = now(s)
	if not l.prompt then return no("there is no prompt") end
	if l.glyph == "!" or l.glyph == "#" then return no("the prompt is in another mode: " .. l.glyph) end
	if p.idle and signs.working(l) then return no("a turn runs") end
	local text = layout.input(l)
	local w, whole = words(text), p.words
	local function same(shown, wanted)
		return shown == wanted or (p.attached or not l.glyph) and shown ~= "" and (ends(shown, wanted) or not l.glyph and ends(wanted, shown))
	end
	if same(w, whole) then return yes("the text stands in the input") end
	local pasted = match(text, "%[Pasted text #%d+[^%]]*%]?")
	if pasted then
		local at = string.find(w, words(pasted), 1, true)
		if at and (p.attached or starts(whole, sub(w, 1, at - 1))) then return yes("the input shows " .. pasted .. " for it") end
	end
	if w ~= "" and s.stable_ms >= SHOWN and same(submit.skeleton(w), submit.skeleton(whole)) then
		return yes("the text stands in the input, with characters that are drawn otherwise")
	end
	return no("the input shows " .. quoted(text))
end

for name, f in pairs(submit.predicates(prompts)) do waits[name] = f end

-- prompt_taken holds when the input is empty again, or something stands in the prompt's place.
function waits.prompt_taken(s)
	local l, state = now(s)
	if not l.last or state.rule == "input-closed" then return no(state.evidence) end
	if not l.prompt then
		if state.state == "unknown" then return no(state.evidence) end
		return yes("the input was submitted; the state is " .. state.state)
	end
	if layout.input(l) ~= "" then return no("the text still stands in the input") end
	if l.queued or (s.params or {}).working then
		return yes("the input is empty again: a turn runs, so the program has queued it and takes it up when that is over")
	end
	local source, says = signs.working(l)
	return yes("the input is empty again" .. (source and ", and " .. says or l.echo and ", and the prompt stands in the conversation" or ""))
end

function waits.row_holds(s)
	local row = s:row(s.params.row)
	return row ~= nil and contains(row, s.params.text)
end

-- The wait matchers.

function waits.wait_turn_matcher(params, s) return matcher.any({matcher.predicate("turn_over"), matcher.process_exited()}) end

function waits.wait_ready_matcher(params, s) return matcher.any({matcher.predicate("is_ready"), matcher.process_exited()}) end

function waits.wait_cancel_settled_matcher(params, s)
	return matcher.any({matcher.predicate("cancel_settled"), matcher.process_exited()})
end

function waits.wait_state_matcher(params, s)
	local states = params.states or params.state and {params.state}
	if type(states) ~= "table" or #states == 0 then error({code = "bad_params", message = "give states, a list of names, or state"}) end
	for _, name in ipairs(states) do
		if not waits.known[name] then
			error({code = "bad_params", message = "there is no state " .. quoted(tostring(name)) .. "; see plugin.describe"})
		end
	end
	return matcher.predicate("in_state", {states = states, text = params.text})
end

return waits
