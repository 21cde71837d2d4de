//go:build linux

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the clock that this process and its children share.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		fatal("read the clock: %v", err)
	}
	return time.Duration(ts.Nano())
}

// child is one of the programs that run in sessions: child KIND [ARG].
func child(args []string) {
	if len(args) == 0 {
		fatal("child: which?")
	}
	switch args[0] {
	case "marks":
		marks(args[1])
	case "repl":
		noEcho()
		fmt.Print("CHILD-UP\n")
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fmt.Print("R" + in.Text() + ".\n")
		}
	case "noisy":
		noisy()
	case "pieces":
		pieces(args[1])
	case "flood":
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			fatal("child flood: %v", err)
		}
		flood(n)
	default:
		fatal("child: unknown kind %q", args[0])
	}
}

// marks answers each line with one mark after a random delay, long enough for the wait to have
// started. The time of the write goes to a file afterwards, so that no server has to parse it.
func marks(file string) {
	noEcho()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		fatal("child marks: %v", err)
	}
	fmt.Print("CHILD-UP\n")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		<-time.After(10*time.Millisecond + rand.N(15*time.Millisecond))
		mark := []byte("MK" + in.Text() + "_\n")
		at := monotonic()
		os.Stdout.Write(mark)
		fmt.Fprintln(f, int64(at))
	}
}

// noisy writes ten coloured lines every 100 ms, forever.
func noisy() {
	tick := time.NewTicker(100 * time.Millisecond)
	for i := 0; ; i++ {
		var b strings.Builder
		for j := range 10 {
			fmt.Fprintf(&b, "\x1b[3%dmnoise %08d\x1b[0m %s\n", j%8, i*10+j, strings.Repeat("lorem ", 8))
		}
		if _, err := os.Stdout.WriteString(b.String()); err != nil {
			return
		}
		<-tick.C
	}
}

// pieceSize is how much a program of frames writes at once, in bytes.
const pieceSize = 4 << 10

// pieces writes a file piece by piece, with a pause after each as programs that draw have, then says
// so and stays.
func pieces(file string) {
	noEcho()
	text, err := os.ReadFile(file)
	if err != nil {
		fatal("child pieces: %v", err)
	}
	for len(text) > 0 {
		n := min(len(text), pieceSize)
		if _, err := os.Stdout.Write(text[:n]); err != nil {
			return
		}
		text = text[n:]
		<-time.After(time.Millisecond)
	}
	fmt.Print("\r\nDRAWN\r\n")
	os.Stdin.Read(make([]byte, 1))
}

// flood writes n bytes as fast as they are read, then says so and stays.
func flood(n int64) {
	var b strings.Builder
	for i := 0; b.Len() < 1<<16-100; i++ {
		fmt.Fprintf(&b, "flood %06d the quick brown fox jumps over the lazy dog, again\n", i)
	}
	block := []byte(b.String())
	for n > 0 {
		w, err := os.Stdout.Write(block[:min(int64(len(block)), n)])
		if err != nil {
			return
		}
		n -= int64(w)
	}
	fmt.Print("\nFLOOD-OVER\n")
	os.Stdin.Read(make([]byte, 1))
}

func noEcho() {
	t, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		fatal("child: stdin is not a terminal: %v", err)
	}
	t.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(0, unix.TCSETS, t); err != nil {
		fatal("child: switch echo off: %v", err)
	}
}

// corpora are the four kinds of output whose throughput is measured. Each unit is one line or one
// frame.
var corpora = []struct {
	name string
	unit func(r *rand.Rand, i int, b *strings.Builder)
}{
	{"plain", func(r *rand.Rand, i int, b *strings.Builder) {
		fmt.Fprintf(b, "%07d", i)
		for range 3 + r.IntN(12) {
			b.WriteString(" " + words[r.IntN(len(words))])
		}
		b.WriteByte('\n')
	}},
	{"SGR", func(r *rand.Rand, _ int, b *strings.Builder) {
		for range 6 + r.IntN(6) {
			switch r.IntN(3) {
			case 0:
				fmt.Fprintf(b, "\x1b[%dm", 30+r.IntN(8))
			case 1:
				fmt.Fprintf(b, "\x1b[1;38;5;%dm", r.IntN(256))
			case 2:
				fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm", r.IntN(256), r.IntN(256), r.IntN(256))
			}
			b.WriteString(words[r.IntN(len(words))] + "\x1b[0m ")
		}
		b.WriteByte('\n')
	}},
	{"redraw", func(r *rand.Rand, i int, b *strings.Builder) {
		b.WriteString("\x1b[?25l\x1b[H")
		for row := 1; row <= 23; row++ {
			fmt.Fprintf(b, "\x1b[%d;1H\x1b[K\x1b[7m %3d \x1b[0m", row, row)
			fmt.Fprintf(b, "\x1b[%d;%dH\x1b[3%dm%s %s\x1b[0m", row, 8+r.IntN(10), r.IntN(8), words[r.IntN(len(words))], words[r.IntN(len(words))])
			fmt.Fprintf(b, "\x1b[%d;60H\x1b[1m%6d\x1b[22m\x1b[2D%%", row, i*23+row)
		}
		fmt.Fprintf(b, "\x1b[24;1H\x1b[44m frame %08d \x1b[0m\x1b[K\x1b[?25h", i)
	}},
	{"CJK", func(r *rand.Rand, i int, b *strings.Builder) {
		fmt.Fprintf(b, "%06d", i)
		for range 4 + r.IntN(6) {
			b.WriteString(" " + wide[r.IntN(len(wide))])
		}
		b.WriteByte('\n')
	}},
}

var (
	words = strings.Fields("alpha build cargo delta error fetch green hotel index joule kappa level merge node omega parse query river stack tests under value warn xenon yield zebra")
	wide  = strings.Fields("端末 画面 出力 漢字かな 한국어 中文字符 Ünïcödé naïve Привет λόγος 😀 🚀 é → │ █")
)

// generate writes about size bytes of a corpus to path, the same bytes each time.
func generate(path string, unit func(*rand.Rand, int, *strings.Builder), size int) error {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		unit(r, i, &b)
	}
	b.WriteString("\x1b[0m\n")
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
