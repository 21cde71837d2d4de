package golden

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// Update says which files are written when what they say differs from the screen.
type Update string

const (
	UpdateNone    Update = "none"    // none: a file that is missing is a failure
	UpdateMissing Update = "missing" // those that are missing
	UpdateChanged Update = "changed" // and those that differ
	UpdateAll     Update = "all"     // every one, also when it says the same in other words
)

// UpdateVar is the environment's variable that says which files are written.
const UpdateVar = "PTYWRIGHT_UPDATE"

// UpdateFrom reads [UpdateVar]. Without it files that are missing are written, but in continuous
// integration, where CI is set and not empty, none.
func UpdateFrom(getenv func(string) string) (Update, error) {
	switch u := Update(getenv(UpdateVar)); u {
	case UpdateNone, UpdateMissing, UpdateChanged, UpdateAll:
		return u, nil
	case "":
		if getenv("CI") != "" {
			return UpdateNone, nil
		}
		return UpdateMissing, nil
	default:
		return "", fmt.Errorf("%s=%s: have none, missing, changed and all", UpdateVar, clip(string(u)))
	}
}

// A Step is what a test does with a golden file.
type Step string

const (
	StepFail    Step = "fail"    // the file is missing, and none is written
	StepWrite   Step = "write"   // wait until the screen is still, and write it down
	StepCompare Step = "compare" // wait until the screen equals the file
)

// Step says what a test does with a file that exists, or does not. A file that exists is written
// only when what it says differs, or the update is [UpdateAll]; a comparison that fails leaves the
// last screen in [Pending], but not where CI is set, and one that holds leaves none there.
func (u Update) Step(exists bool) Step {
	switch {
	case u == UpdateChanged || u == UpdateAll:
		return StepWrite
	case exists:
		return StepCompare
	case u == UpdateNone:
		return StepFail
	}
	return StepWrite
}

// maxFile bounds a file that is read: a screen of 1000x1000 with a style a cell has some 10 MiB.
const maxFile = 16 << 20

// Load reads a file. The error is that of the system ([fs.ErrNotExist] among others), or a
// [*SyntaxError], with the file's name.
func Load(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file of up to %d MiB", path, maxFile>>20)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Save writes a file, with the folders above it, unless it stands there already: readers see the
// old one or the new one. A [Pending] file beside it is removed.
func (f *File) Save(path string) error {
	if err := f.put(path); err != nil {
		return err
	}
	return DropPending(path)
}

// SavePending writes a file beside the one that it could replace, for a review.
func (f *File) SavePending(path string) error { return f.put(Pending(path)) }

// DropPending removes what was left for a review of a file, if anything was.
func DropPending(path string) error {
	if err := os.Remove(Pending(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Pending returns the path of what could replace a file: PATH.new.
func Pending(path string) string { return path + ".new" }

func (f *File) put(path string) error {
	text := f.AppendText(nil)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	// Renamed into its place: a run that is killed leaves no half of a file.
	tmp, err := os.CreateTemp(filepath.Dir(path), ".screen-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// Path returns where a test keeps a golden: dir, the test's name with a folder for each subtest (none
// when it is ""), and NAME.screen. Characters that a file's name may not have on some system become hyphens.
func Path(dir, test, name string) string {
	if test != "" {
		name = test + "/" + name
	}
	parts := []string{dir}
	for _, part := range strings.Split(name, "/") {
		part = strings.Map(func(c rune) rune {
			if c < ' ' || strings.ContainsRune(`<>:"\|?*`, c) {
				return '-'
			}
			return c
		}, part)
		if strings.Trim(part, ".") == "" { // "", "." and "..": no way out of dir
			part = "-" + part
		}
		parts = append(parts, part)
	}
	return filepath.Join(parts...) + ".screen"
}

// Quiet is for how long a screen that differs has to be unchanged, once the program has reacted to
// the last input, until a comparison that nobody gave a time is over: most programs that think
// longer show that they do.
const Quiet = 5 * time.Second

// A QuietError says that a comparison is over since the screen does not change any more.
type QuietError struct {
	For time.Duration // it has not
}

// Error says for how long.
func (e *QuietError) Error() string { return fmt.Sprintf("the screen has not changed for %v", e.For) }

// Patience returns for how much longer a screen that changed last at a time may differ at now, in a
// comparison that began at a time; when that is over, a [*QuietError].
func Patience(quiet time.Duration, began, changed, now time.Time) (time.Duration, error) {
	if changed.Before(began) {
		changed = began
	}
	if left := quiet - now.Sub(changed); left > 0 {
		return left, nil
	}
	return 0, &QuietError{quiet}
}

// A Judge holds the frames of a program against a file, and remembers the one that came nearest.
// It belongs to one goroutine.
type Judge struct {
	want    *File
	nearest *Diff
	at      time.Time // of nearest
	last    error     // of the last frame: a mask that covered nothing
}

// NewJudge returns a Judge of a file.
func NewJudge(want *File) *Judge { return &Judge{want: want} }

// Look reports whether a frame, which was shown at a time, equals the file.
func (j *Judge) Look(s *vt.Screen, at time.Time) bool {
	d, err := j.want.Compare(s)
	if j.last = err; err != nil {
		return false
	}
	if j.nearest == nil || d.distance() < j.nearest.distance() {
		j.nearest, j.at = d, at
	}
	return d.Equal()
}

// Nearest returns what differed in the frame that came nearest, the first of several, and when it
// was shown; nil when none could be compared: then err says why.
func (j *Judge) Nearest() (d *Diff, at time.Time, err error) {
	if j.nearest == nil {
		return nil, time.Time{}, j.last
	}
	return j.nearest, j.at, nil
}
