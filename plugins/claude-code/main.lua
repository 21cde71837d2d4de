-- The adapter of Claude Code: what its screens mean, and how to act on them. The versions that it was made against are 2.0.60,
-- 2.1.197 and 2.1.328. Files:
--
--   layout.lua    what stands where on the screen
--   dialogs.lua   reading a dialog: options, pointer, what it is about
--   rules.lua     which state that is, and how the sources are fused

local layout = require("layout")
local rules = require("rules")

local function classify(s)
	local l = layout.read(s)
	return rules.decide(l)
end

return {classify = classify}
