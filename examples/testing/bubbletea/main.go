// Command counter counts with the arrow keys. It is an example of a Bubble Tea program with a golden
// test.
package main

import (
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"
)

type counter int

func (c counter) Init() tea.Cmd { return tea.SetWindowTitle("counter") }

func (c counter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return c, nil
	}
	switch key.String() {
	case "up":
		return c + 1, nil
	case "down":
		return c - 1, nil
	case "q", "ctrl+c":
		return c, tea.Quit
	}
	return c, nil
}

func (c counter) View() string {
	colour := 32 // green
	if c < 0 {
		colour = 31
	}
	return fmt.Sprintf("Count \x1b[1;%dm%d\x1b[0m\n\nup, down, q\n", colour, int(c))
}

func main() {
	if _, err := tea.NewProgram(counter(0), tea.WithAltScreen()).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
