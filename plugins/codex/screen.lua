-- What stands where on Codex's screen. At the bottom stands one of two things:
--
--   the input   a row that begins with › or, in shell mode, with !, perhaps rows that go on below it, a blank row, a footer
--   a pane      a heading, options of which one carries the pointer ›, a blank row, a footer of keys ("enter select · esc back")
--
-- Everything above is the conversation: what the user said begins with › too, what the program says with •, ■, ✔ and other marks
-- in the first column, and all else is indented. So the lowest row that is not indented tells which of the two stands there, but
-- for a pane whose pointer is in the first column: its footer tells. While the session signs in or asks for trust there is a
-- page in place of both.

local screen = {}

local byte, sub, match = string.byte, string.sub, string.match
local starts, trim = string.starts_with, string.trim

-- Footers of panes. Those of the input name keys too, but never one that confirms or leaves a choice.
local KEYS = "^ {1,3}(?:[Pp]ress enter to |enter [a-z]+(?: ·| {3}|$)|tab to add notes|.*\\besc (?:back|exit|cancel|dismiss|to (?:cancel|go back|interrupt|quit))\\b)"

-- option reads "1. label  (y)     what it means".
local function option(row, number, text)
	local label, description = match(text, "^(%S.-)   *(%S.*)$")
	label = trim(label or text)
	local before, key = match(label, "^(.*) %((%a)%)$")
	if not before then before, key = match(label, "^(.*) %((esc)%)$") end
	return {row = row, number = number, label = before or label, shortcut = key, description = description}
end

-- pointed returns what stands behind a pointer, and how many columns before it.
local function pointed(line)
	local blanks, text = match(line, "^( *)› (%d+%. .*)$")
	if not blanks then blanks, text = match(line, "^( *)> (%d+%. .*)$") end
	if blanks then return text, #blanks + 2 end
	return nil
end

-- menu reads the options around the lowest pointer; nil when there is none. Between two options there may be a blank row and
-- rows that explain the upper one, which are indented further.
local function menu(l)
	local lines = l.lines
	local row, text, column
	for i = l.last, 1, -1 do
		text, column = pointed(lines[i])
		if text then
			row = i
			break
		end
	end
	if not row then return nil end
	local function numbered(i)
		if i == row then return match(text, "^(%d+)%. (.*)$") end
		local indent, number, label = match(lines[i], "^( +)(%d+)%. (.*)$")
		if indent and #indent == column then return number, label end
		return nil
	end
	local function goes_on(i) return i >= 1 and i <= l.last and (#match(lines[i], "^ *") > column or lines[i] == "" and lines[i + 1] ~= "" and lines[i - 1] ~= "") end
	local first, wanted = row, tonumber((numbered(row))) - 1
	for i = row - 1, 1, -1 do
		local number = numbered(i)
		if tonumber(number) == wanted then
			first, wanted = i, wanted - 1
		elseif wanted == 0 or not goes_on(i) then
			break
		end
	end
	local options, pointer = {}, 0
	for i = first, l.last do
		local number, label = numbered(i)
		if number then
			options[#options + 1] = option(i, tonumber(number), label)
			if i == row then pointer = #options end
		elseif not goes_on(i) then
			break
		elseif lines[i] ~= "" then
			local o = options[#options]
			o.description = o.description and o.description .. " " .. trim(lines[i]) or trim(lines[i])
		end
	end
	return {options = options, pointer = pointer, first = first}
end

-- ask reads what a pane is about: the rows from its heading to its first option.
local function ask(l, d)
	local heading = l.s:match_last("^ {2}(?:Would you like to .*\\?|Do you want to .*\\?|.* needs your approval\\.?|Select (?:Model|Reasoning Level)\\b.*|Folder access|Question \\d+/\\d+.*)", 1, d.first - 1)
	if heading then d.heading, d.heading_row = trim(heading.text), heading.row end
	local labels = {}
	for i, o in ipairs(d.options) do labels[i] = o.label end
	d.subject = table.concat(l.lines, "\n", d.heading_row or math.max(1, d.first - 4), d.first - 1) .. "\n" .. table.concat(labels, "|")
	if not d.heading then
		local i = d.first - 1
		while i > 1 and l.lines[i] == "" do i = i - 1 end
		d.heading, d.heading_row = trim(l.lines[i]), i
	end
end

-- input reads the rows of the input from its glyph to the footer.
local function input(l)
	local lines, rows = l.lines, {}
	local first = sub(lines[l.prompt], l.glyph == "!" and 3 or 5)
	rows[1] = first
	l.footer = l.last
	for i = l.prompt + 1, l.last do
		local line = lines[i]
		-- A blank row ends the input, unless more of what was typed stands below it: then the next blank row does.
		if line == "" then
			local rest = 0
			for k = i + 1, l.last do if lines[k] == "" then rest = rest + 1 end end
			if rest == 0 then
				l.footer = i + 1
				break
			end
		end
		rows[#rows + 1] = sub(line, 3)
	end
	l.input = table.concat(rows, "\n")
	if l.input ~= "" and #rows == 1 and l.s.cursor_col <= 3 and l.s.cursor_row == l.prompt then
		-- With the cursor before the text it is a placeholder when it is dim.
		local dim = true
		for _, run in ipairs(l.s:styles(l.prompt) or {}) do
			if run.col > 2 and match(run.text, "%S") and not run.dim then dim = false end
		end
		if dim then l.input = "" end
	end
	if l.input == "" and l.s.cursor_row == l.prompt and l.s.cursor_col > 3 then
		l.input = string.rep(" ", l.s.cursor_col - 3) -- nothing but blanks
	end
	if l.queued then l.input = "" end
	l.pasted, l.shell = match(l.input, "%[Pasted Content %d+ chars%]"), l.glyph == "!"
end

-- conversation finds what the user said last, and the newest mark behind it that ends a turn: "Worked for 2s • 10:11", or "■ ..." for
-- what went wrong.
local function conversation(l)
	local lines = l.lines
	local top = (l.prompt or l.pane or l.last + 1) - 1
	for i = top, 1, -1 do
		local line = lines[i]
		local c = byte(line)
		if c == 226 then
			local g = sub(line, 1, 3)
			if g == "›" then
				l.said, l.said_row = trim(sub(line, 4)), i
				return
			elseif g == "■" then
				l.fault = l.fault or (not l.worked and i or nil)
			elseif g == "•" then
				l.block = l.block or i
			end
		elseif c == 32 and not l.worked and not l.fault and starts(line, "  Worked for ") then
			l.worked = i
		end
	end
end

-- read returns the layout of what s shows; beside what ptywright.agent wants:
--   keys      the last row when it is the footer of a pane
--   footer    the first row below the input; queued: it says that what stands in the input is sent later
--   said_row  of what the user said last; worked, fault, block: rows behind it that begin with "Worked for", ■ and •
--   title     what the title says: working, blocked, idle; nil when there is none
--   status    what the program has reported in-band
function screen.read(s)
	local lines = s.lines
	local l = {s = s, lines = lines}
	for i = #lines, 1, -1 do
		if lines[i] ~= "" then
			l.last = i
			break
		end
	end
	local status, title = s.status, s.title
	l.status = status and status.state
	if title and title ~= "" then
		local a, b = byte(title, 1, 2)
		l.title = a == 226 and b >= 160 and b <= 163 and "working" -- a braille pattern turns while a turn runs
			or starts(title, "[ ! ] Action Required") and "blocked" or starts(title, "[ . ] Action Required") and "blocked" or "idle"
	end
	if not l.last then return l end
	l.queued = starts(lines[l.last], "  Waiting for startup")
	if not l.queued and s:test(KEYS, math.max(1, l.last - 1), l.last) and not starts(lines[l.last], "  Browsing") then
		l.keys = l.last
	else
		for i = l.last, 1, -1 do
			local c = byte(lines[i])
			if c ~= nil and c ~= 32 then
				if starts(lines[i], "›") then l.prompt, l.glyph = i, "›" elseif c == 33 then l.prompt, l.glyph = i, "!" end
				break
			end
		end
	end
	if l.prompt then
		input(l)
	else
		local d = menu(l)
		if d then
			ask(l, d)
			l.dialog, l.pane = d, math.max(d.heading_row, 1)
		end
	end
	if l.prompt or l.dialog then conversation(l) end
	l.mark = (l.said or "") .. (lines[l.worked or l.fault] or "")
	return l
end

return screen
