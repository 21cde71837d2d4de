-- What this adapter remembers between two looks. An adapter has an instance of the plugin of its own, and predicates that are
-- bound to it run there too, so this is shared by classifier, intents and predicates; where nothing was remembered, everything
-- works from the screen alone.
--
--   model        as the session's head said, which scrolls away; mode: as the footer said, which dialogs hide
--   sent         what was submitted last, and what has become of it: see sent.lua
--   cancel       the last cancel: said, what the user had said last; worked, the turn was seen to run; over, it has ended
--   answered     the dialog that was answered last: id, state, face; gone, it has left the screen
--   typed        the words of all prompts that were sent, the newest at the end
--   attached     a path was put into the input, to which a prompt is added
--   story        the turn so far, and what of it was told: see turn.lua; before: the turn before it; unended: the same,
--                when its end was not told yet; fresh, the next look is of
--                another turn, whatever it shows
--   stood        the dialog that is on the screen: id, what of it is the same for all that ask the same (base), since when (at, in ms)
--   given        the ids that dialogs and calls of tools have had: see new_id
--   state        what the last look said; size, when and at which size the screen was seen first
--   sequence     of the newest view that was seen; late: the one that is looked at is older

local memory = {sequence = 0}

-- seen starts afresh when a view is older than what is remembered: then it is of another session, as in tests.
function memory.seen(s)
	local sequence = s.sequence
	if sequence < memory.sequence - 1000 or sequence <= 1 and memory.sequence > 1 then
		for name in pairs(memory) do
			if type(memory[name]) ~= "function" then memory[name] = nil end
		end
		memory.sequence = sequence
	end
	-- A look waits for others, so that one of an older view may come after one of a newer: it says how that was, and what is
	-- remembered does not go back.
	memory.late = sequence < memory.sequence
	memory.sequence = math.max(sequence, memory.sequence)
end

local MAX_IDS = 2000 -- that are remembered, some 100 bytes each

-- new_id makes an id of a fingerprint: the fingerprint itself when it is seen for the first time, else with a number behind it
-- that no other id has, so that who answers one dialog never answers another that asks the same.
function memory.new_id(fingerprint)
	local given = memory.given
	if not given or given.count >= MAX_IDS then
		given = {ids = {}, count = 0, again = given and given.again or 1, all = given ~= nil}
		memory.given = given
	end
	local id = fingerprint
	if given.all or given.ids[fingerprint] then
		given.again = given.again + 1
		id = fingerprint .. "-" .. given.again
	end
	if not given.ids[fingerprint] then given.count = given.count + 1 end
	given.ids[fingerprint] = id
	return id
end

-- last_id returns the id that a fingerprint was given last.
function memory.last_id(fingerprint) return memory.given and memory.given.ids[fingerprint] or fingerprint end

return memory
