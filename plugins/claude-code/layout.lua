-- What stands where on the screen. Claude Code draws three things at the bottom, and nothing that it prints above them looks
-- like them, because they begin in the first column and prose never does:
--
--   a prompt   a rule of ─, a row with the prompt's glyph and a no-break space, a rule of ─, the footer
--   a dialog   a rule of ─, a question, options of which one carries the pointer ❯ and a plain space
--   a panel    a rule of ▔ and whatever the panel is about
--
-- What the user said stands above as "❯ text" (2.0.60: "> text") with a plain space, what the program says begins with ● and
-- other marks in the first column; everything else is indented. So one walk from the bottom row upwards finds the prompt, or
-- what stands in its place, and a second one what has happened since the user spoke last.

local layout = {}

local byte, sub, match, gsub = string.byte, string.sub, string.match, string.gsub
local starts, contains = string.starts_with, string.contains

local NBSP = "\194\160"
local RULE = "───" -- a rule is as wide as the screen; "─── ↑ 24 more ───" is one too, above an input that is scrolled

-- What a row of the conversation begins with: nothing of a dialog does.
local SAID = {["●"] = true, ["⏺"] = true, ["✻"] = true, ["✶"] = true, ["✢"] = true, ["✽"] = true, ["✳"] = true, ["∴"] = true}
local SPINNER = {["✻"] = true, ["✶"] = true, ["✢"] = true, ["✽"] = true, ["✳"] = true}

-- Glyphs of the title. 2.1.197 turns a braille pattern while it works, later versions half a circle; 2.0.60 sets no title, and
-- a program that reports its status sets one without a glyph.
local function of_title(title)
	if not title or title == "" then return nil end
	local g = sub(title, 1, 3)
	if g == "✳" then return "idle" end
	if g == "◐" or g == "◑" or g == "◒" or g == "◓" then return "working" end
	local a, b = byte(title, 1, 2)
	if a == 226 and b >= 160 and b <= 163 then return "working" end -- U+2800 to U+28FF
	return nil
end

-- prompt_above looks for the input of which row b is the lower rule. It returns the row of the upper rule (0: it has left the
-- screen), that of the glyph (nil when the input is scrolled) and the glyph.
local function prompt_above(lines, b)
	for i = b - 1, 1, -1 do
		local line = lines[i]
		local c = byte(line)
		if c ~= nil and c ~= 32 then
			if c == 226 and starts(line, "─── ↑") and i < b - 1 then return i end
			local glyph = c == 226 and "❯" or sub(line, 1, 1)
			if glyph ~= "❯" and glyph ~= ">" and glyph ~= "!" and glyph ~= "#" then return nil end
			if line ~= glyph and not starts(line, glyph .. NBSP) then return nil end
			if i > 1 and starts(lines[i - 1], RULE) then return i - 1, i, glyph end
			return nil
		end
	end
	-- 2.0.60 lets an input that is higher than the screen run out of it at the top.
	if b > 6 and b >= #lines - 4 and starts(lines[1], "  ") then return 0 end
	return nil
end

-- said reports whether a row belongs to the conversation, where no dialog reaches.
local function said(line, c)
	if c == 62 then return byte(line, 2) == 32 end -- "> text"
	if c ~= 226 then return false end
	local g = sub(line, 1, 3)
	if g == "❯" then return byte(line, 4) == 32 and not match(line, "^❯ %d+%. ") end
	return SAID[g] == true
end

-- queued_last reports whether below a message, which may have more than one row, stands that it is queued.
local function queued_last(lines, i)
	i = i + 1
	while starts(lines[i] or "", "  ") and not starts(lines[i], "  ⎿") do i = i + 1 end
	return contains(lines[i] or "", "⎿  Queued")
end

-- is_queued reports whether a message is one that waits: then its text is as grey as the glyph before it.
local function is_queued(l, row)
	local runs = l.s:styles(row)
	return runs and runs[1] and match(runs[1].text, "^❯ +%S") ~= nil and runs[1].foreground ~= "default"
end

-- since_said walks from the prompt upwards to what the user said last, and notes what it passes.
local function since_said(l)
	local lines = l.lines
	for i = l.prompt_top - 1, 1, -1 do
		local line = lines[i]
		local c = byte(line)
		if c == 32 then
			if starts(line, "  ⎿") then
				l.result = l.result or i
				l.top_result = i
			end
		elseif c == 226 then
			local g = sub(line, 1, 3)
			if g == "❯" then
				if byte(line, 4) == 32 then
					-- Only the last of the messages that are queued says so.
					if queued_last(lines, i) or l.queued and is_queued(l, i) then
						l.queued = (l.queued or 0) + 1
						l.top_result, l.result = nil, nil
					else
						l.echo = i
						break
					end
				end
			elseif g == "●" or g == "⏺" then
				if starts(line, "● Unknown command: /") then
					l.notice = l.notice or i
				elseif not starts(line, "● Args from unknown skill: ") then
					l.block = l.block or i
				end
			elseif SPINNER[g] and not l.spinner and not l.done then
				if match(line, " for %d+[smhd]") and not contains(line, "…") then
					l.done = i
				elseif contains(line, "…") or contains(line, "retrying in") or contains(line, "Waiting for") then
					if not l.block then l.spinner = i end
				end
			end
		elseif c == 62 and byte(line, 2) == 32 or c == 33 and byte(line, 2) == 32 then
			l.echo = i
			break
		elseif c == 42 or c == 194 then -- "*" and "·" are frames of the spinner
			local bare = not l.spinner and not l.block and not l.done
			if bare and contains(line, "…") and match(line, "^[*\194]\183? %S") then l.spinner = i end
		end
	end
end

local function hits(l) return l.s:hits() end

-- read returns the layout of what s shows. Rows count from 1.
--   last        the last row with anything on it; nil: the screen is blank
--   prompt      the row of the glyph, prompt_top and prompt_bottom its rules, glyph ("❯", ">", "!", "#"); nil: no prompt
--   floor       without a prompt: the row that a dialog begins below (0: the screen's top); panel: that row is of ▔
--   echo        what the user said last; queued: how many messages the program shows as queued
--   notice      the program's own answer to a command that there is not
--   block       the last row behind echo that begins with ●; result: the last that begins with ⎿, top_result the first
--   done        "✻ Brewed for 9s"; spinner: "✢ Brewing…"
--   title       what the title says: idle, working or nil; status: what the program reported, or nil
function layout.read(s)
	local lines = s.lines
	local status = s.status
	local l = {s = s, lines = lines, explain = s.explain, hits = hits, title = of_title(s.title), status = status and status.state}
	local last
	local floor, panel = 0, false
	for i = #lines, 1, -1 do
		local line = lines[i]
		if line ~= "" then
			last = last or i
			local c = byte(line)
			if c == 226 then
				if starts(line, RULE) then
					if floor == 0 then
						local top, row, glyph = prompt_above(lines, i)
						if top then
							l.last, l.prompt, l.prompt_top, l.prompt_bottom, l.glyph = last, row or top + 1, top, i, glyph
							since_said(l)
							return l
						end
					end
					floor = i
				elseif starts(line, "▔▔▔") then
					floor, panel = i, true
					break
				elseif said(line, c) then
					l.above = i
					break
				end
			elseif c == 62 and said(line, c) then
				l.above = i
				break
			end
		end
	end
	if floor == 0 then floor = l.above or 0 end
	l.last, l.floor, l.panel = last, floor, panel
	return l
end

-- typed_in returns what somebody has typed of a row of the input, and what the program shows behind it as a hint: that is dim,
-- but for its first cell, which is drawn as the cursor.
local function typed_in(l, row)
	local text, before = {}, nil
	for _, run in ipairs(l.s:styles(row) or {}) do
		if run.dim and run.col > 2 and match(run.text, "%S") then
			local typed = table.concat(text)
			if before and before.inverse then typed = sub(typed, 1, #typed - #before.text) end
			return sub(typed, #l.glyph + #NBSP + 1), run.text
		end
		text[#text + 1], before = run.text, run
	end
	return nil
end

-- input returns what was typed into the prompt, rows joined by line feeds, "" when nothing was; and the hint in its first row.
function layout.input(l)
	if l.typed then return l.typed, l.placeholder end
	local rows = {}
	for i = l.prompt, l.prompt_bottom - 1 do
		local first = i == l.prompt and l.glyph ~= nil
		local text = sub(l.lines[i], first and #l.glyph + #NBSP + 1 or 3)
		if first and text ~= "" then
			local typed, hint = typed_in(l, i)
			if hint then
				l.placeholder, text = text, match(typed, "^(.-) *$")
			end
		end
		rows[#rows + 1] = text
	end
	l.typed = table.concat(rows, "\n")
	return l.typed, l.placeholder
end

-- words is a text without anything that a screen may wrap or blank out, to compare what was sent with what is shown.
function layout.words(text) return (gsub(gsub(text, NBSP, ""), "%s", "")) end

return layout
