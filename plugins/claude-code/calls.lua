-- The calls of tools in a turn: which of those on the screen is which, so that each has one id, and its events come once. The
-- program shows a call as a row while it runs, and afterwards often only as one of a count: "Ran 2 shell commands".
--
-- A story has calls, each with id, subject (name and input), name, status, result, asked (the id of the dialog that asked for
-- it), and folded, the name of the count that it is one of; and folded, how many known calls each name's count stands for.

local about = require("about")
local memory = require("memory")

local calls = {}

local sub = string.sub

local function started(list, story, t)
	local call = {id = memory.new_id(about.id(t.subject)), subject = t.subject, name = t.name, status = "running"}
	story.calls[#story.calls + 1] = call
	list[#list + 1] = {kind = "tool_started", id = call.id, name = t.name, input = t.input or {summary = t.summary}}
	return call
end

local function ended(list, call, status, result)
	if call.status ~= "running" then return end
	call.status = status
	list[#list + 1] = {kind = "tool_completed", id = call.id, status = status, result = result}
end

-- fold notes that a call is not shown by a row of its own any more, but is one of a count of a name.
local function fold(story, call, name)
	call.folded = name
	story.folded[name] = (story.folded[name] or 0) + 1
end

-- matched finds for each tool on the screen the call that it shows: of those with the same subject the last are, since rows leave
-- the screen at the top.
local function matched(story, tools)
	local on_screen, known = {}, {}
	for _, t in ipairs(tools) do
		if t.subject then on_screen[t.subject] = (on_screen[t.subject] or 0) + 1 end
	end
	for _, call in ipairs(story.calls) do
		if on_screen[call.subject] and not call.folded then
			local list = known[call.subject] or {}
			list[#list + 1], known[call.subject] = call, list
		end
	end
	local at = {}
	for _, t in ipairs(tools) do
		if t.subject then
			local list = known[t.subject] or {}
			local i = at[t.subject] or math.max(0, #list - on_screen[t.subject])
			at[t.subject] = i + 1
			t.call = list[i + 1]
		end
	end
end

-- count_of finds the count that a call which is not shown any more has become one of. A command may be shown by what it did
-- ("Listed 1 directory"): that counts at the end of the turn.
local function count_of(story, tools, call, over)
	local other
	for _, t in ipairs(tools) do
		if t.count and t.count > (story.folded[t.name] or 0) then
			if t.name == call.name then return t end
			other = other or t
		end
	end
	return over and call.name == "Bash" and other or nil
end

-- compare adds the events that come of the tools on the screen. At the end of a turn every call has ended.
function calls.compare(list, story, tools, over)
	matched(story, tools)
	local shown = {}
	for _, t in ipairs(tools) do
		if t.subject then
			if not t.call then t.call = started(list, story, t) end
			local call = t.call
			shown[call] = true
			if t.status ~= "running" and (t.result or over or t.status ~= "completed") then
				ended(list, call, t.status, t.result and sub(t.result, 1, 4000))
			elseif t.result and call.result ~= t.result and call.status == "running" then
				list[#list + 1] = {kind = "tool_progress", id = call.id, summary = sub(t.result, 1, 1000)}
				call.result = t.result
			end
		end
	end
	for _, call in ipairs(story.calls) do
		if not shown[call] and not call.folded then
			local t = count_of(story, tools, call, over)
			if t then
				ended(list, call, t.failed == 0 and "completed" or t.failed >= t.count and "error" or "ended")
				fold(story, call, t.name)
			end
		end
	end
	if over then
		for _, call in ipairs(story.calls) do ended(list, call, "ended") end
	end
end

-- asked notes that a dialog asks for a call. When it is another dialog than the one that asked for it before, the call before it has ended
-- and this is the next with the same input. It returns the events.
function calls.asked(story, subject, dialog_id)
	for i = #story.calls, 1, -1 do
		local call = story.calls[i]
		if call.subject == subject and not call.folded then
			local list = {}
			if call.asked and call.asked ~= dialog_id and call.status == "running" then
				ended(list, call, "completed")
				fold(story, call, call.name)
				local name, command = call.name, sub(subject, #call.name + 2)
				call = started(list, story, {subject = subject, name = name, input = {command = command}})
			end
			call.asked = dialog_id
			return #list > 0 and list or nil
		end
	end
	return nil
end

-- name gives the tools on the screen the ids of their calls: ids to a count, of those that are known.
function calls.name(story, tools)
	matched(story, tools)
	for _, t in ipairs(tools) do
		if t.call then
			t.id = t.call.id
			if t.call.status ~= "running" and t.status == "running" then t.status = t.call.status end
		elseif t.count then
			local ids = {}
			for _, call in ipairs(story.calls) do
				if call.folded == t.name and #ids < t.count then ids[#ids + 1] = call.id end
			end
			if #ids > 0 then t.ids = ids end
		end
	end
end

return calls
