-- What this adapter remembers between two looks. An adapter has an instance of the plugin of its own, and predicates that are
-- bound to it run there too, so this is shared by classifier, intents and predicates; where nothing was remembered, everything
-- works from the screen alone.
--
--   model        as the session's head said, which scrolls away; mode: as the footer said, which dialogs hide
--   sent         the prompt that was sent last: {words, echo, begun}
--   cancelled    what the user had said last when a cancel was sent
--   answered     the dialog that was answered last: {id, gone}
--   story        the text of the turn so far, row by row
--   sequence     of the newest view that was seen

local memory = {sequence = 0}

-- seen starts afresh when a view is older than what is remembered: then it is of another session, as in tests.
function memory.seen(s)
	local sequence = s.sequence
	if sequence < memory.sequence - 1000 or sequence <= 1 and memory.sequence > 1 then
		memory.model, memory.mode, memory.sent, memory.cancelled, memory.answered, memory.story = nil, nil, nil, nil, nil, nil
	end
	memory.sequence = sequence
end

return memory
