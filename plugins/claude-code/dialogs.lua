-- Reading a dialog: its options, which of them carries the pointer, what it asks, and what about. Options are numbered in most
-- dialogs and not in some, and a program of another version words them otherwise, numbers them otherwise and has another one
-- preselected: so they are read each time, and nothing here knows what number means what.

local dialogs = {}

local sub, match = string.sub, string.match
local starts, contains, trim = string.starts_with, string.contains, string.trim

-- plain takes the border off a row of a dialog that is drawn as a box (2.0.60's one about the API key).
local function plain(line)
	if starts(line, "│") then
		line = sub(line, 4)
		if sub(line, -3) == "│" then line = sub(line, 1, -4) end
		return "  " .. (match(line, "^(.-) *$"))
	end
	return line
end

-- is_rule reports whether a row only separates: a rule, or the upper or lower side of a box.
local function is_rule(line)
	local bare = trim(line)
	return starts(bare, "───") or starts(bare, "╌╌╌") or starts(bare, "╭──") or starts(bare, "╰──") or starts(bare, "▔▔▔")
end

-- pointer_row finds the row with the pointer, from the bottom up, and returns it, how many blanks stand before the pointer and
-- what stands behind it.
local function pointer_row(l)
	for i = l.last or 0, l.floor + 1, -1 do
		local line = l.lines[i]
		if contains(line, "❯ ") then
			local blanks, rest = match(plain(line), "^( *)❯ (.+)$")
			if blanks and (#blanks > 0 or match(rest, "^%d+%. ")) then return i, #blanks, rest end
		end
	end
	return nil
end

-- option makes one of its text, which may hold a box to tick, a tick, and a column that explains it.
local function option(row, number, text)
	local o = {row = row, number = number, label = trim(text)}
	local box, rest = match(o.label, "^%[(.-)%] (.*)$")
	if box and #box <= 3 then
		o.label, o.checked = rest, trim(box) ~= ""
	end
	local label, more = match(o.label, "^(%S.-)   *(%S.*)$")
	if label then o.label, o.description = label, more end
	if o.description and match(o.description, "✔$") then
		o.description, o.current = trim(match(o.description, "^(.-) *✔$")), true
	end
	local before = match(o.label, "^(.-) *✔$")
	if not before then
		before = match(o.label, "^✔ (.*)$")
	end
	if before then o.label, o.current = before, true end
	return o
end

-- more adds the rows behind an option that belong to it.
local function more(o, text)
	text = trim(text)
	if text == "" or is_rule(text) or match(text, "^[\226\134\145\147]+ %d+ more$") then return end
	if text == "Next" or text == "Submit" then -- the button below the boxes of a question with several answers
		o.button = text
		return
	end
	o.more = o.more and o.more .. " " .. text or text
end

-- numbered reads the options around the pointer when they are "1. this" and "2. that". Digits of one list stand below each
-- other, give or take two columns in 2.0.60.
local function numbered(l, at, column, rest)
	local number, text = match(rest, "^(%d+)%. (.*)$")
	number = tonumber(number)
	local before, pending = {}, {}
	local wanted = number - 1
	for i = at - 1, l.floor + 1, -1 do
		local line = plain(l.lines[i])
		if wanted < 1 or trim(line) == "" then break end
		local blanks, n, t = match(line, "^( *)(%d+)%. (.*)$")
		if n and tonumber(n) == wanted and math.abs(#blanks - column) <= 2 then
			local o = option(i, wanted, t)
			for k = #pending, 1, -1 do more(o, pending[k]) end
			before[#before + 1], pending, wanted = o, {}, wanted - 1
		else
			pending[#pending + 1] = line
		end
	end
	local options = {}
	for k = #before, 1, -1 do options[#options + 1] = before[k] end
	local pointer = #options + 1
	options[pointer] = option(at, number, text)
	wanted = number + 1
	local last = at
	for i = at + 1, l.last do
		local line = plain(l.lines[i])
		if trim(line) == "" then break end
		last = i
		local blanks, n, t = match(line, "^( *)(%d+)%. (.*)$")
		if n and tonumber(n) == wanted and math.abs(#blanks - column) <= 2 then
			options[#options + 1], wanted = option(i, wanted, t), wanted + 1
		else
			more(options[#options], line)
		end
	end
	return options, pointer, last
end

-- listed reads the options around the pointer when they have no numbers: rows whose text begins in the same column.
local function listed(l, at, column, rest)
	if starts(rest, "✔ ") then column = column + 2 end
	local function label(i)
		local line = plain(l.lines[i])
		local blanks, t = match(line, "^( *)(%S.*)$")
		if not blanks then return nil end
		local fits = #blanks == column or #blanks == column - 2 and starts(t, "✔ ") or #blanks == column + 2
		return fits and t, #blanks
	end
	local options, before, last = {}, {}, at
	for i = at - 1, l.floor + 1, -1 do
		local t, blanks = label(i)
		if not t then break end
		if blanks == column or starts(t, "✔ ") then before[#before + 1] = option(i, nil, t) end
	end
	for k = #before, 1, -1 do options[#options + 1] = before[k] end
	local pointer = #options + 1
	options[pointer] = option(at, nil, rest)
	for i = at + 1, l.last do
		local t, blanks = label(i)
		if not t then break end
		last = i
		if blanks > column then
			more(options[#options], t)
		else
			options[#options + 1] = option(i, nil, t)
		end
	end
	return options, pointer, last
end

-- paragraph returns the rows above row i as one text, up to a blank row or a rule, and its first row.
local function paragraph(l, i)
	while i > l.floor and trim(plain(l.lines[i])) == "" do i = i - 1 end
	local text, first = nil, i + 1
	while i > l.floor do
		local line = trim(plain(l.lines[i]))
		if line == "" or is_rule(line) then break end
		text, first = text and line .. " " .. text or line, i
		i = i - 1
	end
	return text or "", first
end

-- read returns what stands in the place of the prompt, or nil when it has no pointer:
--   options   each with label, row, number, description, checked, current; pointer: which one it is on
--   head      the first row below the rule, question: the paragraph above the options, question_row where it begins
--   row       that of the pointer; tail: the last one of the options
function dialogs.read(l)
	if l.dialog ~= nil then return l.dialog end
	l.dialog = false
	if l.prompt or not l.last then return false end
	local at, blanks, rest = pointer_row(l)
	if not at then return false end
	local column = blanks + 2
	local options, pointer, last
	if match(rest, "^%d+%. ") then
		options, pointer, last = numbered(l, at, column, rest)
	else
		options, pointer, last = listed(l, at, column, rest)
	end
	local question, question_row = paragraph(l, options[1].row - 1)
	local head, head_row = "", l.floor
	for i = l.floor + 1, options[1].row - 1 do
		local line = trim(plain(l.lines[i]))
		if line ~= "" and not is_rule(line) then
			head, head_row = line, i
			break
		end
	end
	l.dialog = {
		options = options, pointer = pointer, row = at, tail = last,
		head = head, head_row = head_row, question = question, question_row = question_row,
	}
	return l.dialog
end

-- face is all that a dialog or panel shows but the pointer: what has the same face asks the same.
function dialogs.face(l)
	local d, rows = dialogs.read(l), {}
	for i = l.floor + 1, d and d.tail or l.last or 0 do rows[#rows + 1] = (string.gsub(l.lines[i], "❯", " ")) end
	return table.concat(rows, "\n")
end

-- heading returns the first row of a panel that has a text.
function dialogs.heading(l)
	for i = l.floor + 1, l.last or 0 do
		local line = trim(l.lines[i])
		if line ~= "" then return line, i end
	end
	return "", l.floor
end

dialogs.plain, dialogs.is_rule = plain, is_rule

return dialogs
