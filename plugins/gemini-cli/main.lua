-- The adapter of Google's Gemini CLI, made against version 0.61.0. Files:
--
--   screen.lua   what stands where on the screen
--   rules.lua    which state that is
--
-- What its keys do, where that is not plain: Escape ends a turn or refuses a permission; twice at the prompt it clears the input,
-- so it is never pressed there. Enter right behind a paste or another key is a line feed. Answering the trust dialog restarts the program.

local agent = require("ptywright.agent")
local screen = require("screen")

local starts, match, sub, trim, gsub = string.starts_with, string.match, string.sub, string.trim, string.gsub

local function agrees(label)
	return label == "Allow once" or label == "Yes" or starts(label, "Yes, allow once") or starts(label, "Yes, manually accept edits")
end

local function keys(d, index)
	local list = {}
	for _ = d.pointer + 1, index do list[#list + 1] = "down" end
	for _ = index + 1, d.pointer do list[#list + 1] = "up" end
	return list
end

local function sources(l)
	local place = l.prompt and "an input at the bottom" or l.dialog and "a box with options at the bottom" or l.box and "a box at the bottom" or l.last and "no input" or "blank"
	local list = {{source = "screen", says = place}}
	if l.title then list[#list + 1] = {source = "title", says = l.title} end
	return list
end

-- text joins rows from one that begins with a mark to the next that does, or to a blank row when to is nil.
local function text(l, from, to)
	local rows = {sub(l.lines[from], 5)}
	for i = from + 1, to or #l.lines do
		if not to and l.lines[i] == "" then break end
		rows[#rows + 1] = sub(l.lines[i], 3)
	end
	return trim(table.concat(rows, "\n"))
end

-- Enter within 40 ms of a paste or 30 ms of another key is a line feed. More makes every prompt and every answer later.
local ENTER = 100

local KINDS = {
	{"rate_limit", "(?i)\\b429\\b|RESOURCE_EXHAUSTED|quota|rate limit"}, {"auth", "(?i)\\b40[13]\\b|UNAUTHENTICATED|PERMISSION_DENIED|API key not valid"},
	{"connection", "(?i)\\b50\\d\\b|UNAVAILABLE|fetch failed|network|timed out|overloaded"},
}

local function describe(l, metadata, state)
	local d = l.dialog
	if d and (state.state == "waiting_for_permission" or state.state == "waiting_for_plan_approval") then
		local p = {question = d.question, options = metadata.options}
		local tool, what = match(l.heading or "", "^%? +(%S+) +(.*)$")
		if not tool then
			local row = l.s:match("^ ?│ \\? +(\\S+) +(.*?) *│$", l.top + 1, d.first)
			if row then tool, what = row.captures[1], row.captures[2] end
		end
		p.tool, p.summary = tool, what
		-- The command or the change stands in a box of its own.
		local body = {}
		for i = l.top + 1, d.first - 1 do
			local line = match(l.box[i], "^│ (.*)$")
			if line then body[#body + 1] = match(gsub(line, "│$", ""), "^(.-) *$") end
		end
		if #body > 0 then p[tool == "Shell" and "command" or "detail"] = table.concat(body, "\n") end
		metadata.permission = p
	elseif state.rule == "failed" and l.fault then
		local message, kind = text(l, l.fault), "api"
		for i = #KINDS, 1, -1 do
			if re.test(message, KINDS[i][2]) then kind = KINDS[i][1] end
		end
		metadata.error = {kind = kind, message = message}
	elseif state.rule == "completed" then
		local to = l.rule - 1
		if match(l.lines[to], "^ +%? for shortcuts$") then to = to - 1 end
		metadata.turn = {text = text(l, l.answer, to)}
	end
end

return agent.plugin({
	read = screen.read, rules = require("rules"), sources = sources, describe = describe, keys = keys, agrees = agrees,
	refuses = function(label) return label == "No" or starts(label, "No,") end,
	trusts = function(label) return starts(label, "Trust folder") end,
	stop = {"escape"}, enter_ms = ENTER,
	-- With a blank behind, the menu of @ stays closed, and a backslash does not make a line feed of Enter.
	input = {
		name = "Gemini CLI", trims = "both", pads = true, slash = "^/[^/]*$", clear = "ctrl_c", leave = "escape",
		alters = {
			{"[\\x{200b}\\x{200e}\\x{200f}\\x{202a}-\\x{202e}\\x{2066}-\\x{2069}\\x{feff}]", "takes out invisible characters"},
			{"@\\S", "may put the name of a file in the place of what follows an @, and adds what is in that file"},
		},
	},
	states = {
		"starting", "ready", "thinking", "completed_turn", "error", "waiting_for_trust", "waiting_for_login", "waiting_for_permission",
		"waiting_for_plan_approval", "waiting_for_user_input", "waiting_for_model_select", "local_ui_screen", "unknown",
	},
})
