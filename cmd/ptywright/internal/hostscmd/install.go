package hostscmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/hosts"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
)

// installFlags are the flags of hosts install.
type installFlags struct {
	file, binary, to string
	yes              bool
}

func installCommand(std cli.Stdio) *cobra.Command {
	var f installFlags
	var server remote.Flags
	c := &cobra.Command{
		Use:   "install [flags] HOST",
		Short: "Copy this program to a machine of hosts.toml",
		Long: `Copy this program to HOST, after asking: to where HOST's command looks for it, or to
.local/bin/ptywright when that says no folder. What has the same checksum already is left as it is.

The command in hosts.toml says how HOST is reached: its words before the program and relay, such as
ssh web-3, run uname, mkdir, dd, sha256sum, chmod and mv there. The copy gets its name only once its
checksum is right and it runs. A machine of another system or processor is refused; --binary names a
program that was built for it.`,
		Example: `  ptywright hosts install web-3
  ptywright hosts install --binary ./ptywright-linux-arm64 --yes pi-1`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: config.CompleteHosts(1),
		RunE: func(c *cobra.Command, args []string) error {
			return run(c, &server, func(ctx context.Context) error { return install(ctx, std, &f, args[0]) })
		},
	}
	fileFlag(c, &f.file)
	c.Flags().StringVar(&f.binary, "binary", "", "the `FILE` to copy (default: this program)")
	c.Flags().StringVar(&f.to, "to", "", "the `PATH` there (default: as the command has it)")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return c
}

// defaultPlace is where the program goes on a machine whose command does not say: a folder of its
// user that most systems have in the PATH.
const defaultPlace = ".local/bin/ptywright"

// A place is a machine as install sees it.
type place struct {
	reach []string // the words before the program
	path  string
	named bool // the command has the path
}

// placeOf splits a command like ssh web-3 ptywright relay.
func placeOf(m config.Machine, to string) (place, error) {
	i := slices.Index(m.Command, "relay")
	if i < 2 {
		return place{}, cli.Usagef("the command of %s does not end in ptywright relay, so how to run something else there is not known: %s",
			m.Name, cli.OneLine(strings.Join(m.Command, " ")))
	}
	p := place{reach: m.Command[:i-1], path: m.Command[i-1], named: true}
	if !strings.Contains(p.path, "/") {
		p.path, p.named = defaultPlace, false
	}
	if to != "" {
		p.path, p.named = to, to == m.Command[i-1]
	}
	// ssh has a shell read the words: without quotes only these mean themselves.
	if strings.HasPrefix(p.path, "-") || strings.ContainsFunc(p.path, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+", c)
	}) {
		return place{}, cli.Usagef("%s cannot be a path there: give one of letters, digits and . _ - / + with --to",
			cli.OneLine(p.path))
	}
	return p, nil
}

// run runs words there, with input, and returns what they print.
func (p place) run(ctx context.Context, input io.Reader, words ...string) (string, error) {
	out, err := hosts.Run(ctx, slices.Concat(p.reach, words), input)
	if err != nil {
		return "", fmt.Errorf("run %s there: %w", words[0], err)
	}
	return strings.TrimSpace(out), nil
}

// checksum returns the SHA-256 of a file there; "": there is none, or nothing that computes one.
func (p place) checksum(ctx context.Context, file string) string {
	for _, words := range [][]string{{"sha256sum", file}, {"shasum", "-a", "256", file}} {
		if out, err := p.run(ctx, nil, words...); err == nil {
			if sum, _, ok := strings.Cut(out, " "); ok && len(sum) == 2*sha256.Size {
				return sum
			}
		}
	}
	return ""
}

// systems and processors are what uname says for Go's names.
var (
	systems    = map[string]string{"linux": "Linux", "darwin": "Darwin", "freebsd": "FreeBSD"}
	processors = map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i686": "386",
		"armv7l": "arm", "armv6l": "arm", "riscv64": "riscv64", "ppc64le": "ppc64le",
		"s390x": "s390x", "loongarch64": "loong64",
	}
)

// fits refuses a machine that this program does not run on.
func (p place) fits(ctx context.Context, name string) error {
	out, err := p.run(ctx, nil, "uname", "-sm")
	if err != nil {
		return err
	}
	system, processor, _ := strings.Cut(out, " ")
	if system == systems[runtime.GOOS] && processors[processor] == runtime.GOARCH {
		return nil
	}
	return cli.Error{Code: cli.ExitUsage, Reason: "other_system", Err: fmt.Errorf(
		"%s is %s, and this program is for %s/%s: give one that was built for it with --binary",
		name, cli.OneLine(out), runtime.GOOS, runtime.GOARCH)}
}

func install(ctx context.Context, std cli.Stdio, f *installFlags, name string) error {
	all, err := machines(f.file, []string{name})
	if err != nil {
		return err
	}
	p, err := placeOf(all[0], f.to)
	if err != nil {
		return err
	}
	binary := f.binary
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w; name one with --binary", err)
		}
		if err := p.fits(ctx, name); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the program to copy: %w", err)
	}
	sum := sha256.Sum256(text)
	want := hex.EncodeToString(sum[:])
	if p.checksum(ctx, p.path) == want {
		fmt.Fprintf(std.Out, "%s has this very program at %s\n", name, p.path)
		return p.advise(ctx, std, all[0])
	}
	if err := ask(std, f.yes, fmt.Sprintf("copy %s, ptywright %s, %.1f MB, to %s on %s?",
		cli.OneLine(binary), cli.Version(), float64(len(text))/1e6, p.path, name)); err != nil {
		return err
	}
	if err := p.put(ctx, text, want); err != nil {
		return fmt.Errorf("install on %s: %w", name, err)
	}
	fmt.Fprintf(std.Out, "installed at %s on %s, SHA-256 %s\n", p.path, name, want)
	return p.advise(ctx, std, all[0])
}

// ask asks a person, who has to say yes.
func ask(std cli.Stdio, yes bool, question string) error {
	if yes {
		return nil
	}
	if cli.TerminalOf(std.Out).Cols == 0 {
		return cli.Usagef("%s Say --yes, as there is nobody to ask here", question)
	}
	fmt.Fprintf(std.Out, "%s [y/N] ", question)
	line, _ := bufio.NewReader(std.In).ReadString('\n') // an end of the input is a no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return cli.Error{Err: errors.New("nothing was copied"), Code: cli.ExitError, Reason: "declined"}
}

// put writes the program beside its place, looks whether it is whole and runs, and gives it its
// name. What fails leaves the old one as it is.
func (p place) put(ctx context.Context, text []byte, want string) error {
	fresh := p.path + "." + want[:12]
	steps := []struct {
		input io.Reader
		words []string
	}{
		{nil, []string{"mkdir", "-p", path.Dir(p.path)}},
		{bytes.NewReader(text), []string{"dd", "of=" + fresh, "bs=65536"}},
	}
	remove := func() {
		_, _ = p.run(context.WithoutCancel(ctx), nil, "rm", "-f", fresh) // it is in nobody's way
	}
	for _, step := range steps {
		if _, err := p.run(ctx, step.input, step.words...); err != nil {
			remove()
			return err
		}
	}
	if got := p.checksum(ctx, fresh); got != want {
		remove()
		return fmt.Errorf("the copy's checksum is %s and not %s: it is not whole, or sha256sum is missing there",
			cli.OneLine(got), want)
	}
	for _, words := range [][]string{{"chmod", "755", fresh}, {runnable(fresh), "version"},
		{"mv", "-f", fresh, p.path}} {
		if _, err := p.run(ctx, nil, words...); err != nil {
			remove()
			return err
		}
	}
	return nil
}

// runnable is how a file in the working folder is run.
func runnable(file string) string {
	if strings.Contains(file, "/") {
		return file
	}
	return "./" + file
}

// advise connects to the machine, and says what hosts.toml needs when the command does not find the
// program.
func (p place) advise(ctx context.Context, std cli.Stdio, m config.Machine) error {
	x := checkOne(ctx, m)
	if x.OK {
		fmt.Fprintf(std.Out, "%s: ptywright %s answers\n", m.Name, cli.OneLine(x.Version))
		return nil
	}
	err := fmt.Errorf("%s: %s", m.Name, cli.OneLine(x.Error))
	if !p.named {
		err = fmt.Errorf("%w; in hosts.toml, give its command %s in place of ptywright", err, p.path)
	}
	return cli.Error{Err: err, Code: cli.ExitError, Reason: "host_unreachable"}
}
