-- What interpreters draw: their prompts, how they say that something went wrong, and how they are left. Made against Python 3.11 and
-- 3.13, Node.js 20, SQLite 3.40 and PostgreSQL's psql 15.
--
-- Each has:
--   name
--   prompt   RE2 of a row that asks for something, with the input as its only group
--   more     the same of a row that asks for the rest
--   fault(rows)  the error that some rows of output tell, as {kind, message}; nil when they tell none
--   leave    what is typed to end it

local match = string.match

-- first returns what the first row that an expression matches says, as kind and message.
local function first(rows, expression, kind)
	for _, row in ipairs(rows) do
		local said = re.match(row, expression)
		if said ~= nil then return {kind = said or kind, message = row} end
	end
	return nil
end

local python = {
	name = "python", prompt = "^>>>(?: (.*))?$", more = "^\\.\\.\\.(?: (.*))?$", leave = "exit()", indents = true,
	-- The last row names the exception; a traceback, or the place of a syntax error, stands above it.
	fault = function(rows)
		local last = rows[#rows] or ""
		local kind = match(last, "^([%a_][%w_.]*):? ?")
		if last == "KeyboardInterrupt" then return {kind = last, message = last} end
		for i, row in ipairs(rows) do
			if kind and i < #rows and (row == "Traceback (most recent call last):" or match(row, '^  File "')) then return {kind = kind, message = last} end
		end
		return nil
	end,
}

local node = {
	name = "node", prompt = "^>(?: (.*))?$", more = "^(?:\\.\\.\\.|\\|)(?: (.*))?$", leave = ".exit",
	fault = function(rows) return first(rows, "^Uncaught:? *([A-Za-z]*Error)?", "Uncaught") end,
}

local sqlite = {
	name = "sqlite", prompt = "^sqlite>(?: (.*))?$", more = "^ +(?:\\.\\.\\.|[\"'(\\[*;x0-9.]+)> ?(.*)$", leave = ".quit",
	fault = function(rows) return first(rows, "^(Parse error|Runtime error|Error)\\b", "Error") end,
}

local psql = {
	name = "psql", prompt = "^\\S*=[*!]?[#>](?: (.*))?$", more = "^\\S*[-('\"$*^][*!]?[#>](?: (.*))?$", leave = "\\q",
	fault = function(rows) return first(rows, "(?:^|: )(ERROR|FATAL|PANIC): ", "ERROR") end,
}

-- The order matters: ">" alone is Node's, and the end of others'.
return {python, sqlite, psql, node, sqlite = sqlite}
