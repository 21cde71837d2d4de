package terminalmcp

// PromptName is the only prompt.
const PromptName = "tool-usage"

const promptDescription = "Instructions for effectively using terminal-mcp tools"

// Instructions are what a client gets at the handshake: what the tools are for.
const Instructions = `Terminal MCP gives you a shell on a real terminal (PTY).

Use it instead of a plain command runner when a command
- asks for something while it runs: a password, a confirmation, a login
- draws on the whole screen: vim, less, htop, man, a TUI
- behaves differently on a terminal: colours, progress bars, pagers
- is to be watched while it runs: builds, servers, REPLs

Workflow: type the command, sendKey Enter, then getContent to read what came of it. In full-screen programs move with sendKey
and look with takeScreenshot, which also tells where the cursor is.

Sessions: without sessionId the tools use the default session. createSession starts another shell on a terminal of its own, for
work beside it. The default session cannot be destroyed.

Secrets are hidden in what you read: [REDACTED] stands where one was.`

// PromptText is the prompt: how to use the tools.
const PromptText = `# Using the terminal-mcp tools

The tools drive a shell on a terminal, as a person at a keyboard would: type, press keys, look.

## Run a command

1. type {"text": "ls -la"}: types it and nothing more
2. sendKey {"key": "Enter"}: runs it
3. getContent {}: reads the terminal

A command that takes long is not finished when you read: look again until you see the prompt.

## Tools

- type: text as it is. No Enter is added. Line ends and tabs are typed as they are.
- sendKey: one key. Enter, Tab, Escape, Backspace, Delete, Insert; ArrowUp, ArrowDown, ArrowLeft, ArrowRight; Home, End, PageUp,
  PageDown; F1 to F12; Ctrl+A to Ctrl+Z, Ctrl+[, Ctrl+\, Ctrl+], Ctrl+^, Ctrl+_, Ctrl+Space. Ctrl+C interrupts, Ctrl+D ends input,
  Ctrl+Z suspends.
- getContent: the text of the terminal with up to 1000 lines of scrollback; visibleOnly: true for the screen alone.
- takeScreenshot: the screen with the cursor's position and the dimensions; format "ansi" with colours, "png" as a picture. Use it
  in full-screen programs.
- clear: clears the screen and the scrollback.
- startRecording, stopRecording: an asciicast file of what the terminal shows.
- createSession, listSessions, destroySession: more shells. Give sessionId to the other tools to use one.
`
