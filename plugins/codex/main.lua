-- The adapter of OpenAI's Codex, made against version 0.169.0. Files:
--
--   screen.lua   what stands where on the screen
--   rules.lua    which state that is
--
-- What its keys do, where that is not plain: Escape ends a turn or refuses a permission; without a turn it opens the
-- conversation for rewinding, so it is never pressed then. Ctrl-C at an empty input ends the program at once; at
-- one with a text, or in shell mode, it empties that.

local agent = require("ptywright.agent")
local screen = require("screen")

local starts, contains, match, sub, trim = string.starts_with, string.contains, string.match, string.sub, string.trim

-- What agrees to more than this once.
local WIDER = {"don't ask again", "for this session", "for this conversation", "in the future", "for these files", "always", "to open thread"}

local function agrees(label)
	if not starts(label, "Yes") and not starts(label, "Allow") then return false end
	for _, w in ipairs(WIDER) do
		if contains(label, w) then return false end
	end
	return true
end

local function refuses(label) return (starts(label, "No") or starts(label, "Deny") or starts(label, "Decline")) and not contains(label, "in the future") end

local function keys(d, index)
	local list = {}
	for _ = d.pointer + 1, index do list[#list + 1] = "down" end
	for _ = index + 1, d.pointer do list[#list + 1] = "up" end
	return list
end

local function sources(l)
	local list = {{source = "screen", says = l.prompt and "an input at the bottom" or l.dialog and "options with a pointer" or l.last and "no input" or "blank"}}
	if l.title then list[#list + 1] = {source = "title", says = l.title} end
	if l.status then list[#list + 1] = {source = "program_status", says = l.status} end
	return list
end

-- text joins rows of the conversation, without their marks.
local function text(l, from, to)
	local rows = {}
	for i = from, to do rows[#rows + 1] = sub(l.lines[i], i == from and 5 or 3) end
	return trim(table.concat(rows, "\n"))
end

local KINDS = {
	{"(?i)\\b429\\b|rate limit|usage limit|quota", "rate_limit"}, {"(?i)\\b40[13]\\b|unauthorized|api key|sign in|log in", "auth"},
	{"(?i)stream disconnected|connection|network|timed out|\\b50\\d\\b|overloaded", "connection"},
}

local function describe(l, metadata, state)
	local d = l.dialog
	if d and state.state == "waiting_for_permission" then
		local p = {question = d.heading, options = metadata.options}
		local command = l.s:match("^ {2}\\$ (.*)$", d.heading_row, d.first)
		if command then
			local rows = {command.captures[1]}
			for i = command.row + 1, d.first - 1 do
				if l.lines[i] == "" then break end
				rows[#rows + 1] = trim(l.lines[i])
			end
			p.tool, p.command = "shell", table.concat(rows, "\n")
		elseif contains(d.heading, "edits") then
			p.tool = "edit"
		end
		local reason = l.s:match("^ {2}Reason: (.*)$", d.heading_row, d.first)
		p.reason = reason and reason.captures[1]
		metadata.permission = p
	elseif state.rule == "failed" and l.fault then
		local to = l.fault
		while l.lines[to + 1] ~= "" and to + 1 < l.prompt do to = to + 1 end
		local message, kind = text(l, l.fault, to), "api"
		for i = #KINDS, 1, -1 do
			if re.test(message, KINDS[i][1]) then kind = KINDS[i][2] end
		end
		metadata.error = {kind = kind, message = message}
	elseif state.rule == "completed" and l.worked then
		metadata.turn = {duration = match(l.lines[l.worked], "Worked for (.-) •")}
		if l.block and l.block < l.worked then metadata.turn.text = text(l, l.block, l.worked - 1) end
	end
	if l.prompt then
		local model = l.s:match("^ {2}(\\S+) \\S+ · [~/]", l.footer)
		metadata.model = model and model.captures[1]
	end
end

return agent.plugin({
	read = screen.read, rules = require("rules"), sources = sources, describe = describe, keys = keys,
	agrees = agrees, refuses = refuses,
	trusts = function(label) return starts(label, "Trust and continue") or starts(label, "Yes, continue") or starts(label, "Yes, allow Codex") end,
	stop = {"escape"},
	-- With a blank behind, the menus of @ and $ stay closed. One in front would save a ! in 0.169.0, but 0.128.0 trims it before it
	-- looks, and shows nothing of it.
	input = {name = "Codex", trims = "both", pads = true, shell = true, slash = "^/[^/]*$", clear = "ctrl_c"},
	states = {
		"starting", "ready", "thinking", "completed_turn", "error", "waiting_for_trust", "waiting_for_login", "waiting_for_permission",
		"waiting_for_user_input", "waiting_for_model_select", "local_ui_screen", "unknown",
	},
})
