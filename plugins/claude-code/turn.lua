-- The turn that runs or has ended: what the program said in it, which tools it used, how far it is, what it cost, and the
-- events that come of the difference to the last look. All of it stands behind what the user said last; when that has left the
-- screen, what was seen before is put in front, row by row, as long as two looks overlap.

local layout = require("layout")
local signs = require("signs")
local about = require("about")
local memory = require("memory")

local turn = {}

local byte, sub, match, find = string.byte, string.sub, string.match, string.find
local starts, contains, trim, lower = string.starts_with, string.contains, string.trim, string.lower

local MAX_ROWS = 1000 -- of one turn that are remembered; some 40 screens. What comes behind them is not told

-- What the program writes about itself, two columns in: "Ran 1 shell command", "Thought for 4s".
local NOTE = "^  (?:Ran|Read|Thought|Searched|Listed|Edited|Wrote|Created|Fetched|Called|Found|Recalled|Loaded|Did not run|No result)\\b"

local VERBS = {
	Ran = "Bash", Read = "Read", Searched = "Grep", Listed = "LS", Edited = "Edit", Wrote = "Write", Created = "Write", Fetched = "WebFetch",
}

-- result_of reads what stands behind ⎿ in a row.
local function result_of(line) return match(line, "^ *⎿[ \194\160]*(.*)$") or "" end

-- status_of tells from a tool's result how it is with it.
local function status_of(result, running)
	if result == nil then return running and "running" or "completed" end
	if starts(result, "Running") or starts(result, "Waiting") or starts(result, "Initializing") then return "running" end
	if starts(result, "Interrupted") then return "interrupted" end
	if starts(result, "Rejected") or starts(result, "User rejected") then return "rejected" end
	if starts(result, "Error") then return "error" end
	if running and starts(result, "$ ") then return "running" end
	return "completed"
end

-- What stands in brackets behind a tool's name.
local INPUTS = {
	Bash = "command", Read = "file_path", Update = "file_path", Edit = "file_path", Write = "file_path", Grep = "pattern", Glob = "pattern",
	Search = "pattern", LS = "path", Fetch = "url", WebFetch = "url", WebSearch = "query", Agent = "description", Task = "description",
}

-- is_users reports whether a row is of what the user said, which has a background of its own: its first row may have left the
-- screen.
local function is_users(l, row)
	for _, run in ipairs(l.s:styles(row) or {}) do
		if match(run.text, "%S") then return run.background ~= "default" end
	end
	return false
end

-- begins reports whether row i, which begins with byte c, begins something the program says or does. The mark of a tool that runs
-- blinks: then the row is known by the result below it.
local function begins(lines, i, c)
	local line = lines[i]
	if c == 226 then return starts(line, "●") or starts(line, "⏺") end
	return c == 32 and lines[i - 1] == "" and match(line, "^  %S") and starts(lines[i + 1] or "", "  ⎿")
end

-- parts reads the rows behind what the user said. It returns the rows of prose, in which an empty row separates, and the tools.
local function parts(l, from, to, working)
	local lines, rows, tools = l.lines, {}, {}
	local kind, tool, blank = nil, nil, false
	while not l.echo and from < to and is_users(l, from) do from = from + 1 end
	local function paragraph()
		if #rows > 0 and rows[#rows] ~= "" then rows[#rows + 1] = "" end
	end
	for i = from, to do
		local line = lines[i]
		local c = byte(line)
		if c == nil then
			if kind == "text" then blank = true end
		elseif c == 32 and starts(line, "  ⎿") then
			if tool and not tool.result then tool.result = result_of(line) end
			kind = nil
		elseif begins(lines, i, c) then
			local text = match(c == 32 and sub(line, 3) or sub(line, 4), "^[ \194\160]*(.-) *$")
			local name, input = match(text, "^(%u[%w_]*)%((.*)$")
			local behind = starts(lines[i + 1] or "", "  ⎿") and result_of(lines[i + 1])
			kind, tool, blank = nil, nil, false
			if name then
				tool = {name = name, summary = match(input, "^(.*)%)$") or input, row = i}
				local key = INPUTS[name]
				if key then tool.input = {[key] = tool.summary} end
				tools[#tools + 1] = tool
			elseif behind and not starts(behind, "Interrupted") then
				tool = {name = starts(behind, "$ ") and "Bash" or "", summary = match(text, "^(.-) · %d+%a+$") or text, row = i}
				if tool.name == "Bash" then tool.input = {command = match(sub(behind, 3), "^(.-) +%(%d+[smh].-%)$") or sub(behind, 3)} end
				if tool.name ~= "" then tools[#tools + 1] = tool end
			elseif not match(text, "^API Error") then
				kind = "text"
				paragraph()
				rows[#rows + 1] = text
			end
		elseif c == 32 then
			if kind == "text" and starts(line, "  ") then
				if blank and l.s:test(NOTE, i, i) and turn.is_note(l, i) then
					kind = "note"
				else
					if blank then rows[#rows + 1] = "" end
					blank = false
					rows[#rows + 1] = sub(line, 3)
				end
			end
			if kind ~= "text" then
				local verb, count, what = match(line, "^  (%u%l+) (%d+) (.*)$")
				if verb and VERBS[verb] then
					local summary = match(trim(line), "^(.-) %(ctrl.*$") or trim(line)
					tools[#tools + 1] = {name = VERBS[verb], summary = summary, count = tonumber(count), row = i}
					tool, kind = nil, "note"
				elseif kind == nil and not l.echo and i == from and match(line, "^  [^ ]") then
					kind = "text" -- the screen begins in the middle of an answer
					rows[#rows + 1] = sub(line, 3)
				end
			end
		else
			kind, tool, blank = nil, nil, false
		end
	end
	for i, t in ipairs(tools) do
		t.status = t.count and "completed" or status_of(t.result, working and i == #tools and not (l.block and l.block > t.row))
		t.key = about.id(t.name .. ":" .. (t.input and t.input.command or t.summary))
	end
	return rows, tools
end

-- is_note reports whether a row is in the colour of what the program writes about itself, where it uses colours.
function turn.is_note(l, row)
	local frame = l.prompt_bottom and l.s:styles(l.prompt_bottom)
	if not frame or not frame[1] or frame[1].foreground == "default" and not frame[1].dim then return true end
	for _, run in ipairs(l.s:styles(row) or {}) do
		if match(run.text, "%w") then return run.foreground ~= "default" or run.dim end
	end
	return true
end

-- length counts characters, bytes where a text is no UTF-8.
local function length(text) return utf8.len(text) or #text end

-- join puts wrapped rows together: a row was wrapped when the first word of the next would not have fitted behind it.
local function join(rows, cols)
	local out, width = {}, cols - 2 -- prose is two columns in
	for i = 1, #rows do
		local row, before = rows[i], rows[i - 1]
		local word = before and before ~= "" and match(row, "^[\"'`(%*%$~/.,%-]?%w%S*")
		local table_or_list = word and (match(before, "^ *[\226|]") or match(row, "^%d+%. "))
		if word and not table_or_list and length(before) + 1 + length(word) > width then
			out[#out] = out[#out] .. " " .. row
		else
			out[#out + 1] = row
		end
	end
	while out[1] and out[#out] == "" do table.remove(out) end
	return table.concat(out, "\n")
end

-- merge puts what is seen now behind what was seen before: it looks for the rows that both have. The last row of before may
-- have grown since. It returns nil when they have none in common.
local function merge(before, now)
	local n = #before
	for from = math.max(1, n - #now + 1), n do
		local fits = true
		for k = from, n do
			local seen = now[k - from + 1]
			if seen ~= before[k] and not (k == n and seen and starts(seen, before[k])) then
				fits = false
				break
			end
		end
		if fits then
			local rows = {}
			for k = 1, from - 1 do rows[#rows + 1] = before[k] end
			for k = 1, #now do rows[#rows + 1] = now[k] end
			return rows
		end
	end
	return nil
end

-- tell remembers the turn's rows and returns its story: the rows from the beginning, or as far back as they are known. Rows
-- that fit nowhere may be those of a frame that is half drawn: they count when the turn is over.
local function tell(l, rows, over)
	local story, said = memory.story, signs.said(l)
	if not story or l.echo and story.said ~= said or story.over and not over then
		story = {said = said, rows = rows, sent = 0, tools = {}, whole = l.echo ~= nil}
	elseif l.echo then
		story.rows, story.whole = rows, true
	elseif #rows > 0 and #story.rows < MAX_ROWS then
		local merged = merge(story.rows, rows)
		if merged then
			story.rows = merged
		elseif over then
			story.rows, story.sent, story.whole = rows, 0, false
		end
	end
	story.over = over
	memory.story = story
	return story
end

-- number reads "1.2k" and "3m".
local function number(text)
	local n, unit = match(text, "^([%d.,]+)([kKmM]?)$")
	if not n then return nil end
	n = tonumber((string.gsub(n, ",", "")))
	if not n then return nil end
	return math.floor(n * (lower(unit) == "k" and 1e3 or lower(unit) == "m" and 1e6 or 1) + 0.5)
end

-- duration reads "1h 2m 3s" as milliseconds.
local function duration(text)
	local ms, any = 0, false
	for n, unit in string.gmatch(text, "([%d.]+)(%a+)") do
		local factor = unit == "s" and 1e3 or unit == "m" and 6e4 or unit == "h" and 36e5 or unit == "ms" and 1 or unit == "d" and 864e5
		if factor then ms, any = ms + tonumber(n) * factor, true end
	end
	return any and math.floor(ms) or nil
end

-- progress reads a spinner's line: "✢ Brewing… (3s · ↓ 36 tokens · thinking)" or "✻ API error · retrying in 2s · attempt 1/2".
local function progress(l)
	if not l.spinner then return nil end
	local p = {}
	local line = l.lines[l.spinner]
	local message, wait, attempt, of = match(line, "^%S+ (.-) · retrying in (%S+) · attempt (%d+)/(%d+)")
	if message then
		local ms = duration(wait)
		return nil, {
			message = message, kind = signs.kind_of_failure(message), retry_after_s = ms and ms / 1000 or nil,
			attempt = tonumber(attempt), attempts = tonumber(of),
		}
	end
	p.activity = match(line, "^%S+ (.-)…") or match(line, "^%S+ (.-) *$")
	local counters = match(line, "%((.-)%)$") or ""
	for _, part in ipairs(string.split(counters, " · ")) do
		local arrow, count = match(part, "^([^%w ]+) ([%d.,kKmM]+) tokens$")
		if arrow == "↓" then p.output_tokens = number(count)
		elseif arrow == "↑" then p.input_tokens = number(count)
		elseif match(part, "^[%d.]+%a+") and duration(part) then p.duration_ms = duration(part)
		elseif part == "thinking" then p.thinking = true end
	end
	return p
end

-- tool_events compares the tools with those of the last look. A tool that has become part of a count ("Ran 2 shell commands") has
-- ended, and so has every tool at the end of its turn.
local function tool_events(list, state, story, tools)
	local function ended(key, known, status, result)
		list[#list + 1] = {kind = "tool_completed", id = key, status = status, result = result}
		known.status = status
	end
	for _, t in ipairs(tools) do
		if t.count then
			for key, known in pairs(story.tools) do
				if known.name == t.name and known.status == "running" then ended(key, known, "completed") end
			end
		else
			local known = story.tools[t.key]
			if not known then
				list[#list + 1] = {kind = "tool_started", id = t.key, name = t.name, input = t.input or {summary = t.summary}}
				known = {name = t.name, status = "running"}
				story.tools[t.key] = known
			end
			if t.status == "running" then
				if t.result and known.result ~= t.result then
					list[#list + 1] = {kind = "tool_progress", id = t.key, summary = sub(t.result, 1, 1000)}
					known.result = t.result
				end
			elseif known.status ~= t.status then
				ended(t.key, known, t.status, t.result and sub(t.result, 1, 4000))
			end
		end
	end
	if state ~= "thinking" and state ~= "cancelling" then
		for key, known in pairs(story.tools) do
			if known.status == "running" then ended(key, known, "ended") end
		end
	end
end

-- events compares with the last look.
local function events(l, state, story, tools, text)
	local list = {}
	local before = memory.state
	tool_events(list, state, story, tools)
	local rows = #story.rows - (state == "thinking" and 1 or 0) -- the last row may still change
	if rows > story.sent then
		local new = {}
		for i = story.sent + 1, rows do new[#new + 1] = story.rows[i] end
		list[#list + 1] = {kind = "text_delta", text = sub((story.sent > 0 and "\n" or "") .. table.concat(new, "\n"), 1, 60000)}
		story.sent = rows
	end
	if state == "completed_turn" and before ~= "completed_turn" and before ~= nil then
		list[#list + 1] = {kind = "turn_complete", text = sub(text, 1, 60000)}
	end
	return list
end

-- hint reports whether a row is one of those that stand at the right, above the prompt: "◐ medium · /effort",
-- or hold a message that is queued.
local function hint(l, row)
	local line = l.lines[row]
	return #match(line, "^ *") > l.s.cols / 3 or starts(line, "  ❯ ") or l.placeholder and starts(line, "  > ")
end

-- describe adds the turn to a state at a prompt: metadata.turn, metadata.tools, and its events.
function turn.describe(l, state, metadata)
	local working = state.state == "thinking" or state.state == "cancelling"
	if layout.input(l) ~= "" or l.glyph == "!" then -- a menu may stand where the turn's end would be
		if l.queued then metadata.turn = {queued = l.queued} end
		return
	end
	local to = l.done and l.done - 1 or l.prompt_top - 1
	while to > 0 and (l.lines[to] == "" or hint(l, to)) do to = to - 1 end
	local rows, tools = parts(l, (l.echo or 0) + 1, to, working)
	local story = tell(l, rows, not working)
	local t = {}
	local text
	if state.state == "completed_turn" or state.state == "ready" and l.interrupted then
		text = join(story.rows, l.s.cols)
		if text ~= "" then t.text, t.complete = text, story.whole end
	elseif working then
		if #story.rows > 0 then t.partial_text = join(story.rows, l.s.cols) end
		local p, retry = progress(l)
		t.progress = p
		if retry then metadata.error = retry end
	end
	if l.done then t.duration_ms = duration(match(l.lines[l.done], " for ([%d%a ]+)") or "") end
	if l.interrupted then t.interrupted = true end
	if l.queued then t.queued = l.queued end
	if next(t) then metadata.turn = t end
	if #tools > 0 then
		local list = {}
		for i, x in ipairs(tools) do
			list[i] = {key = x.key, name = x.name, summary = x.summary, status = x.status, input = x.input, count = x.count}
		end
		metadata.tools = list
	end
	if l.failure then
		metadata.error = {kind = l.failure.kind, message = l.failure.message}
		local said = lower(l.failure.message)
		local wait = match(said, "retry in ([%d.]+)") or match(said, "retry after ([%d.]+)") or match(said, "try again in ([%d.]+)")
		if wait then metadata.error.retry_after_s = tonumber(wait) end
	end
	state.events = events(l, state.state, story, tools, text or "")
	if state.state == "error" and memory.state ~= "error" then
		state.events[#state.events + 1] = {kind = "error", category = l.failure.kind, message = sub(l.failure.message, 1, 16000)}
	end
	if #state.events == 0 then state.events = nil end
end

local TOKENS = {input = "input_tokens", output = "output_tokens", ["cache read"] = "cache_read_tokens", ["cache write"] = "cache_write_tokens"}

-- usage reads the panel of /usage and /cost.
function turn.usage(l)
	local u, limits = {}, {}
	local label
	for i = l.floor + 1, l.last do
		local line = trim(l.lines[i])
		local name, value = match(line, "^(%u[%a ()]-): +(%S.*)$")
		if name then
			name = lower(name)
			if contains(name, "cost") then u.cost_usd = tonumber((match(value, "^%$([%d.]+)")))
			elseif name == "total duration (api)" then u.api_duration_s = (duration(value) or 0) / 1000
			elseif name == "total duration (wall)" then u.wall_duration_s = (duration(value) or 0) / 1000
			elseif name == "total code changes" then
				u.lines_added = tonumber((match(value, "(%d+) lines? added")))
				u.lines_removed = tonumber((match(value, "(%d+) lines? removed")))
			elseif name == "usage" then
				for n, what in string.gmatch(value, "([%d.,]+[kKmM]?) (%a[%a ]*)") do
					what = trim(what)
					if TOKENS[what] then u[TOKENS[what]] = number(n) end
				end
			end
		end
		local used = match(line, "(%d+)%% used")
		if used and label then
			limits[label] = {percent_used = tonumber(used)}
		elseif match(line, "^Resets? ") and label and limits[label] then
			limits[label].resets = match(line, "^Resets? (.*)$")
		elseif match(line, "^Current %a") then
			label = line
		end
	end
	if next(limits) then u.limits = limits end
	return u
end

return turn
