package metrics

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	var p Page
	p.Counter("x_total", "What x\nis: \\ and \"so\".", 1<<53)
	p.Gauge("y", "Y.", 0.25)
	p.Counters("z_total", "Z.", "how", Sample{"good", 1}, Sample{`"bad\`, 0})
	p.Info("build", "B.", "version", "devel")
	const want = `# HELP x_total What x\nis: \\ and "so".
# TYPE x_total counter
x_total 9007199254740992
# HELP y Y.
# TYPE y gauge
y 0.25
# HELP z_total Z.
# TYPE z_total counter
z_total{how="good"} 1
z_total{how="\"bad\\"} 0
# HELP build B.
# TYPE build gauge
build{version="devel"} 1
`
	if got := p.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// sample is a line of the format's grammar with one label.
var sample = regexp.MustCompile(`^m\{l="((?:[^"\\\n]|\\[\\n"])*)"\} (\S+)$`)

// FuzzLabels: whatever a label holds, the page has the lines that it is to have, and the label can
// be read back.
func FuzzLabels(f *testing.F) {
	f.Add("a", "help", 1.5)
	f.Add("\"} 7\nother 9", "x\n# TYPE m gauge", math.Copysign(0, -1))
	f.Add("\\", "\\", 1e300)
	f.Fuzz(func(t *testing.T, label, help string, value float64) {
		var p Page
		p.Counters("m", help, "l", Sample{label, value})
		lines := strings.Split(p.String(), "\n")
		if len(lines) != 4 || lines[3] != "" || lines[1] != "# TYPE m counter" {
			t.Fatalf("%q", lines)
		}
		m := sample.FindStringSubmatch(lines[2])
		if m == nil {
			t.Fatalf("%q is no sample", lines[2])
		}
		if got := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\"`, `"`).Replace(m[1]); got != label {
			t.Fatalf("%q is read back as %q", label, got)
		}
		if got, err := strconv.ParseFloat(m[2], 64); err != nil || got != value && value == value {
			t.Fatalf("%v is read back as %v, %v", value, got, err)
		}
	})
}
