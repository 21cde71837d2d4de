-- The turn that runs or has ended: what the program said in it, which tools it used, how far it is, what it cost, and the
-- events that come of the difference to the last look. All of it stands behind what the user said last; when that has left the
-- screen, what was seen before is put in front, row by row, as long as two looks overlap.
--
-- What is remembered of a turn is its story:
--
--   said    what the user had said, as it stood there; cols: how wide the screen was then
--   rows    of prose; whole: they are all; sent: how many were told; rest: of the next one, what was not, when a part was
--   over    it has ended; told: and that was told, so that nothing more is, however the screen is drawn anew
--   calls   of tools, see calls.lua

local layout = require("layout")
local signs = require("signs")
local calls = require("calls")
local sent = require("sent")
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

-- status_of tells from a tool's result how it is with it. What stands there as "$ command" is none.
local function status_of(summary, result, running)
	if starts(summary, "Did not run") then return "denied" end
	if result == nil then return running and "running" or "completed" end
	if starts(result, "Running") or starts(result, "Waiting") or starts(result, "Initializing") then return "running" end
	if starts(result, "Interrupted") then return "interrupted" end
	if starts(result, "Rejected") or starts(result, "User rejected") then return "denied" end
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
			local result = result_of(line)
			if tool and not tool.result then
				tool.result = result
			elseif tool and starts(tool.result, "$ ") then
				tool.result = result
			end
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
			elseif not match(text, "^API Error") and not match(text, "^Unknown command: /") and not match(text, "^Args from unknown skill: ") then
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
		if t.count then
			t.failed = tonumber(match(t.summary, " (%d+) failed")) or 0
			t.status = t.failed > 0 and t.failed >= t.count and "error" or "completed"
		else
			t.status = status_of(t.summary, t.result, working and i == #tools and not (l.block and l.block > t.row))
			t.subject = t.name .. ":" .. (t.input and t.input.command or t.summary)
			if t.result and starts(t.result, "$ ") then t.result = nil end
		end
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

-- after returns what is left of a text behind its first n characters that are no blanks.
local function after(text, n)
	local at = 1
	while n > 0 do
		local next = find(text, "%S", at)
		if not next then return "" end
		at, n = next + 1, n - 1
	end
	return sub(text, at)
end

-- bytes counts what of rows is no blank.
local function bytes(rows, to)
	local n = 0
	for i = 1, to do n = n + #layout.words(rows[i]) end
	return n
end

-- rewrapped puts rows that are wrapped otherwise behind those from before: it looks for the words of the first of them.
local function rewrapped(before, now)
	local all, head = {}, ""
	for i, row in ipairs(before) do all[i] = layout.words(row) end
	for _, row in ipairs(now) do
		if #head < 60 then head = head .. layout.words(row) end
	end
	local text = table.concat(all)
	local at = head ~= "" and find(text, head, 1, true)
	if not at then return nil end
	local rows, n = {}, 0
	for i, row in ipairs(all) do
		if n + #row >= at then
			local left = at - 1 - n
			if left > 0 then rows[#rows + 1] = trim(sub(before[i], 1, #before[i] - #after(before[i], left))) end
			break
		end
		rows[i], n = before[i], n + #row
	end
	for _, row in ipairs(now) do rows[#rows + 1] = row end
	return rows
end

-- same_said compares what the user said, which a screen of another width may cut elsewhere.
local function same_said(story, said, cols)
	if story.said == said then return true end
	if story.cols == cols then return false end
	local a, b = layout.words(story.said), layout.words(said)
	return starts(a, b) or starts(b, a)
end

-- begun returns the story of the turn that is on the screen, a new one when it is another turn.
local function begun(l, rows, over)
	local story, said, cols = memory.story, signs.said(l), l.s.cols
	local another = not story or memory.fresh
	if not another and l.echo and not same_said(story, said, cols) then
		-- A turn that was stopped before anything came back leaves the one before it on the screen.
		local before = memory.before
		if before and over and #story.rows == 0 and same_said(before, said, cols) then
			memory.story, memory.before = before, story
			return before
		end
		another = true
	end
	if not another and story.told and not over then
		-- It goes on when what it said still stands there, as after a job in the background; else somebody has said the same again.
		if #story.rows > 0 and merge(story.rows, rows) then
			story.told = false
		else
			another = true
		end
	end
	if another then
		-- The first look of all finds what was told before, when this plugin was stopped and started anew.
		local known = not story and memory.state == nil and over
		memory.before = story
		if story and not story.told then memory.unended = story end
		story = {said = said, cols = cols, rows = rows, sent = known and #rows or 0, calls = {}, folded = {}, whole = l.echo ~= nil, told = known}
		memory.story, memory.fresh = story, nil
	end
	return story
end

-- tell remembers the turn's rows and returns its story: the rows from the beginning, or as far back as they are known. Rows
-- that fit nowhere may be those of a frame that is half drawn: they count when the turn is over.
local function tell(l, rows, over)
	local story, cols = begun(l, rows, over), l.s.cols
	local width = story.cols ~= cols
	local known = (width or story.told) and bytes(story.rows, #story.rows) or 0
	if l.echo then
		-- However the screen is drawn anew, a turn that is over has said what it has said.
		if not story.told or bytes(rows, #rows) >= known then
			if width and #rows > 0 then
				local told = bytes(story.rows, story.sent) - #layout.words(story.rest or "")
				local k = 0
				while k < #rows and told >= #layout.words(rows[k + 1]) do
					k = k + 1
					told = told - #layout.words(rows[k])
				end
				story.sent, story.rest = k, told > 0 and after(rows[k + 1], told) or nil
			end
			story.rows, story.whole, story.said = rows, true, signs.said(l)
			if story.told then story.sent = #rows end
		end
	elseif #rows > 0 and #story.rows < MAX_ROWS and not story.told then
		local merged
		if width then
			local told = bytes(story.rows, story.sent)
			merged = rewrapped(story.rows, rows)
			if merged then
				local k = 0
				while k < #merged and told >= #layout.words(merged[k + 1]) do
					k = k + 1
					told = told - #layout.words(merged[k])
				end
				story.sent, story.rest = k, told > 0 and merged[k + 1] and after(merged[k + 1], told) or nil
			end
		else
			merged = merge(story.rows, rows)
		end
		if merged then
			story.rows = merged
		elseif over then
			story.rows, story.sent, story.rest, story.whole = rows, 0, nil, false
		end
	end
	story.cols = cols
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
	local message, wait, attempt, of = match(line, "^%S+ (.-) · retrying in (.-) · attempt (%d+)/(%d+)")
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

-- stopped_above reports whether what stands above the prompt that the program went on with was stopped.
local function stopped_above(l)
	local i = (l.echo or 0) - 1
	while i > 0 and (l.lines[i] == "" or starts(l.lines[i], "❯ ")) do i = i - 1 end
	return i > 0 and starts(result_of(l.lines[i]), "Interrupted")
end

-- ended_unseen tells the end of a turn that no look has seen: the program went on at once with a message that was queued.
local function ended_unseen(l, list)
	local story = memory.unended
	memory.unended = nil
	if not story or #story.rows == 0 and #story.calls == 0 then return end
	calls.compare(list, story, {}, true)
	if story.sent < #story.rows then
		local new = {unpack(story.rows, story.sent + 1)}
		list[#list + 1] = {kind = "text_delta", text = sub((story.sent > 0 and "\n" or "") .. table.concat(new, "\n"), 1, 60000)}
	end
	story.told = true
	if stopped_above(l) then
		list[#list + 1] = {kind = "error", category = "interrupted", message = "the turn was stopped by the user, and the program went on with what was queued"}
	else
		list[#list + 1] = {kind = "turn_complete", text = sub(join(story.rows, l.s.cols), 1, 60000)}
	end
end

-- The states in which a turn has ended, and how: "ready" is one when the user has stopped it.
local ENDED = {completed_turn = true, error = true, waiting_for_login = true}

-- events compares with the last look. A turn ends with one of two: turn_complete, or error when it failed or was stopped.
local function events(l, state, story, tools, text)
	local list, name = {}, state.state
	if memory.unended then ended_unseen(l, list) end
	if story.told then return list end
	local ended = ENDED[name] or name == "ready" and l.interrupted
	calls.compare(list, story, tools, ended)
	local rows = #story.rows - (name == "thinking" and 1 or 0) -- the last row may still change
	if rows > story.sent then
		local new = {}
		for i = story.sent + 1, rows do new[#new + 1] = story.rows[i] end
		local lead = story.sent > 0 and "\n" or ""
		if story.rest then new[1], lead, story.rest = story.rest, "", nil end
		list[#list + 1] = {kind = "text_delta", text = sub(lead .. table.concat(new, "\n"), 1, 60000)}
		story.sent = rows
	end
	if not ended then return list end
	story.told = true
	if name == "completed_turn" then
		if memory.state ~= nil then list[#list + 1] = {kind = "turn_complete", text = sub(text, 1, 60000)} end
	elseif l.failure then
		list[#list + 1] = {kind = "error", category = l.failure.kind, message = sub(l.failure.message, 1, 16000)}
	else
		list[#list + 1] = {kind = "error", category = "interrupted", message = state.evidence}
	end
	return list
end

-- stopped tells of a prompt that was put back into the input.
local function stopped(state, metadata)
	metadata.turn = {interrupted = true}
	local story = memory.story
	if story and not story.told and not memory.fresh then
		story.told = true
		state.events = {{kind = "error", category = "interrupted", message = state.evidence}}
		memory.story = memory.before or story -- which stands there again, and was told
	end
end

-- describe adds the turn to a state at a prompt: metadata.turn, metadata.tools, and its events.
function turn.describe(l, state, metadata)
	local name = state.state
	local working = name == "thinking" or name == "cancelling"
	if sent.past() then -- what stands there is no answer to what was sent
		if memory.sent.notice then metadata.notice = sub(memory.sent.notice, 5) end
		if sent.put_back() then stopped(state, metadata) end
		return
	end
	if layout.input(l) ~= "" or l.glyph == "!" then -- a menu may stand where the turn's end would be
		if l.queued then metadata.turn = {queued = l.queued} end
		return
	end
	local to = signs.bottom(l, l.done and l.done - 1)
	local rows, tools = parts(l, (l.echo or 0) + 1, to, working)
	local story = memory.story
	if not memory.late or not story then story = tell(l, rows, not working) end
	local t = {}
	local text
	if name == "completed_turn" or name == "ready" and l.interrupted then
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
	if l.failure then
		metadata.error = {kind = l.failure.kind, message = l.failure.message}
		local said = lower(l.failure.message)
		local wait = match(said, "retry in ([%d.]+)") or match(said, "retry after ([%d.]+)") or match(said, "try again in ([%d.]+)")
		if wait then metadata.error.retry_after_s = tonumber(wait) end
	end
	if not memory.late then
		state.events = events(l, state, story, tools, text or "")
		if #state.events == 0 then state.events = nil end
	end
	if #tools > 0 then
		calls.name(story, tools)
		local list = {}
		for i, x in ipairs(tools) do
			list[i] = {id = x.id, ids = x.ids, name = x.name, summary = x.summary, status = x.status, input = x.input, count = x.count}
		end
		metadata.tools = list
	end
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
