-- What was submitted last, by send_prompt or slash_command, and what has become of it. Until a turn of its own has been seen,
-- what stands above the prompt was there before: it is no answer to it, ends no wait for it and is not told again.
--
--   said      what the user had said before it, shown: all that stood behind that
--   state     what the state was; at: when, in ms; during: a turn ran, so that the program queues it
--   all       its words; left: those that stood in the input before
--   command   it is a command of the program's own
--   typed     it was seen in the input; begun: something has come of it; turn: a turn has
--   notice    the row in which the program has answered a command that there is not
--   lost      it has not got into the input
--   back      it was stopped before anything came back, and the program has put it back into the input

local layout = require("layout")
local signs = require("signs")
local memory = require("memory")

local sent = {}

local starts, contains, match = string.starts_with, string.contains, string.match
local words = layout.words

-- NOTHING is how long the screen must not change, in ms, after the input was taken, before that counts as all that comes of it.
-- 2.0.60 shows the first sign of a turn after some 450; a command shows what it does within some 100.
local NOTHING, NOTHING_COMMAND = 3000, 1000

-- SUBMITTING bounds, in ms, how long what is being typed counts as being submitted: the host gives up after 4,000.
local SUBMITTING = 6000

local AT_PROMPT = {ready = true, completed_turn = true, error = true, waiting_for_login = true}

-- shown returns what stands behind what the user said last, without what wrapping changes.
local function shown(l)
	local rows = {}
	for i = (l.echo or signs.head(l)) + 1, signs.bottom(l) do rows[#rows + 1] = l.lines[i] end
	return words(table.concat(rows))
end

-- note notes that something is about to be submitted.
function sent.note(l, s, command, all)
	local during = signs.working(l) ~= false or l.queued ~= nil
	memory.sent = {
		said = signs.said(l), shown = shown(l), state = AT_PROMPT[memory.state] and memory.state or "ready", at = s.at_ms, during = during,
		command = command, all = all, left = words(layout.input(l)), typed = false, begun = false, turn = during,
	}
end

-- unchanged reports whether all that stood there still does, and whether more has come.
local function unchanged(l, m)
	if signs.said(l) ~= m.said then return false, true end
	local now = shown(l)
	if now == m.shown then return true, false end
	return m.shown ~= "" and starts(now, m.shown), true
end

-- follow looks what has become of it.
function sent.follow(l)
	local m = memory.sent
	if not m or memory.late or not l.prompt then return end
	local input, working = layout.input(l), signs.working(l)
	m.lost = not m.typed and not m.begun and input == "" and l.s.at_ms - m.at >= SUBMITTING
	if input ~= "" then
		local stands = words(input)
		m.typed = m.typed or not m.begun and stands ~= m.left
		if m.turn and not m.during and not working and signs.said(l) == m.said and contains(m.all, stands) then
			m.turn, m.back = false, true
		end
	elseif m.during then
		m.begun = m.begun or m.typed or signs.said(l) ~= m.said
	elseif m.turn and l.notice and not working and signs.said(l) == m.said and select(2, unchanged(l, m)) then
		m.turn, m.notice = false, l.lines[l.notice] -- a command stands in the conversation until it is known that there is none
	elseif not m.turn then
		local same, more = unchanged(l, m)
		if more and l.notice and not working then
			m.begun, m.notice = true, l.lines[l.notice]
		elseif same then
			-- That it works says little: it does so for a moment when it looks for a command that there is not.
			local taken = m.typed and not m.begun
			m.begun = m.begun or taken and (working ~= false or l.s.stable_ms >= (m.command and NOTHING_COMMAND or NOTHING))
		else
			m.begun, m.turn, m.back, m.notice, memory.fresh = true, true, false, nil, true
		end
	end
end

-- dialog notes that a dialog stands in the place of the prompt.
function sent.dialog(id)
	local m = memory.sent
	if not m or memory.late or m.begun and (m.turn or not id) then return end
	m.begun = m.begun or id ~= nil or m.command == true
	if id and not m.command and not m.turn then m.turn, memory.fresh = true, true end
end

-- past reports whether what stands there was there before the submission.
function sent.past()
	local m = memory.sent
	return m ~= nil and not m.turn and not m.lost
end

-- submitting reports whether what was sent is on its way into the input, or stands there.
function sent.submitting(l)
	local m = memory.sent
	if not m or m.begun or m.during or l.s.at_ms - m.at >= SUBMITTING then return false end
	return not m.typed or layout.input(l) ~= ""
end

-- taken reports whether a prompt has left the input, and nothing has come of it yet.
function sent.taken(l)
	local m = memory.sent
	return m and m.typed and not m.begun and not m.during and not m.command and layout.input(l) == ""
end

-- put_back reports whether the turn was stopped before anything came back.
function sent.put_back() return memory.sent ~= nil and memory.sent.back == true end

return sent
