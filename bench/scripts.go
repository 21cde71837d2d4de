//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// shower shows three screens of 24 coloured rows, the next one after each Enter.
const shower = `spawn sh -c 'for i in 1 2 3; do printf "\033[H\033[2J"; for r in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do printf "\033[3%dmrow %d of frame %d \033[1mof three\033[m, which is as wide as most\r\n" $i $r $i; done; printf "frame %d" $i; read -r _; done'
expect 'frame 1'
screen one
press enter
wait /^frame 2/
screen two
press enter
wait /^frame 3/
screen three
press enter
exit
`

// scripts measures a run of many test scripts: the whole of it, and what their golden screens add,
// beside the same scripts without.
func (b *bench) scripts() (rows []row, err error) {
	count := b.sessions / 5 // 200, unless it was asked for less
	with, without := filepath.Join(b.dir, "with"), filepath.Join(b.dir, "without")
	bare := regexp.MustCompile(`(?m)^screen .*\n`).ReplaceAllString(shower, "")
	for dir, text := range map[string]string{with: shower, without: bare} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		for i := range count {
			path := filepath.Join(dir, fmt.Sprintf("%03d.ptw", i))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
	}
	if _, _, err := b.test("missing", with); err != nil { // writes the golden screens
		return nil, err
	}
	var whole, bareWhole, ours, plain []float64
	err = b.alternate(func() error {
		wall, spent, err := b.test("none", with)
		whole, ours = append(whole, wall.Seconds()), append(ours, milliseconds(spent))
		return err
	}, func() error {
		wall, spent, err := b.test("none", without)
		bareWhole, plain = append(bareWhole, wall.Seconds()), append(plain, milliseconds(spent))
		return err
	})
	if err != nil {
		return nil, err
	}
	w, v, o, p := median(whole), median(bareWhole), median(ours), median(plain)
	return []row{
		{fmt.Sprintf("%d test scripts of three golden screens", count), fmt.Sprintf("%.1f s", w),
			fmt.Sprintf("%.1f s, without", v), w / v, "under 60 s", w < 60},
		{"what each golden screen costs, processor time", fmt.Sprintf("%.2f ms", (o-p)/float64(3*count)),
			fmt.Sprintf("%.2f ms, a script without", p/float64(count)), 0, "under 1 ms",
			(o-p)/float64(3*count) < 1},
	}, nil
}

// test runs the scripts of a folder, which have to pass, and returns how long that took and the
// processor time of the runner and its programs.
func (b *bench) test(update, dir string) (wall, spent time.Duration, err error) {
	c := exec.Command(b.subject[0], "test", "--update", update, dir)
	c.Env = append(os.Environ(), "CI=", "XDG_CACHE_HOME="+b.dir)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	begin := time.Now()
	if err := c.Run(); err != nil {
		return 0, 0, fmt.Errorf("test: %w\n%s", err, said.Bytes())
	}
	return time.Since(begin), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}
