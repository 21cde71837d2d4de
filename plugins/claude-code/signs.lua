-- Signs of how it is with a turn, at the prompt: which source says that it runs, what it failed with, whether the user stopped it.

local layout = require("layout")

local signs = {}

local match = string.match
local starts, contains, lower = string.starts_with, string.contains, string.lower

-- working returns which source says that a turn runs, and how it says so; nil when none does.
local function working(l)
	if l.working ~= nil then return l.working, l.working_says end
	local source, says = false, nil
	if l.status == "working" then
		source, says = "program_status", "the program reports that it works"
	elseif l.title == "working" then
		source, says = "title", "the title shows the glyph of a program at work"
	elseif l.s:find("esc to interrupt", l.prompt_bottom + 1) then
		source, says = "screen", "the footer says: esc to interrupt"
	elseif l.spinner then
		source, says = "screen", "a line with a spinner stands above the prompt"
	else
		local p = l.s.progress
		if p and (p.state == "busy" or p.state == "normal") then source, says = "progress", "the program reports progress" end
	end
	l.working, l.working_says = source, says
	return source, says
end
signs.working = working

-- What the message of a failed turn holds, and what kind of failure that is. The first that is contained counts. Words come
-- before the status of HTTP, since a limit that is used up comes with the status of a rate.
local FAILURES = {
	{kind = "auth", "not logged in", "please run /login", "invalid api key", "x-api-key", "authentication", "oauth", "unauthorized"},
	{kind = "quota", "credit balance", "usage limit", "hit your", "extra usage", "5-hour limit", "weekly limit"},
	{kind = "rate_limit", "429", "rate limit"},
	{kind = "overloaded", "overloaded", "529"},
	{kind = "connection", "connection", "unable to connect", "network", "timed out", "econn"},
	{kind = "too_long", "prompt is too long", "context limit"},
	{kind = "auth", "error: 401", "error: 403"},
	{kind = "api", "api error", "api_error", "error"},
}

-- STATUSES are what a message begins with while the program tries again: "401 invalid x-api-key".
local STATUSES = {["401"] = "auth", ["403"] = "auth", ["429"] = "rate_limit", ["529"] = "overloaded"}

-- kind_of_failure sorts the message of a failed turn.
function signs.kind_of_failure(text)
	text = lower(text)
	local status = match(text, "^(%d%d%d)%f[%D]")
	if status and STATUSES[status] and not contains(text, "limit") then return STATUSES[status] end
	if status and not STATUSES[status] then text = text .. " error" end
	for _, failure in ipairs(FAILURES) do
		for _, part in ipairs(failure) do
			if contains(text, part) then return failure.kind end
		end
	end
	return "unknown"
end

-- coloured reports whether the text behind a mark is coloured, as failures are and prose is not. Where the program uses no
-- colour at all (its rules have none either) nothing can be told, and the text decides.
local function coloured(l, row)
	local frame = l.s:styles(l.prompt_bottom)
	if not frame or not frame[1] or frame[1].foreground == "default" then return true end
	for _, run in ipairs(l.s:styles(row) or {}) do
		if run.col > 1 and match(run.text, "%w") then return run.foreground ~= "default" and not run.dim end
	end
	return false
end

-- joined returns a row's text behind its mark with the rows that continue it.
local function joined(l, row, mark)
	local text = match(l.lines[row], "^ *" .. mark .. "[ \194\160]*(.*)$") or ""
	local indent = #match(l.lines[row], "^ *") + (mark == "●" and 2 or 3)
	for i = row + 1, l.prompt_top - 1 do
		local line = l.lines[i]
		local blanks, rest = match(line, "^( *)(%S.*)$")
		if not blanks or #blanks < indent or starts(rest, "⎿") then break end
		text = text .. " " .. rest
	end
	return text
end

-- is_command reports whether what the user said last is a command of the program's own.
local function is_command(l) return l.echo and match(l.lines[l.echo], "^[❯>]+ /%a") ~= nil end

signs.is_command = is_command

-- failure looks for the message that a turn ended with: the last block when it is "● API Error: …", or a result directly below
-- what the user said, which no tool gave, when it reads like one or when the prompt asks to send the message again.
local function failure(l)
	if l.failure ~= nil then return l.failure end
	l.failure = false
	local text, row
	if l.block and match(l.lines[l.block], "^● *API Error") and coloured(l, l.block) then
		text, row = joined(l, l.block, "●"), l.block
	elseif l.echo and not l.block and l.top_result == l.echo + 1 and not is_command(l) and not starts(l.lines[l.echo], "!") then
		local t = joined(l, l.top_result, "⎿")
		local _, placeholder = layout.input(l)
		local asks = placeholder and contains(lower(placeholder), "resend")
		if not starts(t, "Interrupted") and (asks or signs.kind_of_failure(t) ~= "unknown" and coloured(l, l.top_result)) then
			text, row = t, l.top_result
		end
	end
	if not text and (l.status == "error" or l.status == "blocked" and l.s.status.kind == "auth") then
		text, row = l.s.status.message or "", nil
	end
	if text then
		l.failure = {kind = signs.kind_of_failure(text), message = text, row = row}
	end
	return l.failure
end
signs.failure = failure

-- What a tool's result, or the turn's last row, begins with when the user stopped it.
local STOPPED = {"Interrupted", "Rejected ", "User rejected ", "Declined "}

-- interrupted reports whether the turn ended because the user stopped it or refused something.
local function interrupted(l)
	if l.interrupted ~= nil then return l.interrupted end
	l.interrupted = false
	if l.result and (not l.block or l.result > l.block) then
		local text = match(l.lines[l.result], "^  ⎿[ \194\160]*(.*)$") or ""
		for _, said in ipairs(STOPPED) do
			if starts(text, said) then l.interrupted = l.result end
		end
	end
	if not l.interrupted and l.block and match(l.lines[l.block], "^●[ \194\160]*%S* ?[Dd]eclined to answer Claude's questions") then
		l.interrupted = l.block
	end
	return l.interrupted
end
signs.interrupted = interrupted

-- in_flight reports whether something stands there that the user said, and nothing behind it.
function signs.in_flight(l)
	return l.echo and not l.block and not l.result and not l.done and not starts(l.lines[l.echo], "> Unknown slash command")
end

-- head returns the last row of the session's head, which the program animates; 0 when it has left the screen.
function signs.head(l)
	local row = l.s:find("Claude Code v", 1, 4)
	return row and math.min(row + 2, l.prompt_top - 1) or 0
end

-- bottom returns the last row above the prompt that belongs to the conversation: hints stand at the right above the prompt
-- ("◐ medium · /effort"), and messages that are queued.
function signs.bottom(l, to)
	to = to or l.prompt_top - 1
	while to > 0 do
		local line = l.lines[to]
		local hint = line == "" or #match(line, "^ *") > l.s.cols / 3 or starts(line, "  ❯ ") or l.placeholder and starts(line, "  > ")
		if not hint then break end
		to = to - 1
	end
	return to
end

-- said returns what the user said last, as it stands there, or "".
function signs.said(l) return l.echo and l.lines[l.echo] or "" end

return signs
