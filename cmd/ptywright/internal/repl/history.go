package repl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ptywright/ptywright/redact"
)

const (
	// maxHistory is how many entries are kept. The file is rewritten when it has twice as many.
	maxHistory = 2000
	// maxEntry bounds a written entry, in bytes.
	maxEntry = 64 << 10
)

// A history is the file of entered lines: one JSON string per line, mode 0600.
type history struct{ path string }

// load reads the entries, oldest first. It skips lines that are not entries.
func (h history) load() ([]string, error) {
	f, err := os.Open(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer f.Close()
	var all []string
	n := 0
	in := bufio.NewScanner(f)
	in.Buffer(nil, 8*maxEntry)
	for in.Scan() {
		var entry string
		if n++; json.Unmarshal(in.Bytes(), &entry) == nil && entry != "" {
			all = append(all, entry)
		}
	}
	all = all[max(len(all)-maxHistory, 0):]
	if n > 2*maxHistory {
		err = h.rewrite(all)
	}
	return all, err
}

// rewrite replaces the file with one that holds these entries.
func (h history) rewrite(all []string) error {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".repl_history-*") // 0600
	if err != nil {
		return fmt.Errorf("shorten the history: %w", err)
	}
	var b strings.Builder
	for _, entry := range all {
		b.Write(encoded(entry))
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("shorten the history: %w", err)
	}
	return nil
}

// secret reports whether an entry must not be written: it begins with a blank, or contains
// something that the redactor hides.
func secret(entry string) bool {
	return strings.HasPrefix(entry, " ") || redact.Default.String(entry) != entry
}

// add writes an entry, in one write, so that several REPLs can share the file.
func (h history) add(entry string) error {
	if h.path == "" || len(entry) > maxEntry || secret(entry) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	_, err = f.Write(encoded(entry))
	if err = errors.Join(err, f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

func encoded(entry string) []byte {
	b, _ := json.Marshal(entry)
	return append(b, '\n')
}
