local function classify(s)
	return ptywright.decide({
		{name = "trust", state = "waiting_for_trust", needs = {{"the question", function(s) return s:contains("Accessing workspace") end}}},
		{name = "other", state = "ready", needs = {{"a prompt", function(s) return s:match("^❯") end}}},
	}, s)
end
return {classify = classify}
