-- What every plugin has as the global "ptywright": actions, matchers, and rules that are tried in order.

local function typed(kind) return function(value) return {type = kind, value = value} end end
local function bare(kind) return function() return {type = kind} end end

local action = {
	text = typed("text"), paste = typed("paste"), bracketed_paste = typed("bracketed_paste"), key = typed("key"),
	signal = typed("signal"), mouse = typed("mouse"), click = typed("click"), drag = typed("drag"), scroll = typed("scroll"), theme = typed("theme"), interrupt = bare("interrupt"), eof = bare("eof"), kill = bare("kill"),
}
function action.stream_text(text) return {type = "stream_text", value = {text = text}} end
function action.resize(rows, cols) return {type = "resize", value = {rows = rows, cols = cols}} end
function action.mark_transcript(label) return {type = "mark_transcript", value = {label = label}} end
function action.when(matcher, actions, timeout_ms)
	return {type = "when", value = {matcher = matcher, actions = actions, timeout_ms = timeout_ms}}
end
function action.expect(matcher, timeout_ms) return {type = "expect", value = {matcher = matcher, timeout_ms = timeout_ms}} end

local matcher = {
	contains_text = typed("contains_text"), screen_regex = typed("screen_regex"), transcript_contains = typed("transcript_contains"),
	transcript_regex = typed("transcript_regex"), title_contains = typed("title_contains"), title_regex = typed("title_regex"),
	process_exited = bare("process_exited"), bell = bare("bell"), any = typed("any"), all = typed("all"), negate = typed("not"),
}
function matcher.cursor_at(row, col) return {type = "cursor_at", value = {row = row, col = col}} end
function matcher.located(locator, count) return {type = "located", value = {locator = locator, count = count}} end
function matcher.screen_stable(ms) return {type = "screen_stable", value = {min_ms = ms}} end
function matcher.predicate(name, params) return {type = "lua", value = {predicate = name, params = params}} end

-- try looks whether every need of a rule is met. It returns what each found, or nil and the first that was not met; with all,
-- it goes on behind one that is not, and returns how many were; what counts on an earlier one may then fail, and is not met.
local function try(rule, s, all)
	local hits, met, lacks = {}, 0, nil
	for i, need in ipairs(rule.needs) do
		local hit
		if lacks then
			local fine, found = pcall(need[2], s, hits)
			hit = fine and found
		else
			hit = need[2](s, hits)
		end
		if hit then
			met = met + 1
			hits[i] = hit
		else
			lacks = lacks or need[1]
			if not all then return nil, lacks, met end
			hits[i] = false
		end
	end
	if lacks then return nil, lacks, met end
	return hits, nil, met
end

local function conclude(rule, s, hits)
	local state = rule.make and rule.make(s, hits) or {}
	state.rule = state.rule or rule.name
	state.state = state.state or rule.state
	state.confidence = state.confidence or rule.confidence or 0.9
	state.source = state.source or rule.source or "screen"
	state.evidence = state.evidence or rule.name
	return state
end

local members = {name = "string", state = "string", confidence = "number", source = "string", needs = "table", make = "function"}
local checked = {}

-- check refuses rules that could not mean what they say. It looks once at each list.
local function check(rules)
	for i, rule in ipairs(rules) do
		local name = type(rule) == "table" and rule.name or i
		if type(rule) ~= "table" or type(rule.name) ~= "string" or type(rule.state) ~= "string" or type(rule.needs) ~= "table" then
			error("rule " .. tostring(name) .. " must have name, state and needs", 3)
		end
		for key, value in pairs(rule) do
			if type(value) ~= members[key] then
				error("rule " .. name .. ": " .. (members[key] and key .. " must be a " .. members[key] or "there is no " .. tostring(key)), 3)
			end
		end
		for k, need in ipairs(rule.needs) do
			if type(need) ~= "table" or type(need[1]) ~= "string" or type(need[2]) ~= "function" then
				error("rule " .. name .. ": need " .. k .. " must be a sentence and a function", 3)
			end
		end
	end
	checked[rules] = true
end

-- decide returns the state of the first rule that holds. When the host wants an explanation every rule is tried, and those that
-- met some of their needs are named.
local function decide(rules, s)
	if not checked[rules] then check(rules) end
	if not s.explain then
		for _, rule in ipairs(rules) do
			local hits = try(rule, s)
			if hits then return conclude(rule, s, hits) end
		end
	else
		local found, rows, nearly = nil, {}, {}
		for _, rule in ipairs(rules) do
			s:hits()
			local hits, lacks, met = try(rule, s, true)
			if hits and not found then
				found, rows = conclude(rule, s, hits), s:hits()
			elseif hits then
				nearly[#nearly + 1] = {rule = rule.name, state = rule.state, lacks = "an earlier rule held"}
			elseif met > 0 then
				nearly[#nearly + 1] = {rule = rule.name, state = rule.state, lacks = lacks, rows = s:hits()}
			end
		end
		found = found or {state = "unknown", rule = "none", confidence = 0, source = "none", evidence = "no rule fits what is on the screen"}
		found.rows, found.nearly = found.rows or rows, nearly
		return found
	end
	return {state = "unknown", rule = "none", confidence = 0, source = "none", evidence = "no rule fits what is on the screen"}
end

return {action = action, matcher = matcher, decide = decide}
