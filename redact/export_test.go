package redact

import "testing"

// What the tests from outside, which may use a terminal, share with those inside.
type Record = record

var (
	Corpus = corpus
	Leaks  = leaks

	Environments = environments
)

func (r record) Pieces() []string { return r.pieces() }

const LeastRecall, MaxFalsePositives = leastRecall, maxFalsePositives

// ScoreEdges holds a surface against testdata/edges.txt.
func ScoreEdges(t *testing.T, show func(Record) string, same func(r Record, shown string) bool) {
	t.Helper()
	scoreEdges(t, edges(t), show, same)
}
