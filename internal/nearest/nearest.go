// Package nearest guesses which word a mistyped one was meant to be ([Of]), and which line was meant
// by a text that is not there ([Line]).
package nearest

// Of returns the word that name most likely stands for, "" when none is close: at most a third of
// name's characters, and at most three, away. Of several equally close ones the first wins.
func Of(name string, words []string) string {
	best, bound := "", min(3, max(1, len(name)/3))+1
	for _, w := range words {
		if d := distance(name, w); d < bound {
			best, bound = w, d
		}
	}
	return best
}

// most bounds what is compared, in bytes. No name of ours is half as long.
const most = 64

// distance is how many bytes have to be changed, inserted, deleted, or swapped with their
// neighbours to turn a into b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > most || len(b) > most {
		return most
	}
	var rows [3][most + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, before := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

// Line returns the line that shares the longest piece with needle, and the piece; the newest
// of equals. A piece of one character means nothing, unless the needle is that short.
func Line(needle string, lines []string) (line, common string) {
	const longest = 256 // more of a needle is not needed to find its line, and this is quadratic
	if len(needle) > longest {
		needle = needle[:longest]
	}
	for _, l := range lines {
		if c := commonPiece(needle, l[:min(len(l), 4*longest)]); len(c) >= len(common) &&
			len(c) >= min(2, len(needle)) {
			line, common = l, c
		}
	}
	return line, common
}

// commonPiece returns the longest string that is in both a and b.
func commonPiece(a, b string) string {
	best, end := 0, 0
	row := make([]int, len(b)+1) // row[j+1]: length of the common piece that ends at a[i], b[j]
	for i := range len(a) {
		before := 0
		for j := range len(b) {
			above := row[j+1]
			if row[j+1] = 0; a[i] == b[j] {
				row[j+1] = before + 1
				if row[j+1] > best {
					best, end = row[j+1], i+1
				}
			}
			before = above
		}
	}
	return a[end-best : end]
}
