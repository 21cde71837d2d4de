-- What a dialog is about: the tool that asks for permission and what it wants to do, a plan's text, a question with its
-- options, and an id that changes with them. The id is FNV-1a (32 bits, eight hexadecimal digits) of a text that names the
-- dialog's kind and subject. A dialog about the same that comes when the first has gone has another id, with a number behind the
-- first ("6d7c0c9f-2"): who answers with an id answers this dialog or none.

local dialogs = require("dialogs")
local memory = require("memory")

local about = {}

local byte, sub, match = string.byte, string.sub, string.match
local contains, trim, lower = string.contains, string.trim, string.lower

local last_text, last_id

-- id hashes a text. The multiplication by 16777619 = 2^24 + 403 is done in parts, since 2^53 is where whole numbers end.
function about.id(text)
	if text == last_text then return last_id end
	local h = 2166136261
	for i = 1, #text do
		h = bit.bxor(h, byte(text, i))
		h = (h * 403 + h % 256 * 16777216) % 4294967296
	end
	last_text, last_id = text, bit.tohex(h)
	return last_id
end

-- full is an option's label with the rows that it goes on in, where those are no explanation.
local function full(o) return o.more and o.label .. " " .. o.more or o.label end
about.full = full

-- options returns them as clients see them. Where the rows below a label explain it, as in questions, explained is true.
local function options(d, explained)
	local list = {}
	for i, o in ipairs(d.options) do
		local t = {index = i, label = explained and o.label or full(o), focused = i == d.pointer}
		if o.number then t.number = o.number end
		if o.checked ~= nil then t.checked = o.checked end
		if o.current then t.current = true end
		local description = o.description
		if explained and o.more then description = description and description .. " " .. o.more or o.more end
		if description then t.description = description end
		list[i] = t
	end
	return list
end

-- labels returns them as a list of texts.
local function labels(d, explained)
	local list = {}
	for i, o in ipairs(d.options) do list[i] = explained and o.label or full(o) end
	return list
end

-- between returns rows from to to as text: outdented, blank rows at both ends dropped.
local function between(l, from, to)
	local rows, least = {}, nil
	for i = from, to do
		local line = dialogs.plain(l.lines[i])
		if dialogs.is_rule(line) then line = "" end
		if trim(line) ~= "" then
			local blanks = #match(line, "^ *")
			least = least and math.min(least, blanks) or blanks
		end
		rows[#rows + 1] = line
	end
	while rows[1] and trim(rows[1]) == "" do table.remove(rows, 1) end
	while rows[1] and trim(rows[#rows]) == "" do table.remove(rows) end
	for i, row in ipairs(rows) do rows[i] = sub(row, (least or 0) + 1) end
	return table.concat(rows, "\n")
end

-- section returns the first and last row between two rules of ╌, nil when there are none between from and to.
local function section(l, from, to)
	local top
	for i = from, to do
		if match(l.lines[i], "^ *╌╌╌") then
			if top then return top + 1, i - 1 end
			top = i
		end
	end
	return nil
end

-- What a permission dialog's title means.
local TOOLS = {
	{"^Bash command", "Bash"}, {"^Edit notebook", "NotebookEdit"}, {"^Edit file", "Edit"}, {"^Create file", "Write"},
	{"^Overwrite file", "Write"}, {"^Write file", "Write"}, {"^Read file", "Read"}, {"^Fetch", "WebFetch"},
	{"^Web search", "WebSearch"}, {"^Search the web", "WebSearch"}, {"^Search", "Grep"},
}

local function tool_of(head)
	for _, t in ipairs(TOOLS) do
		if match(head, t[1]) then return t[2], match(head, t[1] .. " +(%S.*)$") end
	end
	return nil
end

-- permission reads what a tool wants to do. The program's status names it best ("approve Bash: rm -rf build"); the dialog's
-- title says which kind it is.
local function permission(l, d)
	local tool, rest = tool_of(d.head)
	local status = l.status == "blocked" and l.s.status.message or nil
	local reported, said = match(status or "", "^approve ([%w_.%-]+): (.*)$")
	local p = {tool = tool or reported, title = d.head, question = d.question, options = labels(d)}
	local from, to = section(l, d.head_row + 1, d.question_row - 1)
	local body
	if tool == "Bash" then
		if from then
			p.command = between(l, from, to)
			p.summary = between(l, d.head_row + 1, from - 2)
			p.summary = match(p.summary, "([^\n]*)$")
		else
			body = between(l, d.head_row + 1, d.question_row - 1)
			local command, description = match(body, "^(.*)\n([^\n]+)$")
			p.command, p.summary = command or body, description
		end
		p.subject = p.command
	elseif tool == "WebFetch" then
		body = between(l, d.head_row + 1, d.question_row - 1)
		p.url = match(body, "url: (%S+)")
		p.summary = match(body, "^[^\n]*")
		p.subject = p.url or p.summary
	else
		local name = rest or match(between(l, d.head_row + 1, (from or d.question_row) - 1), "^[^\n]*")
		p.summary = name
		if tool == "Edit" or tool == "Write" or tool == "Read" or tool == "NotebookEdit" then p.path = name end
		p.subject = name
		if not tool then
			p.tool = reported or match(name or "", "^([%w_.%-]+)") or (d.head ~= "" and d.head or nil)
		end
	end
	if from then
		local text = between(l, from, to)
		if text == "…" then
			p.incomplete = true -- the first frame of some dialogs has this instead of what it is about
		elseif tool ~= "Bash" and text ~= "" then
			p.detail = sub(text, 1, 8192)
		end
	end
	if said and (p.subject == nil or p.subject == "") then p.subject = said end
	if p.summary == "" then p.summary = nil end
	local subject = p.subject or ""
	p.subject = nil
	return p, "perm:" .. (p.tool or "unknown") .. ":" .. subject
end

local function plan(l, d)
	local from, to
	for i = l.floor + 1, d.options[1].row do
		if match(l.lines[i], "^ *╌╌╌") then
			if not from then from = i + 1 end
			to = i - 1
		end
	end
	if from and to and to < from then to = nil end
	if from and not to then to = d.question_row - 1 end
	if not from then from, to = l.floor + 1, d.question_row - 1 end -- its head has left the screen
	return between(l, from, to)
end

-- question reads one with its tabs. The page that asks to submit the answers is a question too.
local function question(l, d)
	local tabs = {}
	for i = l.floor + 1, math.min(l.floor + 2, d.options[1].row - 1) do
		for box, name in string.gmatch(l.lines[i], "(\226[\152\156]\[\144\146\148]) +([^ ].-)%f[ %z] *") do
			if box ~= "✔" then tabs[#tabs + 1] = {label = name, done = box == "☒"} end -- ✔ is the page to submit on
		end
	end
	local multi = false
	for _, o in ipairs(d.options) do multi = multi or o.checked ~= nil end
	local q = {question = d.question, options = labels(d, true), multi = multi, tabs = tabs, review = false}
	if q.question == "" or contains(q.question, "☐") or contains(q.question, "☒") then q.question = d.head end
	if l.s:find("Review your answers", l.floor + 1, d.options[1].row) then
		local answers = {}
		for asked, answer in string.gmatch(d.question .. " ●", "● (.-) → (.-) %f[\226\0]") do
			answers[#answers + 1] = {question = asked, answer = answer}
		end
		q.question, q.review, q.answers = "Review your answers", true, answers
	end
	return q
end

-- appearance returns the id of the dialog on the screen, which is the same as long as it stands there: it has gone when the prompt
-- is back, or another one is there, but not while a frame is half drawn.
local function appearance(l, fingerprint)
	local stood = memory.stood
	if stood and stood.base == fingerprint then return stood.id end
	if memory.late then return memory.last_id(fingerprint) end
	memory.stood = {base = fingerprint, id = memory.new_id(fingerprint), at = l.s.at_ms}
	return memory.stood.id
end

-- describe adds to a state's metadata what its dialog is about. Only dialogs that can be answered have an id.
function about.describe(l, state, metadata)
	local d = dialogs.read(l)
	if not d then return end
	local subject
	if state == "waiting_for_permission" then
		local p, s = permission(l, d)
		metadata.permission, metadata.options, subject = p, options(d), s
	elseif state == "waiting_for_plan_approval" then
		metadata.plan = plan(l, d)
		metadata.options = options(d)
		subject = "plan:" .. metadata.plan
	elseif state == "waiting_for_enter_plan_mode" then
		metadata.options = options(d)
		metadata.enter_plan_mode = {options = labels(d)}
		subject = "enter_plan_mode:" .. table.concat(metadata.enter_plan_mode.options, "|")
	elseif state == "waiting_for_trust" then
		local path
		for i = l.floor + 1, d.row - 1 do
			path = path or match(l.lines[i], "^ *([/~]%S.*)$") or match(l.lines[i], "^ *(%a:\\%S.*)$")
		end
		metadata.options = options(d)
		metadata.trust = {path = path}
		subject = "trust:" .. (path or "unknown")
	elseif state == "waiting_for_model_select" then
		metadata.options = options(d, true)
		metadata.model_select = {options = labels(d, true)}
		local effort = l.s:match("^ *[○◔◐◑◕●◉]? *(\\w+) effort\\b", d.tail)
		if effort then metadata.model_select.effort = lower(effort.captures[1]) end
		subject = "model_select:" .. table.concat(metadata.model_select.options, "|")
	elseif state == "waiting_for_user_input" then
		metadata.question = question(l, d)
		metadata.options = options(d, true)
		local names = {} -- of the answers that are offered: what is typed instead changes its option's label
		for _, o in ipairs(d.options) do
			if o.more or o.description then names[#names + 1] = o.label end
		end
		subject = "question:" .. metadata.question.question .. ":" .. table.concat(names, "|")
	elseif state == "waiting_for_login" then
		metadata.options = options(d, true)
		metadata.login = {question = d.question}
		subject = "login:" .. d.question
	else
		metadata.options = options(d, true)
		return
	end
	metadata.dialog_id = appearance(l, about.id(subject))
end

return about
