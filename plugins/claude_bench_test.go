package plugins

import (
	"slices"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// BenchmarkClaudeClassify classifies what each recording shows at its end. One iteration is one
// screen; p50-ns and p99-ns are taken over all of them.
func BenchmarkClaudeClassify(b *testing.B) {
	for _, size := range []int{24, 40} {
		name := map[int]string{24: "24x80", 40: "40x120"}[size]
		b.Run(name, func(b *testing.B) {
			m := classifier(b, "claude-code")
			var views []*engine.View
			for _, tape := range tapesOf(b, "claude-code") {
				tape.play(func(v *engine.View, last bool) {
					if last && v.Screen.Rows == size {
						views = append(views, v)
					}
				})
			}
			var took []time.Duration
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				v := views[i%len(views)]
				i++
				start := time.Now()
				if _, err := classify(m, "claude-code", &look{view: v}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
		})
	}
}

// BenchmarkClaudeLoad makes a machine with the plugin in it, as each adapter has one.
func BenchmarkClaudeLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		classifier(b, "claude-code")
	}
}
