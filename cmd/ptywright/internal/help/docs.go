package help

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/docs"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/nearest"
)

// A topic is one page of the documentation.
type topic struct {
	Name  string `json:"topic"`
	Title string `json:"title"`
	Bytes int    `json:"bytes"`
	text  string
}

// topics are all pages, by name.
func topics() ([]topic, error) {
	entries, err := docs.Pages.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []topic
	for _, e := range entries {
		text, err := docs.Pages.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(string(text), "\n")
		all = append(all, topic{strings.TrimSuffix(e.Name(), path.Ext(e.Name())),
			strings.TrimPrefix(title, "# "), len(text), string(text)})
	}
	return all, nil
}

// find returns the page that a person names: wire, wire.md, docs/wire.md or wire#matchers, which is
// only the part below that heading.
func find(all []topic, named string) (topic, error) {
	name, anchor, part := strings.Cut(path.Base(named), "#")
	name = strings.ToLower(strings.TrimSuffix(name, ".md"))
	var names []string
	for _, t := range all {
		if t.Name == name {
			if part {
				return t.part(anchor)
			}
			return t, nil
		}
		names = append(names, t.Name)
	}
	if near := nearest.Of(name, names); near != "" {
		return topic{}, cli.Usagef("no page %s: did you mean %s?", engine.Quote(named), near)
	}
	return topic{}, cli.Usagef("no page %s: ptywright docs lists them, ptywright docs --search %s looks inside",
		engine.Quote(named), cli.ShellWord(named))
}

// part is a page from a heading to the next of its level.
func (t topic) part(anchor string) (topic, error) {
	var kept []string
	level := 0
	for line := range proseLines(t.text) {
		depth := headingLevel(line.text)
		if line.code {
			depth = 0
		}
		switch {
		case level == 0 && depth > 0 && anchorOf(line.text) == anchor:
			level = depth
			t.Title = strings.TrimLeft(line.text, "# ")
		case depth > 0 && depth <= level:
			t.text = strings.Join(kept, "\n") + "\n"
			t.Bytes = len(t.text)
			return t, nil
		}
		if level > 0 {
			kept = append(kept, line.text)
		}
	}
	if level == 0 {
		return t, cli.Usagef("page %s has no heading %s", t.Name, engine.Quote(anchor))
	}
	t.text = strings.Join(kept, "\n") + "\n"
	t.Bytes = len(t.text)
	return t, nil
}

func docsCommand(std cli.Stdio) *cobra.Command {
	var asJSON bool
	var search string
	c := &cobra.Command{
		Use:   "docs [flags] [TOPIC]",
		Short: "Print the documentation of this version",
		Long: `Print a page of the documentation, which is inside this program and so of its version. Without TOPIC
list the pages. TOPIC#HEADING prints one part, as links in the pages have it. --search finds lines.

On a terminal a page is wrapped, coloured and shown by $PAGER, or less. Elsewhere it is printed as it
is: Markdown, for programs and agents.`,
		Example: `  ptywright docs
  ptywright docs guide
  ptywright docs wire#matchers
  ptywright docs --search lease`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			all, _ := topics()
			var names []string
			for _, t := range all {
				names = append(names, t.Name+"\t"+t.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			all, err := topics()
			if err != nil {
				return fmt.Errorf("read the documentation: %w", err)
			}
			if len(args) == 1 {
				t, err := find(all, args[0])
				if err != nil {
					return err
				}
				all = []topic{t}
			}
			switch {
			case c.Flags().Changed("search"):
				return searchPages(std, all, search, asJSON)
			case len(args) == 0:
				return listPages(std, all, asJSON)
			case asJSON:
				return std.JSON(struct {
					topic
					Text string `json:"markdown"`
				}{all[0], all[0].text})
			}
			return show(std, all[0])
		},
	}
	c.Flags().StringVar(&search, "search", "",
		"print the lines that contain these `WORDS`, in any case, with their page and line")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cli.Note(c, cli.SeeNote, "ptywright COMMAND --help, ptywright schema")
	return c
}

func listPages(std cli.Stdio, all []topic, asJSON bool) error {
	if asJSON {
		return cli.JSONLines(std.Out, all...)
	}
	t := cli.Table{Columns: []cli.Column{{Title: "TOPIC"}, {Title: "ABOUT", Least: 20},
		{Title: "SIZE", Right: true, Drop: 1}}}
	bytes := 0
	for _, page := range all {
		bytes += page.Bytes
		t.Row(cli.Cell{Text: page.Name, SGR: cli.Bold}, page.Title, kib(page.Bytes))
	}
	if err := t.Print(std.Out); err != nil {
		return err
	}
	if on := cli.TerminalOf(std.Out); on.Cols > 0 {
		fmt.Fprintf(std.Out, "\n%s\n", cli.Wrap(fmt.Sprintf("ptywright docs TOPIC shows one. %d pages, %s, of ptywright %s.",
			len(all), kib(bytes), cli.Version()), on.Cols, 0))
	}
	return nil
}

func kib(bytes int) string { return fmt.Sprintf("%d KiB", (bytes+1023)/1024) }

// A hit is a line of a page in which words were found.
type hit struct {
	Topic   string `json:"topic"`
	Line    int    `json:"line"` // from 1
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// searchPages prints the lines that contain the words, in any case. Like search it returns 1 when
// there are none.
func searchPages(std cli.Stdio, all []topic, words string, asJSON bool) error {
	if strings.TrimSpace(words) == "" {
		return cli.Usagef("--search is empty: give a word")
	}
	found, on := false, cli.TerminalOf(std.Out)
	fold := regexp.MustCompile("(?i)" + regexp.QuoteMeta(words))
	for _, t := range all {
		heading, n := "", 0
		for line := range proseLines(t.text) {
			n++
			if !line.code && headingLevel(line.text) > 0 {
				heading = strings.TrimLeft(line.text, "# ")
			}
			if !fold.MatchString(line.text) {
				continue
			}
			found = true
			if asJSON {
				std.JSON(hit{t.Name, n, heading, line.text})
				continue
			}
			text := cli.OneLine(strings.TrimSpace(line.text))
			if on.Style {
				text = fold.ReplaceAllStringFunc(text, func(w string) string {
					return on.Style.As(cli.Bold+";"+cli.Yellow, w)
				})
			}
			at := fmt.Sprintf("%s:%d", t.Name, n)
			fmt.Fprintf(std.Out, "%s: %s\n", on.Style.As(cli.Cyan, at), text)
		}
	}
	if !found {
		return cli.ExitCode(cli.ExitError)
	}
	return nil
}

// show prints a page: as it is, or for a terminal, through a pager.
func show(std cli.Stdio, t topic) error {
	on := cli.TerminalOf(std.Out)
	if on.Cols == 0 {
		_, err := io.WriteString(std.Out, t.text)
		return err
	}
	text := render(t.text, on)
	if !on.Moves {
		_, err := io.WriteString(std.Out, text)
		return err
	}
	return paged(std, text)
}

// paged shows a text by $PAGER, or less, and prints it where neither is there.
func paged(std cli.Stdio, text string) error {
	pager, given := os.LookupEnv("PAGER")
	if !given {
		pager = "less"
	}
	var cmd *exec.Cmd
	if pager != "" && pager != "cat" && runtime.GOOS != "windows" {
		cmd = exec.Command("sh", "-c", pager)
		if _, err := exec.LookPath(strings.Fields(pager + " -")[0]); err != nil {
			cmd = nil
		}
	}
	if cmd == nil {
		_, err := io.WriteString(std.Out, text)
		return err
	}
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" { // as git: leave at once when it fits, keep colours and the screen
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader([]byte(text)), std.Out.File, std.Err
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // a person who leaves early breaks its pipe
		return nil
	}
	if err != nil {
		return fmt.Errorf("show the page with %s: %w: PAGER=cat prints it", engine.Quote(pager), err)
	}
	return nil
}
