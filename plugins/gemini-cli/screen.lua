-- What stands where on Gemini CLI's screen. It draws on the main screen, so what it has printed stays above and scrolls away; at
-- the bottom stands one of two things:
--
--   the input   a rule of ─, a row with the mode, a border, rows that begin with " > ", a border, and the footer
--   a box       ╭─ to ─╯ with nothing below it, with options of which one carries the pointer ●
--
-- The borders of the input are ▄ and ▀, or rules, or blank rows where there are no true colours. What the user has said looks like
-- the input but for the rule; what the program says begins with ✦, what went wrong with ✕, and notes with ℹ, all in the first
-- column. A box that is not the last thing is a tool's, or of a dialog that was answered and printed over.

local screen = {}

local byte, sub, match, gsub = string.byte, string.sub, string.match, string.gsub
local starts, contains, trim = string.starts_with, string.contains, string.trim

local RULE = "────"
local GLYPHS = {[62] = ">", [42] = "*", [33] = "!"} -- of the input: * approves everything, ! is a shell's

-- of_title reads the glyph in front of the title.
local function of_title(title)
	if not title then return nil end
	if starts(title, "◇") then return "idle" end
	if starts(title, "✦") or starts(title, "⏲") then return "working" end
	if starts(title, "✋") then return "blocked" end
	return nil
end

-- find_input looks for the row with the input's glyph, from the bottom up.
local function find_input(l)
	local lines = l.lines
	for i = l.last, 2, -1 do
		local line = lines[i]
		local c, g, after = byte(line, 1, 3)
		if c == 32 and GLYPHS[g] and (after == 32 or not after) then -- nothing follows where there are only blanks
			for k = i - 1, math.max(1, i - 3), -1 do
				if starts(lines[k], RULE) and k < i - 1 then
					l.prompt, l.rule, l.shell = i, k, g == 33
					return
				end
			end
			return
		end
	end
end

-- read_input reads the rows of the input. A placeholder stands behind the cursor and two columns further to the right than text.
local function read_input(l)
	local lines, rows, s = l.lines, {}, l.s
	local first = sub(lines[l.prompt], 4)
	local behind = s.cursor_row == l.prompt and s.cursor_col - 4 or 0 -- columns from the first to the cursor
	if starts(first, "  ") and s.cursor_row == l.prompt and behind <= 0 then
		l.input = ""
		return
	end
	rows[1] = first == "" and behind > 0 and string.rep(" ", behind) or first
	for i = l.prompt + 1, l.last do
		local line = lines[i]
		if not starts(line, "   ") and (line ~= "" or i > s.cursor_row) then break end
		rows[#rows + 1] = sub(line, 4)
	end
	l.input = table.concat(rows, "\n")
	l.pasted = match(l.input, "%[Pasted Text: [^%]]+%]")
end

-- Borders of boxes. A box stands in the first column or, in some dialogs, in the second.
local function is_bottom(line) return (starts(line, "╰─") or starts(line, " ╰─")) and string.ends_with(line, "─╯") end
local function is_top(line) return starts(line, "╭─") or starts(line, " ╭─") end
local function is_side(line) return starts(line, "│") or starts(line, " │") end
local function is_border(text) return starts(text, "╭") or starts(text, "│") or starts(text, "╰") end

-- inside takes the borders off a row of a box.
local function inside(line)
	line = gsub(line, "^ ?│ ?", "")
	return (gsub(line, " *│$", ""))
end

local function option(text)
	local blanks, rest = match(text, "^( *)(%d+%. +%S.*)$")
	if blanks then return false, #blanks, match(rest, "^(%d+)%. +(%S.*)$") end
	blanks, rest = match(text, "^( *)● *(%d+%. +%S.*)$")
	if blanks then return true, #blanks + 2, match(rest, "^(%d+)%. +(%S.*)$") end
	return nil
end

-- read_box reads the box whose lower border is the last row: its rows without borders, and the options around its pointer.
local function read_box(l)
	local lines = l.lines
	if not is_bottom(lines[l.last]) then return end
	local top = l.last - 1
	while top >= 1 and is_side(lines[top]) do top = top - 1 end
	if top >= 1 and not is_top(lines[top]) then return end
	local rows = {}
	for i = top + 1, l.last - 1 do rows[i] = inside(lines[i]) end
	l.box, l.top = rows, top
	local pointer_row, column, number
	for i = l.last - 1, top + 1, -1 do
		local pointed, indent, n = option(rows[i])
		if pointed then
			pointer_row, column, number = i, indent, tonumber(n)
			break
		end
	end
	for i = top + 1, l.last - 1 do
		local text = trim(rows[i])
		if text ~= "" and not is_border(text) then
			l.heading, l.heading_row = text, i
			break
		end
	end
	if not pointer_row then return end
	local first = pointer_row
	for i = pointer_row - 1, top + 1, -1 do
		local pointed, _, n = option(rows[i])
		if pointed == false and tonumber(n) < number then
			first, number = i, tonumber(n)
		elseif number == 1 or trim(rows[i]) == "" then
			break
		end
	end
	local d = {options = {}, first = first}
	for i = first, l.last - 1 do
		local pointed, _, n, label = option(rows[i])
		local text = trim(rows[i])
		if pointed ~= nil then
			label = trim(match(label, "^(.-)   ") or label)
			local before = match(label, "^(.*) %(esc%)$")
			d.options[#d.options + 1] = {row = i, number = tonumber(n), label = before or label, shortcut = before and "esc"}
			if i == pointer_row then d.pointer = #d.options end
		elseif text == "" then
			break
		else
			local o = d.options[#d.options]
			o.description = o.description and o.description .. " " .. text or text
		end
	end
	local question = first - 1
	while question > top + 1 and (trim(rows[question]) == "" or is_border(trim(rows[question]))) do question = question - 1 end
	d.question, d.question_row = trim(rows[question] or ""), question
	local asked = {}
	for i = top + 1, first - 1 do asked[#asked + 1] = rows[i] end
	for _, o in ipairs(d.options) do asked[#asked + 1] = o.label end
	d.subject = table.concat(asked, "\n")
	l.dialog = d
end

-- conversation finds what the user said last, and the newest marks behind it.
local function conversation(l)
	local lines = l.lines
	for i = (l.rule or l.last + 1) - 1, 1, -1 do
		local line = lines[i]
		local c = byte(line)
		if c == 226 then
			local g = sub(line, 1, 3)
			if g == "✦" then
				l.answer = l.answer or i
				l.answer_top = i
			elseif g == "✕" then
				l.fault = l.fault or i
			elseif g == "ℹ" and not l.cancelled and not l.answer and contains(line, "Request cancelled.") then
				l.cancelled = i
			end
		elseif c == 32 and byte(line, 3) == 32 and (byte(line, 2) == 62 or byte(line, 2) == 36) or c == 62 and byte(line, 2) == 32 then
			l.said, l.said_row = trim(match(line, "^ ?. (.*)$")), i
			return
		end
	end
end

-- read returns the layout of what s shows; beside what ptywright.agent wants:
--   rule      the row of the rule above the input
--   box       the rows of the box at the bottom, without borders, by row; top: its upper border; heading: its first text
--   said_row  what the user said last; answer, fault, cancelled: the newest rows behind it that begin with ✦, ✕, ℹ;
--             answer_top: the first of ✦
--   title     what the title says: idle, working, blocked, nil
function screen.read(s)
	local lines = s.lines
	local l = {s = s, lines = lines, title = of_title(s.title)}
	for i = #lines, 1, -1 do
		if lines[i] ~= "" then
			l.last = i
			break
		end
	end
	if not l.last then return l end
	read_box(l)
	if not l.box then find_input(l) end
	if l.prompt then read_input(l) end
	conversation(l)
	l.mark = (l.said or "") .. (lines[l.answer_top] or "") .. (lines[l.fault] or "") .. (lines[l.cancelled] or "")
	return l
end

return screen
