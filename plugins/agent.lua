-- What adapters of agents have in common: a prompt is pasted and submitted, a dialog is answered by moving its pointer, a turn is
-- waited for. A plugin has it by require("ptywright.agent").
--
-- agent.plugin(program) makes a plugin of what is known about the screens of one program:
--   read(s)                 the layout of a screen, see below
--   rules                   tried in order by ptywright.decide, on a layout
--   sources(l)              what each source says of a layout
--   describe(l, metadata)   adds what else the screen tells; may be nil
--   keys(dialog, index)     names of the keys that move the pointer to an option
--   agrees, refuses, trusts functions of an option's label: it agrees this once; it refuses; it says that the folder is trusted
--   stop                    names of the keys that end a turn, of which the second waits until the screen shows armed(l)
--   enter_ms                how long the screen must have stood still before Enter, where that matters; else nil
--   input                   what it makes of a prompt: see the head of submit.lua
--   states                  names of the states that the rules know
--
-- A layout has:
--   s, lines   the view and its rows; last: the last row with anything on it, nil when there is none
--   prompt     the first row of the input, nil when there is none; input: what stands in it; pasted: what stands there in place
--              of a long paste; shell: whether what is typed there is run by a shell; menu: a menu is open that would take
--              Enter; summed: pasted stands there with a blank behind it, which the program has added
--   mark       the texts of the rows that end the last turn; nil where they may change later
--   dialog     nil or {options = {{label =, row =}}, pointer = the option it is on, nil when that cannot be told, subject = a
--              text that names what is asked, first = the row of the first option}
-- A state that a rule makes has ended = true when the screen marks the end of a turn, and unclear = true when a dialog may be on
-- the screen that is not drawn yet.

local submit = require("ptywright.submit")

local agent = {}

local action, matcher = ptywright.action, ptywright.matcher
local byte, sub, gsub = string.byte, string.sub, string.gsub
local trim, lower = string.trim, string.lower

local SETTLED = 400 -- ms without a change until an end counts that nothing on the screen marks; longer than the gap between two frames
local UNSEEN = 3000 -- ms without a change until it counts that a prompt that was sent has begun no turn, or that an answer was not taken
local ECHO = 5000 -- ms for a paste to appear; it takes some 50, and a second on a busy machine
local ANSWER = 3000 -- ms for Enter or Escape to show; it takes 20 to 300

local ARMED = 1000 -- ms for the screen to ask for the second key; it takes some 30
local BEGUN = 3000 -- ms for a turn to be on the screen that is to be ended; it takes some 50

local UNDER_WAY = {thinking = true, starting = true, unknown = true}
local AT_REST = {ready = true, completed_turn = true, error = true}
local ASKS = {waiting_for_permission = true, waiting_for_plan_approval = true}
local STOPPABLE = {thinking = true, waiting_for_permission = true, waiting_for_plan_approval = true, waiting_for_user_input = true}

local function refuse(code, message) error({code = code, message = message}) end
local function yes(evidence, capture) return {matched = true, evidence = evidence, capture = capture} end
local function no(evidence) return {matched = false, evidence = evidence} end

-- words is a text without the blanks and breaks that wrapping changes.
local function words(text) return (gsub(gsub(text, "\194\160", ""), "%s", "")) end

-- id is a hash of a text: eight hexadecimal digits. It takes four bytes at a time; 65599 is the multiplier of sdbm, and no product
-- reaches 2^53, where whole numbers end.
local last_text, last_id
local function id(text)
	if text ~= last_text then
		local h = #text
		for i = 1, #text, 4 do
			local a, b, c, d = byte(text, i, i + 3)
			h = (h * 65599 + a + (b or 0) * 256 + (c or 0) * 65536 + (d or 0) * 16777216) % 4294967296
		end
		last_text, last_id = text, bit.tohex(h)
	end
	return last_id
end

-- What a function of the plugin does is asked of program, which agent.plugin sets; memory is what intents leave for predicates.
--   sent      the prompt that was sent: {mark = the end of the turn before it, typed = its text was seen in the input, begun = its
--             own turn was seen}
--   answered  the dialog that was answered, until it has gone
local program
local memory = {}

-- look reads a view: its layout, its state, and notes what became of what was sent and answered.
local function look(s)
	local l = program.read(s)
	l.explain, l.hits, l.sent = s.explain, function() return s:hits() end, memory.sent
	local state = ptywright.decide(program.rules, l)
	if l.dialog and l.dialog.subject then l.id = id(state.state .. ":" .. l.dialog.subject) end
	local sent = memory.sent
	if sent and not sent.begun then
		if not AT_REST[state.state] then
			sent.begun = state.state == "thinking" or l.dialog ~= nil
		elseif l.input ~= "" then
			sent.typed = true
		elseif state.ended and l.mark and l.mark ~= sent.mark or sent.typed and s.stable_ms >= UNSEEN then
			sent.begun = true
		elseif sent.typed then
			state = {
				state = "thinking", rule = "sent", source = "intent", confidence = 0.6, rows = state.rows, nearly = state.nearly,
				evidence = "the prompt was submitted, and its turn is not on the screen yet", recheck_ms = UNSEEN,
			}
		end
	end
	if state.state == "unknown" then state.unclear = true end
	if memory.answered and l.id ~= memory.answered and not state.unclear then memory.answered = nil end
	return l, state
end

local function classify(s)
	local l, state = look(s)
	local metadata = {}
	local d = l.dialog
	if d then
		local options = {}
		for i, o in ipairs(d.options) do
			options[i] = {index = i, label = o.label, focused = i == d.pointer, shortcut = o.shortcut, description = o.description}
		end
		metadata.options, metadata.dialog_id = options, l.id
	end
	if program.describe then program.describe(l, metadata, state) end
	state.metadata, state.sources, state.ended, state.unclear = metadata, program.sources(l), nil, nil
	return state
end

-- the_dialog returns layout and dialog when one of the wanted states is there and the dialog is the one that the client means.
local function the_dialog(s, params, what, wanted)
	local l, state = look(s)
	if not l.dialog or not wanted[state.state] then
		refuse("wrong_state", what .. " is not on the screen: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	if params.dialog_id ~= nil and params.dialog_id ~= l.id then
		refuse("stale_dialog", "the dialog on the screen is " .. l.id .. ", not " .. tostring(params.dialog_id))
	end
	return l, l.dialog
end

-- above is the id of all that stands above a dialog's options. The next dialog may ask the very same, but not below the very
-- same conversation.
local function above(l) return id(table.concat(l.lines, "\n", 1, l.dialog.first - 1)) end

-- pick moves the pointer to an option and presses Enter when the screen shows it there. Enter is pressed again only while all
-- that stands above is as it was, with the pointer on the same option.
local function pick(l, d, index)
	if not d.pointer then refuse("no_pointer", "the screen does not tell which option the pointer is on") end
	local actions = {}
	for i, key in ipairs(program.keys(d, index)) do actions[i] = action.key(key) end
	memory.answered = l.id
	local label, still = d.options[index].label, program.enter_ms
	return {actions = actions, submission = {
		echo = matcher.predicate("pointer_on", {index = index, label = label, dialog_id = l.id, still_ms = still}),
		submit = {action.key("enter")},
		done = matcher.any({matcher.predicate("dialog_gone", {dialog_id = l.id}), matcher.process_exited()}),
		retry_when = matcher.predicate("pointer_on", {index = index, label = label, dialog_id = l.id, above = above(l)}),
		retries = 2, timeout_ms = ANSWER,
	}}
end

-- pick_first picks the first option whose label passes a test.
local function pick_first(l, d, test, what)
	for i, o in ipairs(d.options) do
		if test(o.label) then return pick(l, d, i) end
	end
	refuse("no_such_option", "no option " .. what .. "; see metadata.options and use choose_option")
end

local intents = {}

function intents.send_prompt(params, s) return submit.send_prompt(program.input, params, s) end

function intents.clear_input(params, s) return submit.clear_input(program.input, s) end

-- at_prompt returns the layout where a prompt takes input.
local function at_prompt(s)
	local l, state = look(s)
	if not l.prompt or not AT_REST[state.state] then
		refuse("wrong_state", "no prompt takes input: the state is " .. state.state .. " (" .. state.evidence .. ")")
	end
	if l.shell then
		refuse("wrong_state", "the input is in shell mode, which would run a prompt as a command: use clear_input")
	end
	return l
end

-- of_input adds to what a plugin tells of its program's input what is the same for all.
local function of_input(input)
	function input.read(s)
		local l, state = look(s)
		l.idle = AT_REST[state.state]
		return l
	end
	input.at = at_prompt
	function input.matchers(l, prompt)
		local holds = matcher.predicate("input_holds", {words = words(prompt), still_ms = program.enter_ms})
		local taken = matcher.any({matcher.predicate("prompt_taken"), matcher.process_exited()})
		return {holds = holds, again = holds, taken = taken, timeout_ms = ECHO}
	end
	function input.note(l) memory.sent = {mark = l.mark} end
	function input.dropped() memory.sent = nil end
end

function intents.approve(params, s)
	local l, d = the_dialog(s, params, "something to approve", ASKS)
	return pick_first(l, d, program.agrees, "agrees to just this")
end

function intents.deny(params, s)
	local l, d = the_dialog(s, params, "something to deny", ASKS)
	return pick_first(l, d, program.refuses, "refuses")
end

function intents.approve_trust(params, s)
	local l, d = the_dialog(s, params, "the question whether to trust the folder", {waiting_for_trust = true})
	return pick_first(l, d, program.trusts, "trusts just this folder")
end

-- choose_option picks an option of any dialog by its place, or by its label or the beginning of it.
function intents.choose_option(params, s)
	local l, state = look(s)
	local l, d = the_dialog(s, params, "a dialog with options", {[state.state] = true})
	if params.index ~= nil then
		if type(params.index) ~= "number" or not d.options[params.index] then refuse("no_such_option", "there are options 1 to " .. #d.options) end
		return pick(l, d, params.index)
	end
	if type(params.option) ~= "string" or trim(params.option) == "" then refuse("bad_params", "give index, or option: a label or its beginning") end
	local wanted = lower(trim(params.option))
	return pick_first(l, d, function(label) return sub(lower(label), 1, #wanted) == wanted end, "begins with " .. string.format("%q", sub(params.option, 1, 60)))
end

-- cancel ends the turn, also one that waits in a dialog. A turn that is not on the screen yet would swallow the key, so it is waited
-- for; a key that another thing has swallowed, as an open menu, is pressed again while the turn runs on.
function intents.cancel(params, s)
	local l, state = look(s)
	if not STOPPABLE[state.state] then refuse("wrong_state", "no turn runs: the state is " .. state.state .. " (" .. state.evidence .. ")") end
	local keys = program.stop
	local submission = {
		submit = {action.key(keys[1])}, done = matcher.any({matcher.predicate("turn_stopped"), matcher.process_exited()}),
		retry_when = matcher.predicate("as_before", {state = state.state, dialog_id = l.id}), retries = 2, timeout_ms = ANSWER,
	}
	if keys[2] and state.state == "thinking" then
		submission.submit[2] = action.when(matcher.predicate("stop_armed"), {action.key(keys[2])}, ARMED)
	end
	memory.answered = l.id
	local begun = action.when(matcher.any({matcher.predicate("turn_begun"), matcher.predicate("turn_stopped")}), {}, BEGUN)
	return {actions = state.state == "thinking" and {begun} or {}, last_intent = "", submission = submission}
end

local predicates = {}

-- pointer_on holds when the dialog that params.dialog_id names has its pointer on an option.
function predicates.pointer_on(s)
	local l, state = look(s)
	local d, p = l.dialog, s.params
	if not d or l.id ~= p.dialog_id then return no("the dialog is not there: the state is " .. state.state .. " (" .. state.evidence .. ")") end
	local o = d.options[d.pointer]
	if p.still_ms and s.stable_ms < p.still_ms then return no("the screen has not stood still for " .. p.still_ms .. " ms") end
	if p.above and p.above ~= above(l) then return no("what stands above the options has changed: this may be another dialog") end
	if d.pointer ~= p.index or o.label ~= p.label then return no("the pointer is on " .. (o and string.format("%q", o.label) or "nothing")) end
	return yes("the pointer is on " .. string.format("%q", o.label))
end

function predicates.dialog_gone(s)
	local l, state = look(s)
	if state.unclear then return no(state.evidence) end
	if l.id == s.params.dialog_id then return no("the dialog still stands there") end
	return yes("the dialog has gone; the state is " .. state.state)
end

-- input_holds holds when params.words stand in the input: all of them, or their end when the input is scrolled, or what the program
-- shows for a long paste, and have stood still for params.still_ms. Characters beyond ASCII need not be drawn as they were typed: a
-- text that has come to rest counts when the rest of it is the same. Anything else is not submitted.
function predicates.input_holds(s)
	local l, state = look(s)
	if not l.prompt then return no("there is no prompt: the state is " .. state.state .. " (" .. state.evidence .. ")") end
	if l.shell then return no("the input is in shell mode") end
	if l.menu then return no("a menu is open that would take Enter") end
	local shown, wanted, still = words(l.input), s.params.words, s.params.still_ms
	if still and s.stable_ms < still then return no("the screen has not stood still for " .. still .. " ms") end
	if shown == wanted then return yes("the text stands in the input") end
	if l.pasted and shown == words(l.pasted) then
		if l.summed then return no("a blank stands behind " .. l.pasted) end
		return yes("the input shows " .. l.pasted .. " for it")
	end
	if #shown >= 40 and string.ends_with(wanted, shown) then return yes("the end of the text stands in the input") end
	if shown ~= "" and s.stable_ms >= 700 then
		local plain, whole = submit.skeleton(shown), submit.skeleton(wanted)
		if plain == whole or #plain >= 40 and string.ends_with(whole, plain) then
			return yes("the text stands in the input, with characters that are drawn otherwise")
		end
	end
	return no("the input shows " .. string.format("%q", sub(l.input, 1, 80)))
end

-- prompt_taken holds when what stood in the input has gone.
function predicates.prompt_taken(s)
	local l, state = look(s)
	if not l.prompt then
		if state.unclear or UNDER_WAY[state.state] and state.state ~= "thinking" then return no(state.evidence) end
		return yes("the input was submitted; the state is " .. state.state)
	end
	if l.input ~= "" then return no("text still stands in the input") end
	return yes("the input is empty again" .. (state.state == "thinking" and ", and a turn runs" or ""))
end

-- turn_begun holds when the turn of what was sent is on the screen, and so is there to be ended.
function predicates.turn_begun(s)
	local l, state = look(s)
	local sent = memory.sent
	if not sent or sent.begun then return yes("the turn is on the screen: " .. state.evidence) end
	return no("nothing on the screen tells yet of the turn of what was sent")
end

function predicates.stop_armed(s)
	local l, state = look(s)
	if state.state ~= "thinking" then return yes("the turn does not run any more") end
	if program.armed and program.armed(l) then return yes("the screen asks for the second key") end
	return no("the screen does not ask for the second key")
end

function predicates.turn_stopped(s)
	local l, state = look(s)
	if state.unclear or UNDER_WAY[state.state] or STOPPABLE[state.state] then return no(state.state .. ": " .. state.evidence) end
	return yes(state.state .. ": " .. state.evidence)
end

function predicates.as_before(s)
	local l, state = look(s)
	if state.state == s.params.state and l.id == s.params.dialog_id then return yes("the state is still " .. state.state) end
	return no("the state is " .. state.state .. ": " .. state.evidence)
end

-- waits tells of a state that waits for somebody: not while it is a dialog that has just been answered.
local function waits(s, l, state)
	if l.id and l.id == memory.answered and s.stable_ms < UNSEEN then return no("the dialog that was answered has not gone yet") end
	return yes(state.state .. ": " .. state.evidence, {state = state.state, dialog_id = l.id})
end

-- turn_over holds when the turn has ended, or something needs the user.
function predicates.turn_over(s)
	local l, state = look(s)
	if UNDER_WAY[state.state] then return no(state.state .. ": " .. state.evidence) end
	if not AT_REST[state.state] then return waits(s, l, state) end
	if not state.ended and s.stable_ms < SETTLED then return no("it looks over (" .. state.evidence .. "), but the screen has not come to rest") end
	return yes(state.state .. ": " .. state.evidence, {state = state.state})
end

function predicates.is_ready(s)
	local l, state = look(s)
	if UNDER_WAY[state.state] then return no(state.state .. ": " .. state.evidence) end
	return waits(s, l, state)
end

local matchers = {}
function matchers.wait_turn_matcher() return matcher.any({matcher.predicate("turn_over"), matcher.process_exited()}) end
function matchers.wait_ready_matcher() return matcher.any({matcher.predicate("is_ready"), matcher.process_exited()}) end

local text = {type = "string"}
local dialog_id = {type = "string", description = "refuse with stale_dialog unless this dialog is on the screen; see metadata.dialog_id"}
local function object(properties, required) return {type = "object", properties = properties, required = required} end

local described = {
	intents = {
		{
			name = "send_prompt", params_schema = submit.params_schema,
			description = "Pastes a prompt and submits it: it arrives once and unchanged, or is refused with the reason.",
		},
		{name = "clear_input", description = "Empties the input, and leaves shell mode.", params_schema = object({})},
		{name = "approve", description = "Agrees to what the dialog asks, this once.", params_schema = object({dialog_id = dialog_id}), during_turn = true},
		{name = "deny", description = "Refuses what the dialog asks.", params_schema = object({dialog_id = dialog_id}), during_turn = true},
		{name = "approve_trust", description = "Says that the folder is trusted.", params_schema = object({dialog_id = dialog_id}), during_turn = true},
		{
			name = "choose_option", description = "Picks an option of the dialog on the screen by its place or its label.", during_turn = true,
			params_schema = object({index = {type = "integer"}, option = text, dialog_id = dialog_id}),
		},
		{name = "cancel", description = "Ends the turn that runs.", params_schema = object({}), during_turn = true},
	},
	wait_matchers = {
		{name = "wait_turn_matcher", description = "The turn is over, or something needs the user. An end from before the prompt was sent does not count."},
		{name = "wait_ready_matcher", description = "The prompt takes input and no turn runs, or a dialog stands in its way."},
	},
}

local states = {
	starting = "The program has not drawn its prompt or a dialog yet.",
	ready = "The prompt takes input, and no turn runs.",
	thinking = "A turn runs.",
	completed_turn = "The last turn has ended, and the prompt takes input.",
	error = "The last turn failed; see metadata.error. The prompt takes input.",
	waiting_for_trust = "The program asks whether the folder is trusted.",
	waiting_for_login = "The program asks how to log in.",
	waiting_for_permission = "The program asks whether it may do something.",
	waiting_for_plan_approval = "The program asks whether to carry out its plan.",
	waiting_for_user_input = "The program asks the user a question.",
	waiting_for_model_select = "The model picker is open.",
	local_ui_screen = "Another screen stands in the place of the prompt.",
	unknown = "Nothing that is known fits the screen, or the program has ended; see the evidence.",
}

-- plugin returns the functions of a plugin for a program.
function agent.plugin(p)
	program = p
	of_input(p.input)
	for name, f in pairs(submit.predicates(p.input)) do predicates[name] = f end
	described.states, described.predicates = {}, {}
	for i, name in ipairs(p.states) do described.states[i] = {name = name, description = states[name]} end
	local plugin = {classify = classify, describe = function() return described end}
	for _, functions in ipairs({intents, predicates, matchers}) do
		for name, f in pairs(functions) do plugin[name] = f end
	end
	for name in pairs(predicates) do described.predicates[#described.predicates + 1] = {name = name} end
	table.sort(described.predicates, function(a, b) return a.name < b.name end)
	return plugin
end

agent.words = words

return agent
