-- Where something probably is on a screen: guesses for locators, each with a confidence and its evidence.

local markers = {"❯", "›", "▶", "▸", "►", "→", "●", "◉", "⦿", ">", "*", "[x]", "[X]", "[*]", "(x)", "(X)", "(*)", "(•)", "(●)"}

local function area(s)
	local w = s.params.within or {row = 1, col = 1, rows = s.rows, cols = s.cols}
	return w.row, w.row + w.rows - 1, w.col, w.col + w.cols - 1
end

-- cut returns the part of a run's text that lies in columns from to to; of a text with wide characters, all of it.
local function cut(run, from, to)
	if #run.text == run.cols then return run.text:sub(math.max(1, from - run.col + 1), to - run.col + 1) end
	local chars = {}
	for c in run.text:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
		chars[#chars + 1] = c
	end
	if #chars ~= run.cols then return run.text end
	return table.concat(chars, "", math.max(1, from - run.col + 1), to - run.col + 1)
end

local function painted(run) return run.inverse or run.background ~= "default" end

-- line tells what a row shows in columns left to right; nil for a blank one.
local function line(s, y, left, right)
	local paints, inks, texts = {}, {}, {}
	local first, last
	for _, run in ipairs(s:styles(y) or {}) do
		local from, to = math.max(run.col, left), math.min(run.col + run.cols - 1, right)
		if from <= to then
			local text = cut(run, from, to)
			local blank = not text:find("%S")
			texts[#texts + 1] = text
			if painted(run) or not blank then
				local paint = (run.inverse and "inverse " or "") .. run.background
				paints[paint] = (paints[paint] or 0) + to - from + 1
			end
			if not blank then
				local ink = run.foreground .. (run.bold and " bold" or "") .. (run.underline and " underline" or "")
				inks[ink] = (inks[ink] or 0) + to - from + 1
				local lead = #text:match("^ *")
				local trail = #text:match(" *$")
				first = first or from + lead
				last = to - trail
			end
		end
	end
	if not first then return nil end
	local function most(of)
		local best, n = "", 0
		for k, v in pairs(of) do
			if v > n or v == n and k < best then best, n = k, v end
		end
		return best
	end
	local text = table.concat(texts):match("^%s*(.-)%s*$")
	local marker
	for _, m in ipairs(markers) do
		if text:sub(1, #m) == m and #text > #m then
			marker = m
			break
		end
	end
	return {row = y, col = first, cols = last - first + 1, paint = most(paints), ink = most(inks), marker = marker}
end

-- odd returns the lines whose value differs from that of most lines, and that value.
local function odd(lines, key)
	local count, usual, n = {}, nil, 0
	for _, l in ipairs(lines) do
		local v = l[key] or false
		count[v] = (count[v] or 0) + 1
		if count[v] > n then usual, n = v, count[v] end
	end
	local others = {}
	for _, l in ipairs(lines) do
		if (l[key] or false) ~= usual then others[#others + 1] = l end
	end
	if n <= #others then return {}, usual end -- no value is that of most
	return others, usual
end

local ways = {
	{"paint", 0.9, function(l, usual) return "row " .. l.row .. " is " .. l.paint .. ", and the other lines are " .. tostring(usual) end},
	{"marker", 0.8, function(l) return "row " .. l.row .. " begins with " .. tostring(l.marker) .. ", and the other lines do not" end},
	{"ink", 0.5, function(l, usual) return "row " .. l.row .. " is " .. l.ink .. ", and the other lines are " .. tostring(usual) end},
}

-- selected guesses the line that is selected among those in its place: the one whose background, marker or colour differs
-- from that of the others.
local function selected(s)
	local top, bottom, left, right = area(s)
	local lines = {}
	for y = top, bottom do
		lines[#lines + 1] = line(s, y, left, right)
	end
	if #lines < 2 then return {matched = false, evidence = "there are fewer than two lines to compare"} end
	for _, way in ipairs(ways) do
		local others, usual = odd(lines, way[1])
		if way[1] == "marker" and usual then others = {} end -- a list whose lines all begin so
		local places = {}
		for _, l in ipairs(others) do
			places[#places + 1] = {
				row = l.row, col = l.col, rows = 1, cols = l.cols, evidence = way[3](l, usual),
				confidence = #others == 1 and way[2] or way[2] / (2 * #others),
			}
		end
		if #places > 0 then return {matched = true, capture = places, evidence = places[1].evidence} end
	end
	return {matched = false, evidence = "no line differs from the others in background, marker or colour"}
end

-- field guesses where the value of a label stands: params.label.
local function field(s)
	local label = s.params.label
	if type(label) ~= "string" or label == "" then error("field needs params.label, a text") end
	local top, bottom, left, right = area(s)
	local places = {}
	local function add(y, from, to, confidence, evidence)
		if from <= to then
			places[#places + 1] = {row = y, col = from, rows = 1, cols = to - from + 1, confidence = confidence, evidence = evidence}
		end
	end
	for y = top, bottom do
		local runs = s:styles(y) or {}
		for i, run in ipairs(runs) do
			local at, ends = run.text:find(label, 1, true)
			local ascii = #run.text == run.cols
			if at and run.col >= left - (ascii and at - 1 or 0) and run.col <= right then
				local after = ascii and run.col + ends or run.col + run.cols -- the column behind the label
				local rest = ascii and run.text:sub(ends + 1) or ""
				local after_run = run.col + run.cols
				local boxed = rest:find("^ ?%[[^%]]*%]")
				local line_ = rest:match("^ ?()_+")
				local styled
				for k = i + 1, #runs do
					local next_ = runs[k]
					if next_.col > after_run + 3 then break end
					if next_.underline or painted(next_) and (next_.background ~= run.background or next_.inverse ~= run.inverse) then
						styled = next_
						break
					end
					if next_.text:find("%S") then break end
					after_run = next_.col + next_.cols
				end
				if not rest:find("%S") and styled then
					add(y, styled.col, math.min(styled.col + styled.cols - 1, right), 0.9, "what stands right of the label is underlined or has a background of its own")
				elseif boxed then
					local open, close = rest:find("%[[^%]]*%]")
					add(y, after + open, math.min(after + close - 2, right), 0.85, "brackets stand right of the label")
				elseif line_ then
					local from, to = rest:find("_+")
					add(y, after + from - 1, math.min(after + to - 1, right), 0.85, "a line of underscores stands right of the label")
				else
					local from = after + ((rest == "" or rest:sub(1, 1) == " ") and 1 or 0)
					local value = rest:match("^ ?(%S.-)%s%s") or rest:match("^ ?(%S.-)%s*$")
					if value then
						add(y, from, math.min(from + #value - 1, right), 0.6, "a text stands right of the label")
					elseif from <= right then
						local to = right
						for k = i + 1, #runs do
							if runs[k].text:find("%S") then
								to = math.min(to, runs[k].col - 1)
								break
							end
						end
						local nexttext = rest:find("%S")
						if nexttext then to = math.min(to, after + nexttext - 3) end
						add(y, from, to, 0.5, "it is blank right of the label")
					end
				end
			end
		end
	end
	if #places == 0 then return {matched = false, evidence = "no line has the label with room right of it"} end
	return {matched = true, capture = places, evidence = places[1].evidence}
end

return {selected = selected, field = field}
