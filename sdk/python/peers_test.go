package python

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// peersFolder returns the folder in which the npm packages of .ci/peers/name are installed, as their
// lock says, and skips the test when they are not.
func peersFolder(t *testing.T, name string) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join("..", "..", ".ci", "peers", name, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	peers := os.Getenv("PTYWRIGHT_PEERS")
	if peers == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("there is no cache folder, so no npm packages")
		}
		peers = filepath.Join(cache, "ptywright", "peers")
	}
	folder := filepath.Join(peers, fmt.Sprintf("%s-%x", name, sha256.Sum256(lock))[:len(name)+13])
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the npm packages of %s are not installed: .ci/npm installs them", name)
	}
	return folder
}
