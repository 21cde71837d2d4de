-- An adapter of less, the pager: what its last row says, and how to turn a page, search and quit.

local a, m = ptywright.action, ptywright.matcher

-- The prompt stands in the last row, in reverse video but for ":". What is typed there, as "/text", is not.
local function prompt(text)
	return function(s)
		local run = s:styles(s.rows)[1]
		return run and run.inverse and s:find(text, s.rows)
	end
end

local rules = {
	{name = "ended", state = "unknown", needs = {{"that less has ended", function(s) return s.process_exited end}}},
	{name = "message", state = "message", needs = {{"a message to be confirmed", prompt("(press RETURN)")}}},
	{name = "help", state = "help", needs = {{"the prompt of the help", prompt("HELP -- Press RETURN")}}},
	{name = "end", state = "at_end", needs = {{"the prompt of the last page", prompt("(END)")}}},
	{name = "file", state = "reading", needs = {{"the file's name as a prompt", prompt("")}}},
	{name = "colon", state = "reading", needs = {{"a colon, and the cursor behind it", function(s) return s:row(s.rows) == ":" and s.cursor_row == s.rows end}}},
	{name = "pattern", state = "searching", needs = {{"a pattern, and the cursor in it", function(s) return s.cursor_row == s.rows and s:test("^[/?]", s.rows) end}}},
	{name = "blank", state = "starting", needs = {{"a blank screen", function(s) return not s:test("\\S") end}}},
}

local plugin = {}

function plugin.classify(s) return ptywright.decide(rules, s) end

-- only refuses what makes no sense in another state.
local function only(s, ...)
	local state = plugin.classify(s)
	for _, name in ipairs({...}) do
		if state.state == name then return name end
	end
	error({code = "wrong_state", message = "less is in state " .. state.state .. " (" .. state.evidence .. ")"})
end

local function is(...) return m.predicate("in_state", {states = {...}}) end
local answered = is("reading", "at_end", "message")

local function page(s) return table.concat(s.lines, "\n", 1, s.rows - 1) end

function plugin.next_page(params, s)
	only(s, "reading")
	return {actions = {}, submission = {submit = {a.text(" ")}, done = m.all({m.predicate("page_turned", {from = page(s)}), answered})}}
end

-- search types "/text", waits until it stands there, and presses Enter; once more only while it still stands there.
function plugin.search(params, s)
	only(s, "reading", "at_end")
	local text = params.text
	if type(text) ~= "string" or text == "" or re.test(text, "[[:cntrl:]]") or utf8.len(text) > s.cols - 2 then
		error({code = "bad_params", message = "give text: what to search for, in one line that fits the screen"})
	end
	local typed = m.predicate("row_is", {text = "/" .. text})
	return {
		actions = {a.text("/" .. text)},
		submission = {echo = typed, submit = {a.key("enter")}, done = answered, retry_when = typed, retries = 1},
	}
end

function plugin.dismiss(params, s)
	only(s, "message")
	return {actions = {a.key("enter"), a.expect(is("reading", "at_end"))}}
end

-- quit leaves the help or a message first: there, "q" does not end less.
function plugin.quit(params, s)
	local leave = {help = a.text("q"), message = a.key("enter")}
	local key = leave[only(s, "reading", "at_end", "help", "message")]
	return {
		actions = key and {key, a.expect(is("reading", "at_end"))} or {},
		submission = {submit = {a.text("q")}, done = m.process_exited()},
	}
end

-- in_state is the predicate that the waits are made of. A page is drawn from the top and its prompt last, so it never holds halfway.
function plugin.in_state(s)
	local state = plugin.classify(s)
	for _, name in ipairs(s.params.states) do
		if state.state == name then return {matched = true, evidence = name .. ": " .. state.evidence} end
	end
	return {matched = false, evidence = "the state is " .. state.state}
end

function plugin.page_turned(s) return page(s) ~= s.params.from end
function plugin.row_is(s) return s:row(s.rows) == s.params.text end

function plugin.wait_ready_matcher() return m.any({is("reading", "at_end", "message", "help"), m.process_exited()}) end
plugin.wait_turn_matcher = plugin.wait_ready_matcher -- what adapter.wait takes when it is not told

function plugin.describe()
	return {
		intents = {
			{name = "next_page", description = "Turns to the next page."},
			{name = "search", description = "Searches forward for a text.", params_schema = {type = "object", properties = {text = {type = "string"}}, required = {"text"}}},
			{name = "dismiss", description = "Confirms a message, as the one that a text was not found."},
			{name = "quit", description = "Ends less."},
		},
		wait_matchers = {{name = "wait_ready_matcher", description = "Less waits for a key, or has ended."}, {name = "wait_turn_matcher", description = "The same."}},
		states = {
			{name = "starting"}, {name = "reading"}, {name = "at_end", description = "The last page is on the screen."},
			{name = "searching", description = "A pattern is being typed."}, {name = "message", description = "A message waits for Return."}, {name = "help"}, {name = "unknown"},
		},
		predicates = {{name = "in_state"}, {name = "page_turned"}, {name = "row_is"}},
	}
end

return plugin
