package help

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
)

func versionCommand(std cli.Stdio) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version of this build",
		Long: `Print what this build is: its version, the commit that it was made of, the version of Go, and the
system. --version of any command line prints the same.`,
		Example: `  ptywright version
  ptywright version --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return std.JSON(cli.ThisBuild())
			}
			_, err := fmt.Fprintln(std.Out, cli.BuildLine(std.Out))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cli.Note(c, cli.SeeNote, "ptywright doctor")
	return c
}
