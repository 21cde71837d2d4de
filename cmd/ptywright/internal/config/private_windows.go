package config

import (
	"io/fs"
	"os"
)

func open(path string) (*os.File, error) { return os.Open(path) }

// private accepts any file: files in a profile belong to their user, by inherited access rights.
func private(fs.FileInfo) error { return nil }

// writable leaves the check to opening the file: only then does the system evaluate access lists.
func writable(string) error { return nil }
