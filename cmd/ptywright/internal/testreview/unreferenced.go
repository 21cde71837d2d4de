package testreview

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/tuitest/script"
)

// A Stray is a golden that no test uses any more.
type Stray struct {
	Name    string // as that of an [Item]
	Path    string
	Section string // "" for a file of its own
	Why     string
}

// Unreferenced returns the goldens that no test uses below some files and folders: sections of
// scripts that no screen step names, and files in testdata/TEST/ of a Go package that has no such
// test. What else a Go test names is known only when it runs, so it is not judged.
func Unreferenced(roots []string) ([]Stray, error) {
	var strays []Stray
	tests := map[string]map[string]bool{} // by folder
	err := walk(roots, func(path string) error {
		switch filepath.Ext(path) {
		case script.Ext:
			s, err := script.Load(path)
			if err != nil {
				return err
			}
			for _, section := range s.Unused() {
				name, _, _ := strings.Cut(strings.TrimPrefix(section, script.GoldenPrefix), "@")
				strays = append(strays, Stray{filepath.ToSlash(path) + ":" + section, path, section,
					fmt.Sprintf("no step at any size says screen %s", name)})
			}
		case screenEnd:
			folder, test, ok := goTest(path)
			if !ok {
				return nil
			}
			known, ok := tests[folder]
			if !ok {
				var err error
				if known, err = goTests(folder); err != nil {
					return err
				}
				tests[folder] = known
			}
			if len(known) > 0 && !known[test] {
				strays = append(strays, Stray{filepath.ToSlash(path), path, "",
					fmt.Sprintf("%s has no %s", filepath.ToSlash(folder), test)})
			}
		}
		return nil
	})
	return strays, err
}

// goTest returns the package's folder and the test of a golden that tuitest keeps:
// FOLDER/testdata/TEST/…/NAME.screen.
func goTest(path string) (folder, test string, ok bool) {
	parts := strings.Split(filepath.ToSlash(path), "/")
	i := slices.Index(parts, "testdata")
	if i < 0 || i+2 >= len(parts) || !testName().MatchString(parts[i+1]) {
		return "", "", false
	}
	folder = filepath.FromSlash(strings.Join(parts[:i], "/"))
	if folder == "" {
		folder = "."
		if filepath.IsAbs(path) {
			folder = string(filepath.Separator)
		}
	}
	return folder, parts[i+1], true
}

var (
	testName     = lazy.Regexp(`^(?:Test|Fuzz|Benchmark)(?:$|[^a-z])`)
	testFunction = lazy.Regexp(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
)

// goTests returns the tests of a folder; none where it has no Go tests.
func goTests(folder string) (map[string]bool, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	tests := map[string]bool{}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			return nil, err
		}
		for _, m := range testFunction().FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
	}
	return tests, nil
}

// Delete removes the golden.
func (s Stray) Delete() error {
	if s.Section == "" {
		return remove(s.Path)
	}
	b, err := readScript(s.Path)
	if err != nil {
		return err
	}
	return script.Replace(s.Path, script.WithoutSection(b, s.Section))
}
