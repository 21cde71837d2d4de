//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/tuitest/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse writes a script into a folder of its own and reads it.
func parse(t *testing.T, text string) *script.Script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.ptw")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := script.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play runs a script once, at its first size.
func play(t *testing.T, s *script.Script, o script.Options) (*script.Result, script.Goldens) {
	t.Helper()
	return playIn(t.Context(), t, s, o)
}

func playIn(ctx context.Context, t *testing.T, s *script.Script, o script.Options) (*script.Result, script.Goldens) {
	t.Helper()
	o.Size = s.Sizes[0]
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Update == "" {
		o.Update = golden.UpdateNone
	}
	return script.Run(ctx, s, o)
}

// failure returns the failure of a result, which has to have one.
func failure(t *testing.T, r *script.Result) *script.Failure {
	t.Helper()
	for _, s := range r.Steps {
		if s.Failure != nil {
			return s.Failure
		}
	}
	if r.Failure == nil {
		t.Fatalf("%s %s: it should fail", r.Outcome, r.Why)
	}
	return r.Failure
}

// passes plays a script that has to pass.
func passes(t *testing.T, text string) *script.Result {
	t.Helper()
	r, _ := play(t, parse(t, text), script.Options{})
	if r.Outcome != script.Passed {
		t.Fatalf("%s: %v\n%s", r.Outcome, failure(t, r), failure(t, r).Evidence)
	}
	return r
}

// TestVerbs: what each verb does to a program, or asks of it.
func TestVerbs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"types and pastes": `
spawn sh -c 'stty -echo; printf "\033[?2004h> "; cat -v'
expect '>'
type 'a text' enter
wait text 'a text'
paste 'pasted'
press enter
wait text '^[[200~pasted^[[201~'
press up x*3 enter
wait text '^[[Axxx'
`,
		"clicks, drags and scrolls": `
spawn sh -c 'stty -echo -icanon; printf "\033[?1002h\033[?1006h one\r\n two\r\n"; exec cat -v'
expect 'two'
click 'one' button right times 2
wait text '[<2;3;1M^[[<2;3;1m^[[<2;3;1M'
drag 'one' to 'two'
wait text '[<0;3;1M^[[<32;3;2M^[[<0;3;2m'
scroll down 2 at 'one'
wait text '[<65;3;1M^[[<65;3;1M'
`,
		"resizes": `
size 5x30
spawn sh -c 'trap "stty size" WINCH; echo ready; while read -r _; do :; done; while :; do sleep 0.01; done'
expect 'ready'
resize 7x20
wait text '7 20'
`,
		"signals and exits": `
spawn sh -c 'trap "echo caught; exit 3" USR1; echo ready; while :; do sleep 0.01; done'
expect 'ready'
signal user1
wait 'caught'
exit 3
spawn sh -c 'echo again; kill -TERM $$'
exit SIGTERM
spawn sh -c 'exit 4'
! exit 0
spawn sh -c 'echo ready; read -r _'
expect 'ready'
stop
`,
		"looks": `
size 8x40
spawn sh -c 'stty -echo; printf "\033]2;the title\007\033[1;32mgreen\033[m one one\r\n"; read -r _; printf "\007bell\r\n"; read -r _'
expect style 'fg=green bold'
expect 'one' count 2
expect title 'the title'
expect title /^the/
expect cursor 1,0
expect /one$/ for 50ms
! expect 'two'
! expect title 'another'
expect stable 50ms
press enter
wait bell
expect lines 'bell'
`,
		"an environment of its own": `
env NAME=value PAIR=a=b
exec sh -c 'test "$NAME $PAIR $TERM $TZ" = "value a=b xterm-256color UTC"'
exec sh -c 'test -z "$CI$HOSTNAME$USER" && test -d "$HOME" && test "$HOME" != / && test -d "$XDG_CACHE_HOME"'
exec sh -c 'test -f "$SCRIPT_DIR/x.ptw" && test "$WORK" = "$PWD" && test "$PWD" = "$SCRIPT_DIR"'
exec test -f x.ptw
spawn sh -c 'echo "$NAME $COLORTERM $LANG"; read -r _'
expect 'value truecolor C.UTF-8'
`,
		"files of its own": `
exec test -f a/b.txt
exec ./run.sh
! exec test -f x.ptw
exec test -f $SCRIPT_DIR/x.ptw
exec sh -c 'test "$PWD" = "$HOME/files"'
spawn cat a/b.txt
expect 'fixture'
exit 0
-- a/b.txt --
fixture
-- run.sh --
#!/bin/sh
exit 0
`,
		"conditions": `
[windows] exec false
[!unix] exec false
[exec:no-such-program] exec false
[exec:sh] [unix] exec true
[env:NO_SUCH_VARIABLE] exec false
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, text)
		})
	}
}

// TestSkip: a script that does not apply says why, and nothing after it is done.
func TestSkip(t *testing.T) {
	t.Parallel()
	r, _ := play(t, parse(t, "[unix] skip 'not here'\nexec false\n"), script.Options{})
	if r.Outcome != script.Skipped || r.Why != "not here" || len(r.Steps) != 1 {
		t.Errorf("%+v", r)
	}
}

// moved is a program that moves a highlight with each key, and draws nothing for x.
const moved = `spawn sh -c 'stty -echo -icanon; printf "one\r\ntwo\r\n"; while :; do k=$(dd bs=1 count=1 2>/dev/null); test "$k" = x || printf "\033[H\033[7mone\033[m\r\n"; done'
expect 'two'
`

// TestVacuous: a state that held before the program reacted, and to which it never did, is told, and
// with strict a failure; an event never is.
func TestVacuous(t *testing.T) {
	t.Parallel()
	text := moved + "type x\nexpect 'one'\ntype y\nexpect 'one'\n"
	r := passes(t, text)
	if last := r.Steps[len(r.Steps)-3:]; !last[0].Vacuous || last[0].Note == "" || last[2].Vacuous {
		t.Errorf("%+v", last)
	}
	r, _ = play(t, parse(t, text), script.Options{Strict: true})
	if f := failure(t, r); f.Reason != "vacuous" || len(r.Steps) != 4 {
		t.Errorf("strict: %+v", f)
	}
	r, _ = play(t, parse(t, moved+"type x\nwait 'one' within 100ms\n"), script.Options{})
	if f := failure(t, r); f.Reason != "timeout" || !strings.Contains(f.Why, "has not reacted") {
		t.Errorf("an old text was taken for an event: %+v", f)
	}
}

// TestSuspicious: a golden screen that equals the one before it, though something was typed, is told.
func TestSuspicious(t *testing.T) {
	t.Parallel()
	s := parse(t, moved+"screen before\ntype x\nscreen after\ntype y\nscreen moved\nscreen moved\n")
	r, g := play(t, s, script.Options{Update: golden.UpdateMissing})
	if r.Outcome != script.Passed || len(g.Write) != 3 {
		t.Fatalf("%s, wrote %d: %v", r.Outcome, len(g.Write), r.Why)
	}
	if err := s.Keep(g.Write); err != nil {
		t.Fatal(err)
	}
	r, _ = play(t, s, script.Options{})
	var got []bool
	for _, st := range r.Steps {
		if st.Verb == "screen" {
			got = append(got, st.Suspicious)
		}
	}
	if r.Outcome != script.Passed || len(got) != 4 || got[0] || !got[1] || got[2] || got[3] {
		t.Errorf("%s %v", r.Outcome, got)
	}
	r, _ = play(t, s, script.Options{Strict: true})
	if f := failure(t, r); f.Reason != "vacuous" && f.Reason != "suspicious" {
		t.Errorf("strict: %+v", f)
	}
}

// TestGoldenThatDiffers: the failure has what was expected, what was there, the nearest frame with its
// time, and what differs; in CI nothing is kept.
func TestGoldenThatDiffers(t *testing.T) {
	t.Parallel()
	const text = `size 3x10
spawn sh -c 'stty -echo; printf "\033[31mred\033[m"; read -r _; printf "\r\033[32mred\033[m"; read -r _'
expect 'red'
press enter
screen main within 1s
-- screen/main --
screen 1
size 3x10
cursor 0,3
--
|red
~bbb
|
|
--
b fg=blue
`
	s := parse(t, text)
	r, g := play(t, s, script.Options{})
	f := failure(t, r)
	if f.Golden == nil || f.Reason != "differs" {
		t.Fatalf("%+v", f)
	}
	c := f.Golden
	if c.Name != "main" || c.Section != "screen/main" || c.Cells != 3 || c.Nearest == nil || c.NearestFor <= 0 ||
		!strings.Contains(f.Evidence, "row 0, columns 0 to 2: fg=") || c.Changes().Cells() != 3 {
		t.Errorf("%+v\n%s", c, f.Evidence)
	}
	if len(g.Pending) != 1 || len(g.Write) != 0 {
		t.Errorf("%d pending, %d to write", len(g.Pending), len(g.Write))
	}
	path, err := s.KeepPending(g.Pending)
	if err != nil {
		t.Fatal(err)
	}
	pending, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(pending), text[:strings.Index(text, "|red")]) || !strings.Contains(string(pending), "fg=green") {
		t.Errorf("%v\n%s", err, pending)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back script.Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if again := failure(t, &back).Golden; !again.Expected.Equal(&c.Expected.File) || again.Cells != 3 || again.NearestFor/1000 != c.NearestFor/1000 {
		t.Errorf("read back: %+v", again)
	}
	if _, g = play(t, s, script.Options{CI: true}); len(g.Pending) > 0 {
		t.Error("in CI a golden screen is kept for a review")
	}
}

// TestChangedMeanwhile: golden screens are not written over what somebody has changed in the script.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := parse(t, moved+"screen main\n")
	_, g := play(t, s, script.Options{Update: golden.UpdateMissing})
	if err := os.WriteFile(s.Path, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(g.Write); err == nil {
		t.Error("it was written")
	}
	if text, _ := os.ReadFile(s.Path); string(text) != "# mine\n" {
		t.Errorf("%s", text)
	}
}

// TestTwoFirstRuns: of two first runs beside each other the second keeps what the first one has
// written, if it has seen the same, and adds its own; what they saw differently it does not decide.
func TestTwoFirstRuns(t *testing.T) {
	t.Parallel()
	s := parse(t, moved+"screen main\n-- notes --\nmine\n")
	load := func() *script.Script {
		t.Helper()
		s, err := script.Load(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	golden := func(name, text string) script.Golden {
		t.Helper()
		f, err := golden.Parse([]byte("screen 1\nsize 1x9\n--\n|" + text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		return script.Golden{Section: "screen/" + name, File: f}
	}
	first, second, third := load(), load(), load()
	if err := first.Keep([]script.Golden{golden("main", "one")}); err != nil {
		t.Fatal(err)
	}
	if err := second.Keep([]script.Golden{golden("main", "one"), golden("more", "two")}); err != nil {
		t.Fatal(err)
	}
	if err := first.Keep([]script.Golden{golden("last", "three")}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-- notes --\nmine\n", "-- screen/main --", "|one\n", "-- screen/more --", "|two\n",
		"-- screen/last --", "|three\n"} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("%q stands there %d times:\n%s", want, strings.Count(string(text), want), text)
		}
	}
	err = third.Keep([]script.Golden{golden("main", "other")})
	if !errors.Is(err, script.ErrChanged) || !strings.Contains(err.Error(), "another run has written screen/main meanwhile, and has seen it differently") {
		t.Errorf("%v", err)
	}
	if after, _ := os.ReadFile(s.Path); string(after) != string(text) {
		t.Errorf("written over:\n%s", after)
	}
}

// TestNothingLeaks: secrets of the environment, and typed ones, are in nothing that a run leaves.
func TestNothingLeaks(t *testing.T) {
	const typed, inEnv, given = "correct-horse-battery", "Zq83hfbnnaLL04xx", "hunter2-hunter2"
	t.Setenv("MY_SECRET", typed)
	t.Setenv("CANARY", "canary-in-the-environment")
	dir := t.TempDir()
	s := parse(t, `env API_TOKEN=`+inEnv+`
spawn sh -c 'stty -echo; printf "Password: "; read -r a; printf "Passphrase: "; read -r b; echo; echo "$a $API_TOKEN $b"; read -r _'
expect 'Password:'
type-secret MY_SECRET enter
wait 'Passphrase:'
type '`+given+`' enter
screen main
exec sh -c 'echo $API_TOKEN; exit 1'
`)
	r, g := play(t, s, script.Options{Dir: dir, Update: golden.UpdateMissing})
	if f := failure(t, r); f.Reason != "exec" {
		t.Fatalf("%+v", f)
	}
	if err := s.Keep(g.Write); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"the result": string(data)}
	for _, golden := range g.Write {
		files[golden.Section] = string(golden.File.AppendText(nil))
	}
	cast, err := os.ReadFile(r.Recording)
	if err != nil {
		t.Fatal(err)
	}
	files["the recording"] = string(cast)
	for name, text := range files {
		for _, secret := range []string{typed, inEnv, given, "canary-in-the-environment"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s:\n%s", name, secret, text)
			}
		}
	}
	if !strings.Contains(files["screen/main"], "[REDACTED]") {
		t.Errorf("nothing was shown, so nothing was hidden:\n%s", files["screen/main"])
	}
}

// TestInterrupted: a run that is cancelled ends its program and tells what ran.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	pid, fifo := filepath.Join(dir, "pid"), filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, over := make(chan struct{}), make(chan struct{})
	go func() { // the command waits in the fifo, and so does this
		defer close(opened)
		if f, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
			cancel()
			<-over
			f.Close()
		}
	}()
	s := parse(t, "exec true\nspawn sh -c 'echo $$ > "+pid+"; echo up; exec sleep 1000'\nexpect 'up'\nexec cat "+fifo+"\nexec true\n")
	r, _ := playIn(ctx, t, s, script.Options{})
	close(over)
	<-opened
	if r.Outcome != script.Interrupted || len(r.Steps) != 4 || r.Steps[3].Outcome != script.Interrupted {
		t.Errorf("%s %s: %+v", r.Outcome, r.Why, r.Steps)
	}
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(b))); err == nil {
		t.Error("the program runs on")
	}
}

// TestStress: under stress a program behaves as without, and its last output comes before its end.
func TestStress(t *testing.T) {
	t.Parallel()
	s := parse(t, `size 10x40
allow resize
spawn sh -c 'stty -echo; printf "\033[?1049h"; while :; do printf "\033[H\033[2J\033[1;34mPress\033[m a key: 你好"; read -r k || exit; test "$k" = q && { printf "\033[?1049lbye"; exit 3; }; done'
expect 'key: 你好'
type 'a' enter
wait 'key:'
screen main
type 'q' enter
wait 'bye'
exit 3
`)
	r, g := play(t, s, script.Options{Update: golden.UpdateMissing})
	if r.Outcome != script.Passed {
		t.Fatalf("%v", failure(t, r))
	}
	if err := s.Keep(g.Write); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		r, _ := play(t, s, script.Options{Stress: &script.Stress{Seed: seed}})
		if r.Outcome != script.Passed {
			t.Fatalf("seed %d: %v\n%s", seed, failure(t, r), failure(t, r).Evidence)
		}
	}
}

// TestJudge: a recording is judged without its program, with a golden screen, a mask and an
// expectation that have changed since.
func TestJudge(t *testing.T) {
	t.Parallel()
	const steps = `size 4x20
spawn sh -c 'stty -echo; printf "at 12:34\r\n"; read -r _; printf "\033[2J\033[Hnext\r\n"; exit 3'
expect 'at 1'
screen main
press enter
wait 'next'
exit 3
-- screen/main --
screen 1
size 4x20
--
|at 12:34
|
*3
`
	s := parse(t, steps)
	r, _ := play(t, s, script.Options{Dir: t.TempDir()})
	if r.Outcome != script.Passed {
		t.Fatalf("%v\n%s", failure(t, r), failure(t, r).Evidence)
	}
	f, err := os.Open(r.Recording)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := record.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(text string) *script.Result {
		t.Helper()
		s := parse(t, text)
		r, _, err := script.Judge(t.Context(), s, rec, script.Options{Size: s.Sizes[0]})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := judge(steps); r.Outcome != script.Passed {
		t.Errorf("as it was: %v", failure(t, r))
	}
	later := strings.Replace(steps, "|at 12:34", "|at 23:59", 1)
	r = judge(later)
	if f := failure(t, r); f.Reason != "differs" || f.Golden.Cells != 4 {
		t.Errorf("another time: %+v", f)
	}
	masked := strings.Replace(later, "screen main\n", "mask clock /\\d\\d:\\d\\d/\nscreen main\n", 1)
	masked = strings.Replace(masked, "|at 23:59", "|at «clo»", 1)
	if r := judge(masked); r.Outcome != script.Passed {
		t.Errorf("with a mask: %v\n%s", failure(t, r), failure(t, r).Evidence)
	}
	for change, reason := range map[[2]string]string{
		{"wait 'next'", "wait 'at 1'"}:     "timeout", // it was there before the input
		{"expect 'at 1'", "expect 'at 3'"}: "timeout",
		{"exit 3\n--", "exit 0\n--"}:       "exit",
	} {
		if f := failure(t, judge(strings.Replace(steps, change[0], change[1], 1))); f.Reason != reason {
			t.Errorf("%q: %+v", change[1], f)
		}
	}
	other := parse(t, "press enter\n")
	if _, _, err := script.Judge(t.Context(), other, &record.Recording{}, script.Options{Size: other.Sizes[0]}); err == nil {
		t.Error("a recording without markers was judged")
	}
}

// TestTimes: steps are in the recording's time, each with its marker.
func TestTimes(t *testing.T) {
	t.Parallel()
	r := passes(t, "spawn sh -c 'echo ready; read -r _'\nexpect 'ready'\npress enter\nexit 0\n")
	cast, err := os.ReadFile(r.Recording)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Steps {
		if s.Began < 0 || s.Took < 0 || time.Duration(s.Began+s.Took) > time.Duration(r.Took) {
			t.Errorf("%s from %v for %v of %v", s.Text, s.Began, s.Took, r.Took)
		}
		if !regexp.MustCompile(`"m", "step \d+ ` + regexp.QuoteMeta(s.Verb)).Match(cast) {
			t.Errorf("the recording has no marker of %s", s.Text)
		}
	}
}
