// Package npm (no stability promise) finds what .ci/npm installed for tests and benchmarks.
package npm

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// Modules returns the node_modules folder of the packages of .ci/peers/name, in the versions of
// their lock file. root is the repository's. The error says what is missing and how to get it.
func Modules(root, name string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(root, ".ci", "peers", name, "package-lock.json"))
	if err != nil {
		return "", err
	}
	all := os.Getenv("PTYWRIGHT_PEERS")
	if all == "" {
		cache := os.Getenv("XDG_CACHE_HOME") // as .ci/npm has it, on macOS too
		if cache == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("npm packages are found below the home folder: %w", err)
			}
			cache = filepath.Join(home, ".cache")
		}
		all = filepath.Join(cache, "ptywright", "peers")
	}
	version := fmt.Sprintf("%x", sha256.Sum256(lock))[:12]
	dir := filepath.Join(all, name+"-"+version, "node_modules")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("the npm packages of %s are not installed: .ci/npm installs them", name)
	}
	return dir, nil
}
