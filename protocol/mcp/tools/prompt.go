package tools

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// guide is the prompt's text.
const guide = `You drive terminal programs with ptywright's tools, the way a person does: you type, and you look at the screen.

1. start a program (one executable, its arguments apart); the result names the session and shows the first screen. For one shell command and its exit code use run instead.
2. send text with submit for Enter, or keys ("escape", "ctrl+c", "up"). Say with wait_for what should come next, so that one call types and waits. With submit only what comes after Enter counts.
3. Judge the screen you get. If submitted is false, look before you press Enter again.
4. wait when it takes longer. Prefer text or regex that only the finished state shows, and add exited so that a program's end ends the wait. A timeout is no error: it says what is missing; go on with the handle it returns.
5. read what you need: screen, changes since a sequence, scrollback, search, commands. screenshot only for colours and layout.
6. stop every session you started.

In vim and other full-screen programs press escape first, then type the command, then send enter as a key. In a REPL wait for its prompt. In a pager press q.
[REDACTED] covers a secret. You cannot type it back. When a program asks for a password, send {"secret": "what it asks for"}: the person types it, and you never see it.`

func (p *profile) addPrompts(s *sdk.Server) {
	s.AddPrompt(&sdk.Prompt{
		Name: "terminal-guide", Title: "How to drive a terminal program",
		Description: "How to use ptywright's tools well.",
		Arguments: []*sdk.PromptArgument{{Name: "session",
			Description: "a session whose screen is shown along"}},
	}, p.guide)
}

func (p *profile) guide(_ context.Context,
	req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	text := guide
	if id := req.Params.Arguments["session"]; id != "" {
		s, err := p.session(id)
		if err != nil {
			return nil, invalid(err)
		}
		l := p.look(s, p.hide)
		st, screen := statusOf(l), shownOf(l, screenBudget)
		text += "\n\nThe session you are to drive:\n" + st.head() + "\n" + screen.text()
	}
	return &sdk.GetPromptResult{
		Description: "How to drive a terminal program",
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}, nil
}

// maxCompletions is what one answer may hold: the protocol's bound.
const maxCompletions = 100

// complete completes session ids in any argument.
func (p *profile) complete(_ context.Context,
	req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	r := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if a := req.Params.Argument; a.Name == "id" || a.Name == "session" {
		for _, id := range p.ids() {
			if strings.HasPrefix(id, a.Value) {
				r.Completion.Total++
				if len(r.Completion.Values) < maxCompletions {
					r.Completion.Values = append(r.Completion.Values, id)
				}
			}
		}
		r.Completion.HasMore = r.Completion.Total > len(r.Completion.Values)
	}
	return r, nil
}
