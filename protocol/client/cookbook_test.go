//go:build unix

package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// The recipes of docs/go.md, as they stand there.

func recipeReadyLine(ctx context.Context, c *client.Client) error {
	s, err := c.Spawn(ctx, client.Config{Program: "python3", Args: []string{"-u", "-m", "http.server", "0"}})
	if err != nil {
		return err
	}
	m, err := s.Wait(ctx, client.Any(client.Regexp(`port (\d+)`), client.Exited()), client.Within(time.Minute))
	if err != nil {
		return err
	}
	if m.Index == 1 {
		return fmt.Errorf("the server has ended: %v", m.Screen.Exit)
	}
	fmt.Println("listening on port", m.Text)
	return s.Press(ctx, "ctrl+c")
}

func recipeHerd(ctx context.Context, c *client.Client) error {
	for _, job := range []string{"exit 0", "exit 3"} {
		_, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", job}, Tags: []string{"build"}})
		if err != nil {
			return err
		}
	}
	found, err := c.WaitMany(ctx, client.Exited(), client.Many{
		Select: &client.Selection{Tag: "build"}, Until: client.UntilAll, Timeout: time.Hour,
	})
	fmt.Println(len(found.Matched), found.Waiting, errors.Is(err, client.ErrTimeout))
	return err
}

func recipePassword(ctx context.Context, c *client.Client) error {
	s, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", login}})
	if err != nil {
		return err
	}
	if _, err := s.Expect(ctx, client.Text("Password:")); err != nil {
		return err
	}
	if err := s.Send(ctx, "open sesame\n"); err != nil { // nothing shows it, recordings included
		return err
	}
	_, err = s.Wait(ctx, client.Text("welcome"))
	return err
}

const login = `printf 'Password: '; stty -echo; read -r p; stty echo; [ "$p" = 'open sesame' ] && echo; echo welcome; read -r _`

func recipePast(ctx context.Context, c *client.Client) error {
	s, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", overwrite}})
	if err != nil {
		return err
	}
	if _, err := s.Wait(ctx, client.Text("done")); err != nil {
		return err
	}
	h, err := s.History(ctx, client.Regexp(`Overwrite (\S+)\?`), client.HistoryOptions{})
	if err != nil {
		return err
	}
	for _, span := range h.Spans {
		fmt.Println("asked about", span.Outcome.Capture, "for", span.Held)
		then, err := s.Screen(ctx, client.At(span.From)) // with its styles: client.Runs
		if err != nil {
			return err
		}
		fmt.Println(then.Sequence == span.From)
	}
	return nil
}

const overwrite = `printf 'Overwrite notes.txt? '; printf '\r\033[Kdone'; read -r _`

func recipeREPL(ctx context.Context, c *client.Client) error {
	s, err := c.Spawn(ctx, client.Config{Program: "python3", Args: []string{"-q"}})
	if err != nil {
		return err
	}
	if _, err := s.Expect(ctx, client.Regexp(`>>>$`)); err != nil {
		return err
	}
	for _, line := range []string{"x = 6", "print(x * 7)"} {
		if err := s.Send(ctx, line+"\n"); err != nil {
			return err
		}
		m, err := s.Wait(ctx, client.Regexp(`>>>$`)) // not the prompt that the line was typed behind
		if err != nil {
			return err
		}
		fmt.Println(m.Before) // the echo of the line, and what it printed
	}
	return s.Close(ctx)
}

func recipeVim(ctx context.Context, c *client.Client, file string) error {
	s, err := c.Spawn(ctx, client.Config{Program: "vim", Args: []string{"-u", "NONE", "-n", file}})
	if err != nil {
		return err
	}
	if _, err := s.Expect(ctx, client.All(client.Text("~"), client.Stable(100*time.Millisecond))); err != nil {
		return err
	}
	_, err = s.Do(ctx,
		client.Action{Type: "text", Value: "ihello"},
		client.Action{Type: "key", Value: "escape"},
		client.Action{Type: "text", Value: ":wq\n"})
	if err != nil {
		return err
	}
	_, err = s.Wait(ctx, client.Exited())
	return err
}

func recipeFzf(ctx context.Context, c *client.Client) error {
	s, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", `printf '%s\n' apple banana cherry | fzf`}})
	if err != nil {
		return err
	}
	if _, err := s.Expect(ctx, client.Text("3/3")); err != nil { // it has read its input
		return err
	}
	if err := s.Send(ctx, "ban"); err != nil {
		return err
	}
	if _, err := s.Wait(ctx, client.Text("1/3")); err != nil { // and has filtered it
		return err
	}
	if err := s.Press(ctx, "enter"); err != nil {
		return err
	}
	_, err = s.Wait(ctx, client.Regexp(`(?m)^banana$`))
	return err
}

func recipeMenu(ctx context.Context, s *client.Session) error {
	for {
		if _, err := s.Expect(ctx, client.Regexp(`(?m)^> `)); err != nil {
			return err
		}
		if _, err := s.Expect(ctx, client.Regexp(`(?m)^> Quit$`), client.Within(0)); err == nil {
			return s.Press(ctx, "enter")
		} else if !errors.Is(err, client.ErrTimeout) {
			return err
		}
		if err := s.Press(ctx, "down"); err != nil {
			return err
		}
		if _, err := s.Wait(ctx, client.Regexp(`(?m)^> `)); err != nil { // it has been drawn anew
			return err
		}
	}
}

func recipeProgress(ctx context.Context, s *client.Session) error {
	next := client.Everything
	for {
		m, err := s.Wait(ctx, client.Regexp(`(\d+)%`), next)
		if err != nil {
			return err
		}
		fmt.Println(m.Text, "percent")
		if m.Text == "100" {
			return nil
		}
		next = m.Next // each drawing of the bar is seen once, and none that was drawn over
	}
}

func recipeLongLog(ctx context.Context, s *client.Session) error {
	// Lines that scroll off before the wait can look count too, those that match and those before.
	m, err := s.Wait(ctx, client.Regexp(`(?m)^ERROR (.*)$`), client.After(0))
	if err != nil {
		return err
	}
	fmt.Println(m.Text)
	ran, err := s.Run(ctx, "ls / | wc -l") // or the output of one command, whole
	if err != nil {
		return err
	}
	fmt.Print(ran.Output)
	return nil
}

func recipeForty(ctx context.Context, c *client.Client) error {
	var all sync.WaitGroup
	failed := make(chan error, 40)
	for i := range 40 {
		all.Go(func() {
			s, err := c.Spawn(ctx, client.Config{Program: "sh", Args: []string{"-c", fmt.Sprintf("echo job %d; read -r _", i)}})
			if err == nil {
				_, err = s.Wait(ctx, client.Text(fmt.Sprintf("job %d", i)))
			}
			if err != nil {
				failed <- err
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed // nil: none
}

func recipeDialogs(ctx context.Context, s *client.Session) error {
	for {
		m, err := s.Wait(ctx, client.Any(
			client.Text("Do you trust this folder? [y/n]"),
			client.Text("Allow this command? [y/n]"),
			client.Text("done."),
		))
		if err != nil {
			return err
		}
		switch m.Index {
		case 0:
			err = s.Send(ctx, "y\n")
		case 1:
			err = s.Send(ctx, "n\n")
		case 2:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func recipeRecording(ctx context.Context, s *client.Session, path string) error {
	rec, err := s.Record(ctx, path) // ptywright play shows it, and asciinema
	if err != nil {
		return err
	}
	if err := s.Send(ctx, "echo on the record\n"); err != nil {
		return err
	}
	if _, err := s.Wait(ctx, client.Regexp(`(?m)^on the record$`)); err != nil {
		return err
	}
	done, err := rec.Stop(ctx)
	if err != nil {
		return err
	}
	fmt.Println(done.Path, done.Length, done.State)
	return nil
}

// TestCookbook runs each recipe.
func TestCookbook(t *testing.T) {
	t.Parallel()
	c := started(t)
	for name, recipe := range map[string]struct {
		needs string
		run   func(t *testing.T) error
	}{
		"ready line": {"python3", func(t *testing.T) error { return recipeReadyLine(t.Context(), c) }},
		"herd":       {"sh", func(t *testing.T) error { return recipeHerd(t.Context(), c) }},
		"password":   {"sh", func(t *testing.T) error { return recipePassword(t.Context(), c) }},
		"past":       {"sh", func(t *testing.T) error { return recipePast(t.Context(), c) }},
		"repl":       {"python3", func(t *testing.T) error { return recipeREPL(t.Context(), c) }},
		"vim": {"vim", func(t *testing.T) error {
			file := filepath.Join(t.TempDir(), "notes.txt")
			err := recipeVim(t.Context(), c, file)
			if text, rerr := os.ReadFile(file); err == nil && (rerr != nil || string(text) != "hello\n") {
				t.Errorf("vim has written %q, %v", text, rerr)
			}
			return err
		}},
		"fzf": {"fzf", func(t *testing.T) error { return recipeFzf(t.Context(), c) }},
		"menu": {"bash", func(t *testing.T) error {
			s := spawned(t, c, client.Config{Program: "bash", Args: []string{"-c", menu}})
			if err := recipeMenu(t.Context(), s); err != nil {
				return err
			}
			_, err := s.Wait(t.Context(), client.Text("chosen Quit"))
			return err
		}},
		"progress": {"sh", func(t *testing.T) error {
			return recipeProgress(t.Context(), sh(t, c, `for i in 10 40 70 100; do printf '\r%d%%' $i; done; read -r _`))
		}},
		"long log": {"sh", func(t *testing.T) error {
			s := sh(t, c, `seq 1 5000; echo ERROR out of paper; seq 1 5000; PS1='$ ' exec sh`)
			return recipeLongLog(t.Context(), s)
		}},
		"forty sessions": {"sh", func(t *testing.T) error { return recipeForty(t.Context(), c) }},
		"dialogs": {"sh", func(t *testing.T) error {
			return recipeDialogs(t.Context(), sh(t, c, `stty -echo
ask() { printf '%s [y/n]' "$1"; read -r a; echo; echo "$1 $a" | tr -d '?'; }
ask 'Do you trust this folder?'; ask 'Allow this command?'; echo done.; read -r _`))
		}},
		"recording": {"sh", func(t *testing.T) error {
			s := spawned(t, c, client.Config{Program: "sh", Env: map[string]string{"PS1": "$ "}})
			must[*client.Match](t)(s.Expect(t.Context(), client.Regexp(`\$$`)))
			path := filepath.Join(t.TempDir(), "demo.cast")
			err := recipeRecording(t.Context(), s, path)
			if cast, rerr := os.ReadFile(path); err == nil && (rerr != nil || !strings.Contains(string(cast), "on the record")) {
				t.Errorf("the recording: %q, %v", cast, rerr)
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(recipe.needs); err != nil {
				t.Skipf("%s is not installed", recipe.needs)
			}
			if err := recipe.run(t); err != nil {
				t.Errorf("%v\n%v", err, client.EvidenceOf(err))
			}
		})
	}
}

// menu is a program with a list to choose from, by the arrow keys.
const menu = `
items=(Open Save Quit); at=0; stty -echo
while :; do
	printf '\033[H\033[2J'
	for i in 0 1 2; do [ $i = $at ] && echo "> ${items[i]}" || echo "  ${items[i]}"; done
	IFS= read -rsn1 key
	case $key in
	$'\033') read -rsn2 key; [ "$key" = '[B' ] && at=$(((at + 1) % 3)) ;;
	'') echo "chosen ${items[at]}"; read -r _ ;;
	esac
done`

// TestGoPage: what docs/go.md shows in Go stands in a test, line by line.
func TestGoPage(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, name := range []string{"cookbook_test.go", "interact_unix_test.go", "example_test.go", "../../tuitest/example_test.go", "../../tuitest/locate_test.go", "../../engine/example_test.go", "../../examples/library/main.go"} {
		text, err := os.ReadFile(name)
		check(t, err)
		for line := range strings.Lines(string(text)) {
			source.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	page, err := os.Open("../../docs/go.md")
	check(t, err)
	defer page.Close()
	blocks := 0
	var block []string
	inside := false
	for in := bufio.NewScanner(page); in.Scan(); {
		switch line := in.Text(); {
		case line == "```go":
			inside, block = true, nil
		case line == "```" && inside:
			inside = false
			blocks++
			if !strings.Contains(source.String(), strings.Join(block, "\n")+"\n") {
				t.Errorf("no test has:\n%s", strings.Join(block, "\n"))
			}
		case inside:
			block = append(block, strings.TrimSpace(line))
		}
	}
	if blocks < 14 {
		t.Errorf("the page has only %d blocks", blocks)
	}
}
