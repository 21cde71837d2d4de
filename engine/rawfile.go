package engine

import (
	"fmt"
	"os"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
)

// A rawFile is the tap for the raw transcript: the child's bytes as they come, unredacted.
type rawFile struct {
	f *os.File
}

// A FileError says what could not be done with a file that a client asked for.
type FileError struct {
	Op, Path string
	Err      error
}

// Error quotes the path as [pty.QuotePath] does: only the end of a long one.
func (e *FileError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Op, pty.QuotePath(e.Path), e.Err)
}
func (e *FileError) Unwrap() error { return e.Err }

// OpenRawTranscript opens path as a tap that writes a session's output unredacted. A new file gets
// mode 0600 whatever the umask; an existing one is refused. With add, an existing file is appended
// to, or created when missing: it must be a regular file of ours with a single name, and its mode
// stays. Symbolic links, FIFOs and devices are refused. Errors are *[FileError].
func OpenRawTranscript(path string, add bool) (Tap, error) {
	f, err := openRaw(path, add)
	if err != nil {
		return nil, &FileError{Op: "open raw transcript", Path: path, Err: err}
	}
	return &rawFile{f: f}, nil
}

func (r *rawFile) Output(_ time.Time, p []byte) error {
	if _, err := r.f.Write(p); err != nil {
		return &FileError{Op: "write raw transcript", Path: r.f.Name(), Err: err}
	}
	return nil
}

func (r *rawFile) Resize(time.Time, int, int) error { return nil }

func (r *rawFile) Close() error {
	if err := r.f.Close(); err != nil {
		return &FileError{Op: "close raw transcript", Path: r.f.Name(), Err: err}
	}
	return nil
}
