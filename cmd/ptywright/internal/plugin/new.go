package plugin

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/plugins"
)

// scaffold is a whole plugin, in which {{NAME}}, {{PROGRAM}} and {{FOLDER}} are replaced.
//
//go:embed scaffold
var scaffold embed.FS

// ErrExists: the name is taken.
var ErrExists = errors.New("is there already: take another name, or remove it first")

// New creates the folder name in dir with a plugin in it that passes [Check] and [Test]: an adapter
// of program, or of a shell when program is "". It returns the folder, and changes nothing that
// exists. Errors: *[plugins.ManifestError] for a name that a plugin cannot have, [ErrExists] in an
// *[fs.PathError], or the system's.
func New(dir, name, program string) (folder string, err error) {
	if program == "" {
		program = "sh"
	}
	m := plugins.Manifest{Name: name, Kind: plugins.KindAdapter, Version: "0.1.0",
		Target: &plugins.Target{Program: program}}
	if err := m.Validate(); err != nil {
		return "", err
	}
	if c := name[0]; (c < 'a' || c > 'z') && (c < '0' || c > '9') || name == manifestName { // a flag, a hidden folder, a path to another folder
		return "", &plugins.ManifestError{Key: "name",
			Err: fmt.Errorf("%q does not work as a directory name everywhere: start it with a letter or digit, and do not call it %s", name, manifestName)}
	}
	if folder = filepath.Join(dir, name); exists(folder) {
		return "", &fs.PathError{Op: "make", Path: folder, Err: ErrExists}
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: make %s first, or name another with --dir", err, dir)
		}
		return "", err
	}
	defer func() {
		if err != nil { // ours, created a moment ago: half a plugin helps nobody
			_ = os.RemoveAll(folder)
		}
	}()
	quoted, _ := json.Marshal(program) // TOML writes a string as JSON does, except for \u007f
	fill := strings.NewReplacer("{{NAME}}", name, `"{{PROGRAM}}"`, string(quoted), "{{PROGRAM}}",
		cli.OneLine(program), "{{FOLDER}}", filepath.ToSlash(folder))
	return folder, fs.WalkDir(scaffold, "scaffold",
		func(from string, d fs.DirEntry, err error) error {
			to := filepath.Join(folder,
				filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(from, "scaffold"), "/")))
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return os.MkdirAll(to, 0o777)
			}
			text, err := fs.ReadFile(scaffold, from)
			if err != nil {
				return err
			}
			if path.Ext(from) != ".cast" {
				text = []byte(fill.Replace(string(text)))
			}
			return os.WriteFile(to, text, 0o666)
		})
}
