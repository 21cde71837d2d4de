package instance

import (
	"fmt"
	"path/filepath"
	"testing"
)

// stale puts so many files of dead instances into a root, one of them active.
func stale(b *testing.B, root string, n int) {
	b.Helper()
	f := folder(root)
	if err := f.make(); err != nil {
		b.Fatal(err)
	}
	for k := range n {
		r := Record{ID: name(k), PID: maxPID - k, PIDStarted: "1", BootID: bootID(), AuthToken: NewToken(), MCPPort: 1}
		content, err := r.encode()
		if err == nil {
			err = f.replaceLocked(f.file(r.ID), content)
		}
		if err == nil && k == 0 {
			err = f.writePointersLocked(content, r.AuthToken)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClaim(b *testing.B) {
	for _, n := range []int{0, 500} {
		b.Run(fmt.Sprintf("stale=%d", n), func(b *testing.B) {
			root := filepath.Join(b.TempDir(), "root")
			for b.Loop() {
				b.StopTimer()
				stale(b, root, n)
				b.StartTimer()
				i, err := Claim(root, wanted(1))
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				i.Close()
				b.StartTimer()
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{0, 500} {
		b.Run(fmt.Sprintf("stale=%d", n), func(b *testing.B) {
			root := filepath.Join(b.TempDir(), "root")
			for b.Loop() {
				b.StopTimer()
				stale(b, root, n)
				b.StartTimer()
				if _, err := List(root); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("live=20", func(b *testing.B) {
		root := filepath.Join(b.TempDir(), "root")
		for range 20 {
			i, err := Claim(root, wanted(1))
			if err != nil {
				b.Fatal(err)
			}
			defer i.Close()
		}
		for b.Loop() {
			if _, err := List(root); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	i, err := Claim(filepath.Join(b.TempDir(), "root"), wanted(1))
	if err != nil {
		b.Fatal(err)
	}
	defer i.Close()
	for b.Loop() {
		if _, err := i.Record(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClose(b *testing.B) {
	root := filepath.Join(b.TempDir(), "root")
	for b.Loop() {
		b.StopTimer()
		i, err := Claim(root, wanted(1))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		i.Close()
	}
}
