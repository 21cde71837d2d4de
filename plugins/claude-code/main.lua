-- The adapter of Claude Code: what its screens mean, and how to act on them. It was made against the versions 2.0.60, 2.1.197
-- and 2.1.328. Files:
--
--   layout.lua    what stands where on the screen
--   dialogs.lua   reading a dialog: its options and its pointer
--   signs.lua     signs of how it is with a turn
--   rules.lua     which state that is, and how the sources are fused
--   about.lua     what a dialog is about, and its id
--   sent.lua      what has become of what was submitted
--   turn.lua      what was said and done in the turn, and its events
--   calls.lua     the calls of tools in it
--   memory.lua    what is remembered between two looks
--   intents.lua   what can be done
--   waits.lua     what can be waited for
--   catalog.lua   what plugin.describe tells

local layout = require("layout")
local rules = require("rules")
local about = require("about")
local turn = require("turn")
local calls = require("calls")
local memory = require("memory")
local intents = require("intents")
local waits = require("waits")
local catalog = require("catalog")

-- The mode stands in the footer: "⏸ plan mode on", "⏵⏵ accept edits on"; with neither it is the default.
local function note_mode(l)
	local m = l.s:match("^ *(?:⏸|⏵⏵) ?([a-z][a-z ]*?)(?: mode)? on\\b", l.prompt_bottom + 1, l.prompt_bottom + 3)
	if m then
		memory.mode = string.gsub(m.captures[1], " ", "_")
	elseif l.s:find("? for shortcuts", l.prompt_bottom + 1, l.prompt_bottom + 2) then
		memory.mode = "default"
	end
end

-- The model stands in the session's head, above "/tmp/demo" or in the box; later ones are announced: "Set model to …".
local function model_of(l)
	local s = l.s
	local head = s:find("Claude Code v", 1, 6)
	local row = head and s:find(" · ", head, head + 9)
	local m = row and re.match(s:row(row), "([A-Z][a-z]+ \\d[\\w.]*(?: \\([^)]*\\))?) · ")
	if m then memory.model = m end
	local set = s:find_last("Set model to ")
	m = set and re.match(s:row(set), "^ *⎿\\W+Set model to ([^(·]+?)(?: \\(|$| and | for )")
	if m then memory.model = m end
	return memory.model
end

-- REDRAW is how long after a change of its size, in ms, a screen on which nothing is known may be one that is half drawn.
local REDRAW = 500

-- redrawn reports whether the screen has just changed its size.
local function redrawn(s)
	local size = memory.size
	if not size or size.rows ~= s.rows or size.cols ~= s.cols then
		size = {rows = s.rows, cols = s.cols, at = s.at_ms, first = not size}
		memory.size = size
	end
	return not size.first and s.at_ms - size.at < REDRAW
end

local function classify(s)
	memory.seen(s)
	local l = layout.read(s)
	local state = rules.decide(l)
	if redrawn(s) and state.rule == "none" and s.previous and not s.explain then
		state.state, state.metadata = s.previous.state, s.previous.metadata
		state.evidence = "the screen has another size and is not drawn yet: the state was " .. s.previous.state
		state.confidence = 0.3
		return state
	end
	local metadata = {}
	if l.prompt then
		note_mode(l)
		turn.describe(l, state, metadata)
	elseif state.state == "usage_screen" then
		metadata.usage = turn.usage(l)
	elseif state.state == "error" and l.failure then
		metadata.error = {kind = l.failure.kind, message = l.failure.message}
	else
		about.describe(l, state.state, metadata)
		local asks, story = metadata.permission, memory.story
		if asks and asks.tool == "Bash" and asks.command and story and not memory.late and not memory.fresh then
			state.events = calls.asked(story, "Bash:" .. asks.command, metadata.dialog_id)
		end
	end
	waits.note(l, metadata)
	metadata.model, metadata.permission_mode = model_of(l), memory.mode
	state.metadata = metadata
	if not memory.late then memory.state = state.state end
	return state
end

waits.known = {}
for _, state in ipairs(catalog.states) do waits.known[state.name] = true end

local plugin = {classify = classify, describe = function() return catalog end}
for name, f in pairs(intents) do plugin[name] = f end
for _, w in ipairs(catalog.wait_matchers) do plugin[w.name] = waits[w.name] end
for _, p in ipairs(catalog.predicates) do plugin[p.name] = waits[p.name] end
return plugin
