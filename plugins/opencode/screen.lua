-- What stands where on OpenCode's screen. It draws blocks with a bar ┃ at their left; at the bottom stands one of two things:
--
--   the input   bars, with what is typed and a row that names agent and model, then ╹▀▀▀ and a row of hints or a spinner
--   a panel     bars down to the end of the screen: a permission ("△ Permission required") or a question
--
-- On the home page the input stands in the middle. A dialog, as the picker of models, lies over everything, which is darkened;
-- its first row has a bold title and "esc". Above the input is the conversation: what the user said, what tools did and what went
-- wrong in blocks with bars, all else indented; a row with ▣ ends each answer: "▣  Build · model · 2.2s".

local screen = {}

local sub, match, gsub = string.sub, string.match, string.gsub
local starts, contains, trim, ends = string.starts_with, string.contains, string.trim, string.ends_with

local BAR = "┃"

-- The placeholders of the input and, in shell mode, of a command; until 1.15 with three dots.
local PLACEHOLDER = '(?s)^(?:Ask anything|Run a command)(?:…|\\.\\.\\.) ".*"$'

-- bar returns what stands behind the bar of a row that begins with head, an indent and a bar; else nil.
local function bar(line, head)
	if not starts(line, head) then return nil end
	return sub(line, #head + 1)
end

-- head_of returns the indent of a row and a bar.
local function head_of(line) return match(line, "^ *") .. BAR end

-- runs returns the runs of a row that have a text, and the background behind the bar.
local function runs(l, row)
	local list, behind, seen = {}, nil, false
	for _, r in ipairs(l.s:styles(row) or {}) do
		if seen and not behind then behind = r.background end
		if contains(r.text, BAR) then seen = true elseif match(r.text, "%S") then list[#list + 1] = r end
	end
	return list, behind
end

-- read_overlay looks for a dialog that lies over the screen: a bold title and "esc", on another background than the screen's.
local function read_overlay(l)
	local row = l.s:find("   esc")
	local m = row and l.s:match("(?:^| {2})(\\S+(?: \\S+)*) {3,}esc(?:/enter)?(?: {2,}|$)", row)
	if not m then return end
	local title, ground = m.captures[1], nil
	for _, r in ipairs(l.s:styles(m.row) or {}) do
		ground = ground or r.background
		if r.bold and trim(r.text) == title and r.background ~= ground then
			l.overlay, l.overlay_row = title, m.row
			return
		end
	end
end

-- read_input looks for the input above a row of ╹▀▀▀.
local function read_input(l)
	local lines = l.lines
	local bottom = l.s:find_last("╹▀▀▀")
	if not bottom or not match(lines[bottom], "^ *╹") then return end
	local head, i = head_of(lines[bottom]), bottom - 1
	local rows = {}
	while i >= 1 do
		local text = bar(lines[i], head)
		if not text then break end
		if ends(text, BAR) then -- a menu above it has a bar at its right, too
			l.menu = true
			break
		end
		table.insert(rows, 1, text)
		i = i - 1
	end
	if #rows < 3 then return end
	l.prompt, l.bottom, l.agent = i + 1, bottom, trim(rows[#rows])
	local text = {}
	for k = 1, #rows - 1 do text[k] = sub(rows[k], 3) end
	while text[1] and trim(text[1]) == "" do table.remove(text, 1) end
	while text[1] and trim(text[#text]) == "" do table.remove(text) end
	l.input = table.concat(text, "\n")
	l.pasted, l.shell = match(l.input, "%[Pasted ~%d+ lines%]"), starts(l.agent, "Shell")
	-- The cursor tells a placeholder, which stands behind it, from text, and blanks from nothing.
	local row, col = l.prompt + 1, #head - #BAR + 4
	local behind = l.s.cursor_row == row and l.s.cursor_col - col or 0
	if l.input == "" then
		if behind > 0 or l.s.cursor_row > row and l.s.cursor_row < bottom - 1 then l.input = " " end
	elseif l.s.cursor_row == row and behind == 0 and re.test(l.input, PLACEHOLDER) then
		l.input = ""
	elseif l.input == l.pasted then
		l.summed = behind == #l.pasted + 1
	end
	l.hints = bottom + 1
end

-- buttons reads the options of a row, of which the one on another background is the one that Enter takes.
local function buttons(l, row, names)
	local d = {options = {}, across = true, row = row, first = row}
	local list, behind = runs(l, row)
	for _, name in ipairs(names) do
		for _, r in ipairs(list) do
			if trim(r.text) == name then
				d.options[#d.options + 1] = {row = row, label = name}
				if r.background ~= behind then d.pointer = #d.options end
			end
		end
	end
	return d
end

-- answers reads numbered options, of which the one on another background is the one that Enter takes.
local function answers(l, from, to)
	local d = {options = {}}
	for i = from, to do
		local number, label = match(bar(l.lines[i], l.head) or "", "^ +(%d+)%. (.*)$")
		local o = d.options[#d.options]
		if number and tonumber(number) == #d.options + 1 then
			local box, rest = match(label, "^%[(.)%] (.*)$")
			if not box then box, rest = match(label, "^%[([^ -~]+)%] (.*)$") end
			d.options[#d.options + 1] = {row = i, label = trim((gsub(rest or label, "✓", ""))), checked = box and box ~= " " or nil}
			d.first = d.first or i
			local list, behind = runs(l, i)
			if list[1] and list[1].background ~= behind then d.pointer = #d.options end
		elseif o then
			local text = trim(bar(l.lines[i], l.head) or "")
			if text == "" then break end
			o.description = o.description and o.description .. " " .. text or text
		end
	end
	return d.first and d
end

local STAGES = {["Permission required"] = true, ["Always allow"] = true, ["Reject permission"] = true}

-- read_panel reads the block of bars that ends the screen.
local function read_panel(l)
	local lines = l.lines
	l.head = head_of(lines[l.last])
	if not starts(lines[l.last], l.head) then return end
	local top = l.last
	while top > 1 and starts(lines[top - 1], l.head) do top = top - 1 end
	l.panel = top
	local asked = {}
	for i = top, l.last do
		local text = trim(bar(lines[i], l.head))
		if text ~= "" then
			asked[#asked + 1] = text
			if not l.stage and starts(text, "△ ") then
				local stage = sub(text, 5)
				stage = trim(match(stage, "^(.-)   ") or stage)
				if STAGES[stage] then l.stage, l.stage_row = stage, i end
			end
		end
	end
	if l.stage then
		local row = l.s:match_last("^ *┃ +(?:Allow once|Confirm) ", l.stage_row, l.last)
		if row then
			l.dialog = buttons(l, row.row, {"Allow once", "Allow always", "Confirm", "Reject", "Cancel"})
			l.dialog.subject = table.concat(asked, "\n")
			l.body = l.s:test("^ *┃ .*\\S", l.stage_row + 2, row.row - 1)
		end
	elseif l.s:test("^ *┃ .*\\besc dismiss\\b", math.max(top, l.last - 2), l.last) then
		l.asks = true
		local d = answers(l, top, l.last)
		if d then
			d.subject = gsub(table.concat(asked, "\n"), " *✓", "") -- of what is chosen, right before it goes
			l.dialog = d
		end
	end
	if l.dialog and #l.dialog.options == 0 then l.dialog = nil end
end

-- read_end looks for the row with ▣ that ends the last answer, if it is the last thing above the input.
local function read_end(l)
	for i = l.prompt - 1, 1, -1 do
		local line = l.lines[i]
		if line ~= "" then
			l.above = i
			local text = match(line, "^ +▣ +(%S.*)$")
			if text then
				text = match(text, "^(.-)   ") or text
				l.ended = i
				l.took = match(text, " · ([%d.]+m?s)$") or match(text, " · (%d+[hm] %d+[ms])$") or match(text, " · (%d+[hmd])$")
				l.interrupted = ends(text, "· interrupted")
				l.answered_by = match(text, "^%S+ · (.-) ·") or match(text, "^%S+ · (.*)$")
			end
			return
		end
	end
end

-- block returns the first and the last row of a block of bars that ends in a row, the colour of its bar, and the text in it; nil
-- when there is none.
local function block(l, to)
	if to < 1 then return nil end
	local head = head_of(l.lines[to])
	if not starts(l.lines[to], head) then return nil end
	local from, colour = to, nil
	while from > 1 and starts(l.lines[from - 1], head) do from = from - 1 end
	for _, r in ipairs(l.s:styles(to) or {}) do
		if contains(r.text, BAR) then
			colour = r.foreground
			break
		end
	end
	local rows = {}
	for i = from, to do
		local text = trim(bar(l.lines[i], head))
		if text ~= "" then rows[#rows + 1] = text end
	end
	return from, colour, table.concat(rows, "\n")
end

-- of_ground returns the background of the screen, which a tool's bar has as its colour, and the colour of a mark in a row.
local function of_ground(l, row, mark)
	local ground
	for _, r in ipairs(l.s:styles(row) or {}) do
		ground = ground or r.background
		if contains(r.text, mark) then return ground, r.foreground end
	end
	return ground
end

-- asked reports whether what the user said is the last thing above the input: its bar has the agent's colour, as the input's.
function screen.asked(l)
	if not l.above or l.ended then return false end
	local from, colour = block(l, l.above)
	if not from then return false end
	local _, agent = of_ground(l, l.bottom, "╹")
	return colour == agent, from
end

-- fault looks for a block above the end whose bar is neither in the agent's colour nor in that of the ground: it tells what went
-- wrong. Blocks of what the user said have the agent's colour, those of tools the ground's.
function screen.fault(l)
	if not l.ended then return nil end
	local to = l.ended - 1
	while to >= 1 and l.lines[to] == "" do to = to - 1 end
	local from, colour, text = block(l, to)
	if not from then return nil end
	local ground, agent = of_ground(l, l.ended, "▣")
	if colour == agent or colour == ground then return nil end
	return text, from
end

-- read returns the layout of what s shows; beside what ptywright.agent wants:
--   bottom    the row of ╹▀▀▀; hints: the row below it; agent: the row that names agent and model
--   overlay   the title of a dialog that lies over the screen, and its row
--   panel     the first row of the block that ends the screen; stage: of a permission, and its row; body: it is told what for;
--             asks: it is a question
--   above     the last row above the input with anything on it
--   ended     the row with ▣ right above the input; took: how long it says; interrupted
--   title     OpenCode on the home page, "OC | ..." in a session
function screen.read(s)
	local lines = s.lines
	local l = {s = s, lines = lines}
	for i = #lines, 1, -1 do
		if lines[i] ~= "" then
			l.last = i
			break
		end
	end
	if not l.last then return l end
	read_overlay(l)
	if l.overlay then return l end
	read_input(l)
	if l.prompt then read_end(l) else read_panel(l) end
	return l
end

return screen
