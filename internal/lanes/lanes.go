// Package lanes says how many tests run side by side: many that wait for programs, by [Beside], and
// few that keep a processor busy, by [Heavy]. [Toolchain] says which run only when they are asked for, and [Few] how much one does.
package lanes

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gofrs/flock"
)

// Beside lets n parallel tests run at once, unless -parallel says how many. By itself Go runs as
// many as there are processors, which tests that wait for programs leave idle. Call it in TestMain.
func Beside(n int) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(n)) // a number is what it takes
	}
}

var (
	heavies atomic.Int64
	isHeavy sync.Map // testing.TB and kind
)

// Heavy waits until fewer than n tests of this kind run, in any package and any process of this
// user; then the test counts as one until it ends. It is for tests whose programs keep a processor
// busy for seconds, such as "browser": side by side they would slow down all others. Call it after
// t.Parallel and before anything that has a deadline. A second call of a test does nothing.
func Heavy(t testing.TB, kind string, n int) {
	t.Helper()
	key := [2]any{t, kind}
	if _, is := isHeavy.LoadOrStore(key, true); is {
		return
	}
	t.Cleanup(func() { isHeavy.Delete(key) })
	at := int(heavies.Add(1)) + os.Getpid()
	for i := 0; i <= n; i++ {
		name := fmt.Sprintf("ptywright-test-%d-%s-%d.lock", os.Getuid(), kind, (at+i)%n)
		lane := flock.New(filepath.Join(os.TempDir(), name))
		taken, err := true, error(nil)
		if i < n {
			taken, err = lane.TryLock()
		} else {
			err = lane.Lock() // all are taken: wait for the first that was tried
		}
		if err != nil {
			t.Fatal(err)
		}
		if taken {
			t.Cleanup(func() { _ = lane.Close() }) // the file stays: another may wait for it
			return
		}
	}
}

// toolchains is $PTYWRIGHT_TOOLCHAINS. It is hidden from ptywright, which warns about variables of its
// prefix that it does not know.
var toolchains = func() bool {
	wanted := os.Getenv("PTYWRIGHT_TOOLCHAINS") == "1"
	_ = os.Unsetenv("PTYWRIGHT_TOOLCHAINS") // it fails only for an invalid name
	return wanted
}()

// Toolchain skips a test that drives another tool chain, unless PTYWRIGHT_TOOLCHAINS=1 asks for
// those: a browser, the TypeScript compiler, what npm and pip install, a type checker. They take as
// long as all others together, and need what a machine with Go alone has not. .ci/run runs them.
func Toolchain(t testing.TB) {
	t.Helper()
	if !toolchains {
		t.Skip("it drives another tool chain: PTYWRIGHT_TOOLCHAINS=1 runs it")
	}
}

// Few returns few under the race detector and many without it, and with PTYWRIGHT_LONG=1. It is for
// loops of one goroutine, in which the detector finds nothing and takes a minute for three seconds.
func Few(many, few int) int {
	if Race && os.Getenv("PTYWRIGHT_LONG") != "1" {
		return few
	}
	return many
}
