-- The adapter of OpenCode, made against version 1.18.33. Files:
--
--   screen.lua   what stands where on the screen
--   rules.lua    which state that is
--
-- What its keys do, where that is not plain: a turn ends with the second Escape of two; the options of a permission stand beside
-- each other, and only their colours tell which one Enter takes. OpenCode asks about no folder's trust.

local agent = require("ptywright.agent")
local screen = require("screen")

local submit = require("ptywright.submit")

local match, sub, trim = string.match, string.sub, string.trim

-- long tells of a prompt whether the program shows a mark for it: from three lines or 150 characters on, which are fewer than bytes.
local function long(prompt) return #prompt > 150 or string.find(prompt, "\n.*\n") ~= nil end

local function keys(d, index)
	local list = {}
	for _ = d.pointer + 1, index do list[#list + 1] = d.across and "right" or "down" end
	for _ = index + 1, d.pointer do list[#list + 1] = d.across and "left" or "up" end
	return list
end

local function sources(l)
	local place = l.overlay and "a dialog over the screen" or l.prompt and "an input" or l.panel and "a panel at the bottom" or l.last and "no input" or "blank"
	local list = {{source = "screen", says = place}}
	local title = l.s.title
	if title then list[#list + 1] = {source = "title", says = sub(title, 1, 3) == "OC " and "a session" or "the home page"} end
	return list
end

-- behind returns rows of a panel without their bars, blank ones at both ends dropped.
local function behind(l, from, to)
	local rows = {}
	for i = from, to do rows[#rows + 1] = match(sub(l.lines[i], #l.head + 1), "^ ?(.-) *$") end
	while rows[1] and trim(rows[1]) == "" do table.remove(rows, 1) end
	while rows[1] and trim(rows[#rows]) == "" do table.remove(rows) end
	return table.concat(rows, "\n")
end

local KINDS = {
	{"rate_limit", "(?i)\\b429\\b|rate limit|slow down|quota"}, {"auth", "(?i)\\b40[13]\\b|unauthorized|api[- ]key|authenticat"},
	{"connection", "(?i)\\b5\\d\\d\\b|overloaded|connect|network|timed out"},
}

local function describe(l, metadata, state)
	local d = l.dialog
	if state.state == "waiting_for_permission" then
		local p = {stage = l.stage == "Permission required" and "ask" or l.stage == "Always allow" and "always" or "reject", options = metadata.options}
		if d and p.stage == "ask" then
			local what = trim(behind(l, l.stage_row + 1, l.stage_row + 1))
			local body = trim(behind(l, l.stage_row + 2, d.row - 1))
			p.summary = what
			p.command = match(body, "^ *%$ (.*)$")
			if not p.command and body ~= "" then p.detail = body end
		end
		metadata.permission = p
	elseif state.rule == "failed" then
		local kind = "api"
		for i = #KINDS, 1, -1 do
			if re.test(l.message, KINDS[i][2]) then kind = KINDS[i][1] end
		end
		metadata.error = {kind = kind, message = l.message}
	elseif state.rule == "completed" then
		-- The last text of the answer: indented by five, down from a block with a bar.
		local from = l.ended
		while from > 1 and (l.lines[from - 1] == "" or match(l.lines[from - 1], "^     ")) do from = from - 1 end
		local rows = {}
		for i = from, l.ended - 1 do rows[#rows + 1] = sub(l.lines[i], 6) end
		metadata.turn = {text = trim(table.concat(rows, "\n")), duration = l.took}
	elseif state.rule == "working" then
		local retry = l.s:match("\\[retrying (?:in (\\S+) )?attempt #(\\d+)\\]", l.hints, l.hints)
		if retry then metadata.retry = {attempt = tonumber(retry.captures[2]), after = retry.captures[1] ~= "" and retry.captures[1] or nil} end
	end
	if l.prompt then
		metadata.agent, metadata.model = match(l.agent, "^(%S+) · (.*)$")
	end
end

return agent.plugin({
	read = screen.read, rules = require("rules"), sources = sources, describe = describe, keys = keys,
	agrees = function(label) return label == "Allow once" end,
	refuses = function(label) return label == "Reject" end,
	trusts = function() return false end,
	stop = {"escape", "escape"},
	input = {
		name = "OpenCode", slash = "^/", clear = "ctrl_c", leave = "escape", closes = "escape", sums = long,
		ends = function(prompt) return prompt == "exit" or prompt == "quit" or prompt == ":q" end,
		alters = {{"^\\x{feff}", "drops a byte order mark at the beginning"}},
		refuses = function(prompt)
			return long(prompt) and submit.trimmed(prompt) ~= prompt and "takes blanks off the ends of a prompt of three lines or 150 characters" or nil
		end,
	},
	armed = function(l) return l.hints and (l.s:find("again to", l.hints, l.hints + 1)) end,
	states = {
		"starting", "ready", "thinking", "completed_turn", "error", "waiting_for_login", "waiting_for_permission",
		"waiting_for_user_input", "waiting_for_model_select", "local_ui_screen", "unknown",
	},
})
