-- What the plugin offers, for plugin.describe: intents with their parameters, wait matchers, states, predicates.

local submit = require("ptywright.submit")

local function object(properties, required)
	return {type = "object", properties = properties, required = required}
end

local text, flag = {type = "string"}, {type = "boolean"}
local dialog_id = {type = "string", description = "refuse with stale_dialog unless this dialog is on the screen; see metadata.dialog_id"}

local intents = {}

-- intent adds one. during_turn: another client may send it while somebody waits for a turn.
local function intent(name, during_turn, schema, description)
	intents[#intents + 1] = {name = name, description = description, params_schema = schema, during_turn = during_turn}
end

local none, one_dialog = object({}), object({dialog_id = dialog_id})

intent("send_prompt", false, submit.params_schema,
	"Pastes a prompt and submits it: it arrives once and unchanged, or is refused with the reason. A turn ends with one event: "
		.. "turn_complete, or error, of the category \"interrupted\" when it was stopped or what it asked was refused.")
intent("approve", true, one_dialog,
	"Agrees to what the dialog asks, this once: a permission, a plan (edits are then still asked about), plan mode, the API key, "
		.. "answers that are to be submitted.")
intent("deny", true, one_dialog, "Refuses what the dialog asks, which ends the turn; leaves a question unanswered.")
intent("choose_option", true, object({
	index = {type = "integer"}, option = {description = "a number or a label; its beginning or a part that only one has will do"},
	choice = {description = "the same as option"}, checked = flag,
	text = {type = "string", description = "what to type, for an option that takes text"}, dialog_id = dialog_id,
}), "Picks an option of the dialog on the screen. In a question with several answers it ticks the option, and \"next\" goes on.")
intent("cancel", true, none, "Stops the turn with Escape. What is queued is then sent by the program.")
intent("force_cancel", true, none, "Presses Escape until nothing runs any more, queued messages included.")
intent("clear_input", false, object({}), "Empties the prompt, and leaves shell mode; not while a turn runs.")
intent("steer", true, submit.params_schema,
	"Submits a prompt while a turn runs, which the program queues; it is not marked as a turn of its own.")
intent("key", true, object({key = text}, {"key"}), "Presses a key by its name (\"escape\", \"ctrl+o\"), or types what is no name.")
intent("approve_trust", true, one_dialog, "Says that the folder is trusted.")
intent("deny_trust", true, one_dialog, "Says that the folder is not trusted, which ends the program.")
intent("dismiss_welcome", false, none, "Goes on from a page of the first run that waits for Enter.")
intent("expand", true, none, "Opens or closes the detailed transcript.")
intent("model_effort_left", false, one_dialog, "Less effort, in the model picker.")
intent("model_effort_right", false, one_dialog, "More effort, in the model picker.")
intent("slash_command", false, object({command = text, name = text}),
	"Types a command and submits it when the input shows all of it; it is not marked as a turn.")
intent("attach_file", false, object({path = text}, {"path"}), "Puts a path into the prompt and does not submit it.")

local wait_matchers = {
	{
		name = "wait_turn_matcher",
		description = "The turn is over, or something needs the user: a dialog, a local screen, an error. "
			.. "An end that was there before the prompt was submitted does not count.",
	},
	{name = "wait_ready_matcher", description = "The prompt takes input and no turn runs, or a dialog stands in its way."},
	{name = "wait_cancel_settled_matcher", description = "The turn that was cancelled has ended."},
	{
		name = "wait_state_matcher", description = "The state is one of those given.",
		params_schema = object({
			states = {type = "array", items = text}, state = text, text = {type = "string", description = "must be on the screen, too"},
		}),
	},
}

local states = {
	{name = "starting", description = "The program has not drawn its prompt or a dialog yet."},
	{name = "ready", description = "The prompt takes input, and no turn runs."},
	{name = "waiting_for_login", description = "The program asks how to log in or whether to use an API key, or a turn failed for want of it."},
	{name = "waiting_for_trust", description = "The program asks whether the folder is trusted."},
	{name = "waiting_for_model_select", description = "The model picker is open."},
	{name = "waiting_for_enter_plan_mode", description = "The program asks to enter plan mode."},
	{name = "waiting_for_plan_approval", description = "The program asks whether to carry out its plan."},
	{name = "waiting_for_permission", description = "The program asks whether it may use a tool."},
	{name = "waiting_for_external_editor", description = "An editor has the prompt's text."},
	{name = "usage_screen", description = "The panel of settings shows cost and limits."},
	{name = "local_ui_screen", description = "Another screen stands in the place of the prompt: settings, help, a list."},
	{name = "waiting_for_user_input", description = "The program asks the user a question."},
	{name = "thinking", description = "A turn runs."},
	{name = "cancelling", description = "A cancel was sent, and the turn still runs."},
	{name = "completed_turn", description = "The last turn has ended, and the prompt takes input."},
	{name = "error", description = "The last turn failed, or the program could not go on; see metadata.error."},
	{name = "unknown", description = "Nothing that is known fits the screen; see the evidence."},
}

local predicates = {}
local names = "turn_over is_ready at_rest cancel_settled in_state pointer_on dialog_stands dialog_gone option_checked input_holds " ..
	"prompt_stands input_left input_empty input_summed menu_open shell_mode prompt_taken row_holds"
for name in string.gmatch(names, "%S+") do
	predicates[#predicates + 1] = {name = name}
end

return {intents = intents, wait_matchers = wait_matchers, states = states, predicates = predicates}
