package redact

// What the tests from outside, which may use a terminal, share with those inside.
type Record = record

var (
	Corpus = corpus
	Leaks  = leaks
)

func (r record) Pieces() []string { return r.pieces() }

const LeastRecall, MaxFalsePositives = leastRecall, maxFalsePositives
