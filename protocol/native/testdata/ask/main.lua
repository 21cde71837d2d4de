-- Drives a program that asks "> " and answers "did ...". Lines end with LF: CR is echoed and nothing else.
local a, m = ptywright.action, ptywright.matcher
local asked = 0

local function classify(s)
	return ptywright.decide({
		{name = "asks for trust", state = "waiting_for_trust", needs = {{"the question", function(s) return s:find("trust me?") end}}},
		{name = "prompt", state = "ready", confidence = 0.9, needs = {
			{"a prompt in the cursor's row", function(s) return s:row(s.cursor_row) == ">" end},
		}, make = function(s)
			local did = s:match_last("^did (.*)$")
			return {evidence = "the prompt", metadata = {did = did and did.captures[1], asked = asked, greeting = s.title}}
		end},
		{name = "typed", state = "typed", needs = {{"text behind the prompt", function(s) return s:match("^> (.+)", s.cursor_row, s.cursor_row) end}}},
	}, s)
end

local function send_prompt(params, s)
	asked = asked + 1
	return {
		actions = {a.mark_transcript("turn_start"), a.text(params.prompt)},
		last_intent = "prompt_submitted",
		submission = {
			echo = m.contains_text(params.prompt),
			submit = {a.text(params.wrong and "\r" or "\n")},
			done = m.predicate("did", {prompt = params.prompt}),
			retry_when = m.predicate("waits_typed"),
			retries = 1, timeout_ms = params.wrong and 50 or 5000,
		},
	}
end

local function did(s)
	return {matched = s:contains("did " .. s.params.prompt), evidence = "asked " .. asked .. " times", capture = {asked}}
end

return {
	classify = classify, send_prompt = send_prompt, did = did,
	type_only = function(params) return {actions = {a.text(params.text)}} end,
	waits_typed = function(s) return s:test("^> .+") end,
	expects = function() return {actions = {a.expect(m.contains_text("never"), 20), a.text("not typed\n")}} end,
	refuses = function() error({code = "stale_dialog", message = "the dialog has changed"}) end,
	fails = function() local t = nil; return t.x end,
	loops = function() while true do end end,
	kills = function() return {actions = {a.kill()}} end,
	marks = function() return {actions = {a.mark_transcript("here")}} end,
	waits = function() return {actions = {a.expect(m.screen_stable(0))}} end,
	resizes = function() return {actions = {a.resize(20, 50)}} end,
	broken = function(s) error("a predicate fails at " .. (s:row(2) or "")) end,
	quotes = function(_, s) return {actions = {}, last_intent = s:row(3)} end,
	refuses_quoting = function(_, s) error({code = "no", message = "not with " .. s:row(3):gsub("password: ", "")}) end,
	quoting = function(s) return {matched = true, evidence = s:row(3):gsub("password: ", ""), capture = {s:row(1)}} end,
	wait_quoting_matcher = function() return m.predicate("quoting") end,
	wait_nothing_matcher = function() return m.screen_stable(0) end,
	wait_turn_matcher = function(params) return m.predicate("is_ready", params) end,
	wait_broken_matcher = function() return m.any({m.contains_text("never"), m.predicate("broken")}) end,
	wait_never_matcher = function() return m.contains_text("never") end,
	is_ready = function(s) return s.stable_ms >= 20 and classify(s).state == "ready" end,
	describe = function()
		return {
			intents = {{name = "send_prompt"}, {name = "type_only", during_turn = true}},
			wait_matchers = {{name = "wait_turn_matcher"}},
			states = {{name = "ready"}, {name = "typed"}},
			predicates = {{name = "did"}, {name = "is_ready"}, {name = "waits_typed"}, {name = "broken"}, {name = "quoting"}},
		}
	end,
}
