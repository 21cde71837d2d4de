package script

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Film is what the run of a tape has noted for its pictures. The recording has all the program
// wrote; a marker in it ends each piece, see [Piece].
type Film struct {
	Pieces []Piece // in order, without a gap
}

// A Piece is a part of a recording: what came after the marker of the one before, up to its own.
type Piece struct {
	// Lasts is how long it is shown at least: until its last output, if that came later, since the
	// pauses between keys are not waited for. Negative: as long as it took.
	Lasts  time.Duration
	Hidden bool   // not shown
	Still  bool   // at its end the screen was waited for
	Shot   string // the file that the screen at its end is drawn into; "": none
	Line   int    // of the command, for messages
}

// pieceMark begins the label of the marker that ends a piece: "film 7".
const pieceMark = "film "

// PieceOf returns which piece a marker ends.
func PieceOf(label string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(label, pieceMark)
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil && n >= 0
}

// piece ends a piece of the film here. Before the first program there is nothing to show.
func (p *player) piece(x Piece) {
	f := p.result.Film
	if f == nil || p.reel == nil {
		return
	}
	x.Hidden = p.hidden
	if p.current != nil {
		x.Line = p.current.Line
	}
	f.Pieces = append(f.Pieces, x)
	// A recording that has failed says so at its end.
	_ = p.reel.Marker(time.Now(), fmt.Sprint(pieceMark, len(f.Pieces)-1))
}
