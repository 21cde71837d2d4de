// Package help tells what commands there are: by --help, which [Wire] makes as wide as the terminal,
// as JSON Schema, as shell completions, for which [Completing] adds the values of flags, and as
// manual pages. [Commands] makes the commands that print these.
package help

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/serve"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/host"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
	"github.com/ptywright/ptywright/protocol/native"
	"github.com/ptywright/ptywright/redact"
)

// exitMeanings are what exit codes mean.
var exitMeanings = []string{
	"success", "error; see standard error", "usage error; nothing was done",
	"timed out; standard output says what was missing", "no such session or instance",
	"not permitted",
	"the program is asking for something first",
}

// Commands are schema, completions, man, version, docs, and the topics of help.
func Commands(std cli.Stdio) []*cobra.Command {
	return []*cobra.Command{schemaCommand(std), completionsCommand(std), manCommand(std),
		versionCommand(std), docsCommand(std), exitTopic()}
}

func schemaCommand(std cli.Stdio) *cobra.Command {
	var socket string
	var openrpc bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print every method and every command as JSON Schema",
		Long: `Print one JSON object: the model of the native wire, a JSON Schema (2020-12) of every message
with "methods", "notifications" and "errors" beside it; and "commands", with their arguments, flags and
exit codes. This needs no server; with --socket the model is that of the server listening there. With
--openrpc print the methods as an OpenRPC document instead.`,
		Example: `  ptywright schema | python3 -c 'import json,sys; print(*json.load(sys.stdin)["commands"], sep="\n")'`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			methods, err := ownVocabulary(c.Context())
			if socket != "" {
				methods, err = vocabularyOf(c.Context(), socket)
			}
			if err != nil {
				return err
			}
			var model map[string]any
			if err := json.Unmarshal(methods["schema"], &model); err != nil {
				return fmt.Errorf("read the server's model: %w", err)
			}
			if openrpc {
				if model, err = native.OpenRPC(model, cli.Version()); err != nil {
					return fmt.Errorf("make an OpenRPC document: %w", err)
				}
			} else {
				commands := map[string]any{}
				describe(c.Root(), "", commands)
				model["name"], model["version"], model["commands"] = "ptywright", cli.Version(),
					commands
				for _, list := range []string{"matchers", "actions", "reasons"} {
					model[list] = methods[list]
				}
			}
			e := json.NewEncoder(std.Out)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			return e.Encode(model)
		},
	}
	c.Flags().BoolVar(&openrpc, "openrpc", false, "print the methods as an OpenRPC document")
	c.Flags().StringVar(&socket, "socket", "", "print the methods of the server at this `PATH`")
	return c
}

type vocabulary map[string]json.RawMessage

func ask(ctx context.Context, c *client.Client) (v vocabulary, err error) {
	return v, c.Call(ctx, "server.capabilities", map[string]bool{"schema": true}, &v)
}

func vocabularyOf(ctx context.Context, socket string) (vocabulary, error) {
	c, err := daemon.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return ask(ctx, c)
}

// ownVocabulary asks a server inside this process, which has no sessions.
func ownVocabulary(ctx context.Context) (vocabulary, error) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	h := host.New(engine.Options{Version: cli.Version(), Log: log}, new(redact.Known))
	defer h.Engine.Close(ctx)
	here, there := net.Pipe()
	config := protocol.Config{Log: log}
	served := make(chan struct{})
	go func() {
		defer close(served)
		serve.Conn(ctx, there, native.New(h, native.Options{}), config)
	}()
	c := client.New(here)
	v, err := ask(ctx, c)
	c.Close()
	<-served
	return v, err
}

// describe adds a command and those below it.
func describe(c *cobra.Command, above string, all map[string]any) {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		name := strings.TrimSpace(above + " " + sub.Name())
		if sub.HasSubCommands() {
			describe(sub, name, all)
			if args, _, _ := cli.ArgsOf(sub); args == "" { // it does nothing by itself
				continue
			}
		}
		flags := map[string]any{}
		add := func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				flags[f.Name] = flagSchema(f)
			}
		}
		sub.InheritedFlags().VisitAll(add)
		sub.NonInheritedFlags().VisitAll(add)
		args, least, most := cli.ArgsOf(sub)
		if n, err := strconv.Atoi(sub.Annotations[cli.LeastNote]); err == nil {
			least = n
		}
		items := map[string]any{"type": "array", "description": args,
			"items": map[string]any{"type": "string"}, "minItems": least}
		if most >= 0 {
			items["maxItems"] = most
		}
		all[name] = map[string]any{
			"type": "object", "description": sub.Short, "additionalProperties": false,
			"properties": map[string]any{
				"args": items,
				"flags": map[string]any{"type": "object", "properties": flags,
					"additionalProperties": false},
			},
			"exit_codes": exitsOf(sub),
		}
	}
}

// exitsOf maps a command's exit codes to their meanings.
func exitsOf(c *cobra.Command) map[string]string {
	codes := map[string]string{}
	for code, meaning := range exitMeanings[:cli.ExitUsage+1] {
		codes[strconv.Itoa(code)] = meaning
	}
	switch {
	case c.CommandPath() == "ptywright test":
		codes[strconv.Itoa(cli.ExitInterrupted)] = "interrupted, by Ctrl-C or SIGTERM"
	case c.Name() == "run" || c.Name() == "record":
		codes["0-255"] = "the program's own; 128 and the number of a signal that ended it, 126 not executable, 127 not found"
	}
	if c.Annotations[cli.StatusNote] != "" {
		codes["0-255"] = c.Annotations[cli.StatusNote]
		codes[strconv.Itoa(cli.ExitOwnTimeout)] = "the wait timed out; the command or program goes on"
		codes[strconv.Itoa(cli.ExitOwnError)] = "an error of ptywright's own, told on standard error"
		codes[strconv.Itoa(cli.ExitInterrupted)] = "interrupted, by Ctrl-C or SIGTERM"
	}
	if c.Annotations[cli.ExitsNote] != "" {
		codes[strconv.Itoa(cli.ExitInterrupted)] = "interrupted, by Ctrl-C or SIGTERM"
		if c.Name() == "logs" || c.Name() == "events" {
			codes[strconv.Itoa(cli.ExitInterrupted)] += "; with --follow it is 0 then"
		}
	}
	for _, digit := range c.Annotations[cli.ExitsNote] {
		codes[string(digit)] = exitMeanings[digit-'0']
	}
	return codes
}

// flagSchema is the JSON Schema of a flag's value.
func flagSchema(f *pflag.Flag) map[string]any {
	value, about := pflag.UnquoteUsage(f)
	s := map[string]any{"description": about, "type": "string"}
	if value != "" {
		s["title"] = value
	}
	switch f.Value.Type() {
	case "bool":
		s["type"] = "boolean"
	case "int", "uint64", "uint16", "float64":
		s["type"] = "number"
	case "stringArray", "stringSlice":
		s["type"], s["items"] = "array", map[string]any{"type": "string"}
		return s
	case "duration":
		s["pattern"] = `^([0-9.]+(ns|us|ms|s|m|h))+$`
	}
	var value0 any = f.DefValue
	if s["type"] != "string" && json.Unmarshal([]byte(f.DefValue), &value0) != nil {
		return s
	}
	if f.DefValue != "" {
		s["default"] = value0
	}
	return s
}
