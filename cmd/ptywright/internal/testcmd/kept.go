package testcmd

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/scratch"
)

const (
	// runFolder begins the name of a run's folder in the temporary one.
	runFolder = "ptywright-test-"
	// scriptFolder begins the names in it of the folders of scripts that are running.
	scriptFolder = "run-"
	// failedFolder is the name in it of the folder of recordings that are kept.
	failedFolder = "failed"
	// keptRuns is how many runs have the recordings of what failed kept.
	keptRuns = 10
)

// prune removes the oldest folders of this user's runs that are over, up to keptRuns. What cannot be
// removed stays: the system does it later.
func prune(temp string) {
	all, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	var runs []fs.FileInfo
	for _, e := range all {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), runFolder) {
			continue
		}
		if info, err := e.Info(); err == nil && scratch.Mine(info) && over(filepath.Join(temp, e.Name())) {
			runs = append(runs, info)
		}
	}
	slices.SortFunc(runs, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range runs[min(len(runs), keptRuns):] {
		removeAll(filepath.Join(temp, old.Name()))
	}
}

// over reports whether a run's folder has recordings, and no script is running in it.
func over(dir string) bool {
	all, err := os.ReadDir(dir)
	return err == nil && hasFiles(filepath.Join(dir, failedFolder)) &&
		!slices.ContainsFunc(all, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), scriptFolder) })
}
