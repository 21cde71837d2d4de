-- Which state a layout is. OpenCode reports nothing in-band, and its title tells the page and not the turn, so the screen decides:
-- a dialog that lies over it, then the panel at the bottom, then the row below the input, which has a spinner while a turn runs,
-- then the row that ends the last answer.

local screen = require("screen")

local starts, trim = string.starts_with, string.trim

local DRAWN = 1000 -- ms until a permission counts that does not say what for; that is drawn some 50 later, on a busy machine 400

local UNANSWERED = 10000 -- ms for an answer to begin with a spinner; it takes some 50, and 3,000 were seen on a busy machine

local function an_input(l) return l.prompt end
local function over_it(l) return l.overlay end

-- Titles of the dialogs that log in to a provider.
local LOGIN = {["Connect a provider"] = true, ["Select auth method"] = true, ["API key"] = true, ["Waiting for authorization"] = true}

local function overlaid(evidence)
	return function(l) return {evidence = evidence .. ": " .. l.overlay, rows = {l.overlay_row}} end
end

-- working looks for the spinner. Its row begins with it, and stands right below the input.
local function working(l) return l.hints and l.s:test("^ +(?:[■⬝]{2,}|\\[⋯\\])(?: |$)", l.hints, l.hints) end

local rules = {
	{
		name = "ended", state = "unknown", confidence = 1, source = "exit",
		needs = {{"that the program has ended", function(l) return l.s.process_exited end}},
		make = function() return {evidence = "the program has ended"} end,
	},
	{
		name = "model", state = "waiting_for_model_select", confidence = 0.93,
		needs = {{"a dialog that lies over the screen", over_it}, {"the title of the model picker", function(l) return l.overlay == "Select model" end}},
		make = overlaid("the model picker is open"),
	},
	{
		name = "login", state = "waiting_for_login", confidence = 0.93,
		needs = {{"a dialog that lies over the screen", over_it}, {"a title about logging in to a provider", function(l) return l.overlay and (LOGIN[l.overlay] or starts(l.overlay, "Login ")) end}},
		make = overlaid("the program asks how to log in"),
	},
	{
		name = "overlay", state = "local_ui_screen", confidence = 0.9,
		needs = {{"a dialog that lies over the screen", over_it}},
		make = overlaid("a dialog of the program's own is open"),
	},
	{
		name = "permission", state = "waiting_for_permission", confidence = 0.96,
		needs = {
			{"a panel that ends the screen", function(l) return l.panel end},
			{"that it asks for permission", function(l) return l.stage end},
			{"its options, or a reason to be typed", function(l) return l.dialog or l.stage == "Reject permission" end},
			{"what it is for, which is drawn last", function(l) return l.body or l.stage ~= "Permission required" or l.s.stable_ms >= DRAWN end},
		},
		make = function(l) return {evidence = l.stage, rows = {l.stage_row, l.dialog and l.dialog.row}} end,
	},
	{
		name = "drawing", state = "thinking", confidence = 0.6,
		needs = {{"a panel that ends the screen", function(l) return l.panel end}, {"that it asks for permission", function(l) return l.stage end}},
		make = function(l) return {evidence = "a question for permission is being drawn", rows = {l.stage_row}, recheck_ms = DRAWN, unclear = true} end,
	},
	{
		name = "question", state = "waiting_for_user_input", confidence = 0.95,
		needs = {{"a panel that ends the screen", function(l) return l.panel end}, {"a key that dismisses a question", function(l) return l.asks end}},
		make = function(l) return {evidence = "the program asks a question", rows = {l.panel, l.last}} end,
	},
	{
		name = "working", state = "thinking", confidence = 0.95,
		needs = {{"an input", an_input}, {"a spinner below it", working}},
		make = function(l) return {evidence = "a spinner turns below the input: " .. trim(l.lines[l.hints]), rows = {l.hints}} end,
	},
	{
		name = "typed", state = "ready", confidence = 0.92,
		needs = {{"an input", an_input}, {"text in it", function(l) return l.input ~= "" end}},
		make = function(l) return {evidence = "text stands in the input, and no spinner below it", rows = {l.prompt}} end,
	},
	{
		name = "asked", state = "thinking", confidence = 0.7,
		needs = {
			{"an input", an_input},
			{"right above it what the user said, without an answer", function(l)
				local said
				if l.prompt then said, l.said = screen.asked(l) end
				return said
			end},
			{"that this is not long ago", function(l) return l.s.stable_ms < UNANSWERED end},
		},
		make = function(l) return {evidence = "what the user said has no answer yet", rows = {l.said}, recheck_ms = UNANSWERED} end,
	},
	{
		name = "completed", state = "completed_turn", confidence = 0.94,
		needs = {{"an input", an_input}, {"right above it a row that says how long the answer took", function(l) return l.took end}},
		make = function(l) return {evidence = trim(l.lines[l.ended]), rows = {l.ended}, ended = true} end,
	},
	{
		name = "interrupted", state = "ready", confidence = 0.94,
		needs = {{"an input", an_input}, {"right above it a row that says that the answer was interrupted", function(l) return l.interrupted end}},
		make = function(l) return {evidence = "the turn was interrupted", rows = {l.ended}, ended = true} end,
	},
	{
		name = "failed", state = "error", confidence = 0.9,
		needs = {
			{"an input", an_input},
			{"above it a row that ends an answer, and does not say how long it took", function(l) return l.ended end},
			{"a block above that in a colour that is neither the user's nor a tool's", function(l)
				l.message, l.fault = screen.fault(l)
				return l.message
			end},
		},
		make = function(l) return {evidence = l.message, rows = {l.fault, l.ended}, ended = true} end,
	},
	{
		name = "stopped", state = "ready", confidence = 0.85,
		needs = {{"an input", an_input}, {"above it a row that ends an answer without saying how long it took", function(l) return l.ended end}},
		make = function(l) return {evidence = "the turn has ended before it was done: a permission was refused, or it was cancelled", rows = {l.ended}} end,
	},
	{
		name = "ready", state = "ready", confidence = 0.92,
		needs = {{"an input", an_input}},
		make = function(l) return {evidence = "the input is empty, and no spinner below it", rows = {l.prompt}} end,
	},
	{
		name = "loading", state = "starting", confidence = 0.7,
		needs = {
			{"that nothing was seen before", function(l) return not l.s.previous or l.s.previous.state == "starting" end},
			{"nothing but the program's name, or nothing at all", function(l) return not l.last or l.s:test("[█▀▄]{3}") and not l.panel end},
		},
		make = function(l) return {evidence = l.last and "the program has drawn no input yet" or "nothing has been drawn yet", rows = {l.last}} end,
	},
}

return rules
