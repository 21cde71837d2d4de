-- What this adapter remembers between two looks. An adapter has an instance of the plugin of its own, and predicates that are
-- bound to it run there too, so this is shared by classifier, intents and predicates; where nothing was remembered, everything
-- works from the screen alone.
--
--   model        as the session's head said, which scrolls away; mode: as the footer said, which dialogs hide
--   sent         the prompt that was sent last: all, its words; said, what the user had said before it; typed, it was seen in the
--                input; begun, it has become a turn
--   cancel       the last cancel: said, what the user had said last; worked, the turn was seen to run; over, it has ended
--   answered     the dialog that was answered last: id, state, face; gone, it has left the screen
--   typed        the words of all prompts that were sent, the newest at the end
--   attached     a path was put into the input, to which a prompt is added
--   story        the text of the turn so far, row by row
--   stood        the dialog that is on the screen: id, and since when (at, in ms)
--   state        what the last look said
--   sequence     of the newest view that was seen

local memory = {sequence = 0}

-- seen starts afresh when a view is older than what is remembered: then it is of another session, as in tests.
function memory.seen(s)
	local sequence = s.sequence
	if sequence < memory.sequence - 1000 or sequence <= 1 and memory.sequence > 1 then
		for name in pairs(memory) do
			if name ~= "seen" then memory[name] = nil end
		end
	end
	memory.sequence = sequence
end

return memory
