package vt

import "testing"

// TestConformanceMargins is about the scrolling region, origin mode and autowrap.
func TestConformanceMargins(t *testing.T) {
	conformance(t,
		group{name: "DECSTBM", source: "VT510 DECSTBM", before: letters, checks: []check{
			{name: "homes the cursor", in: "␛[2;4r", at: "1,1", screen: abcdef},
			{name: "scrolls between the margins", in: "␛[2;4r␛[4H\n", at: "4,1", screen: "AAAAA|CCCCC|DDDDD||EEEEE|FFFFF"},
			{name: "the whole screen by default", in: "␛[2;4r␛[r␛[6H\n", at: "6,1", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF"},
			{name: "zeros are the whole screen", in: "␛[2;4r␛[0;0r␛[6H\n", at: "6,1", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF"},
			{name: "only a top", in: "␛[5r␛[6H\n", at: "6,1", screen: "AAAAA|BBBBB|CCCCC|DDDDD|FFFFF"},
			{name: "only a bottom", in: "␛[;2r␛[2H\n", at: "2,1", screen: "BBBBB||CCCCC|DDDDD|EEEEE|FFFFF"},
			{name: "bottom behind the last row", in: "␛[5;99r␛[6H\n", at: "6,1", screen: "AAAAA|BBBBB|CCCCC|DDDDD|FFFFF"},
			{name: "top not above bottom is ignored", in: "␛[3;4H␛[4;4r␛[5;3r", at: "3,4", screen: abcdef},
			{name: "top behind the last row is ignored", in: "␛[3;4H␛[99;100r", at: "3,4", screen: abcdef},
			{name: "ignored margins leave those before", in: "␛[2;4r␛[4;2r␛[4H\n", at: "4,1", screen: "AAAAA|CCCCC|DDDDD||EEEEE|FFFFF"},
			{name: "two rows are enough", in: "␛[2;3r␛[3H\n", at: "3,1", screen: "AAAAA|CCCCC||DDDDD|EEEEE|FFFFF"},
			{name: "origin mode: to the top margin", in: "␛[?6h␛[3;5r", at: "3,1", screen: abcdef},
			{name: "wrapping in the last row of the region scrolls it", in: "␛[2;4r␛[4;10Hxy", at: "4,2", screen: "AAAAA|CCCCC|DDDDD    x|y|EEEEE|FFFFF"},
			{name: "wrapping below it does not scroll", in: "␛[2;4r␛[6;10Hxy", at: "6,2", screen: "AAAAA|BBBBB|CCCCC|DDDDD|EEEEE|yFFFF    x"},
			{name: "rows outside take text", in: "␛[2;4r␛[1;1Hx␛[6;1Hx", at: "6,2", screen: "xAAAA|BBBBB|CCCCC|DDDDD|EEEEE|xFFFF"},
		}},
		group{name: "DECOM", source: "VT510 DECOM", checks: []check{
			{name: "setting homes to the top margin", in: "␛[3;5r␛[6;4H␛[?6h", at: "3,1"},
			{name: "resetting homes to the first row", in: "␛[3;5r␛[?6h␛[2;4H␛[?6l", at: "1,1"},
			{name: "the cursor does not leave the margins", in: "␛[3;5r␛[?6h␛[9;9H", at: "5,9"},
			{name: "reports count from the top margin", in: "␛[3;5r␛[?6h␛[2;4H␛[6n", at: "4,4", reply: "␛[2;4R"},
			{name: "new margins move the origin", in: "␛[3;5r␛[?6h␛[4;6r␛[H", at: "4,1"},
			{name: "erasing does not care", in: letters + "␛[3;5r␛[?6h␛[2J", at: "3,1"},
			{name: "margins are kept", in: "␛[3;5r␛[?6h␛[?6l␛[5;1Hx\ny", at: "5,3", screen: "|||x| y"},
		}},
		group{name: "DECAWM", source: "VT510 DECAWM; DEC STD 070: the last column flag", checks: []check{
			{name: "the last column waits", in: "abcdefghij", at: "1,10+", screen: "abcdefghij"},
			{name: "the next character wraps", in: "abcdefghijk", at: "2,2", screen: "abcdefghij|k"},
			{name: "in the last row the screen scrolls", in: "x␛[6;10Hab", at: "6,2", screen: "||||         a|b", history: "x"},
			{name: "reset: the last column is overwritten", in: "␛[?7labcdefghijkl", at: "1,10+", screen: "abcdefghil"},
			{name: "reset: the last row does not scroll", in: "␛[?7l␛[6;9Habcd", screen: "|||||        ad"},
			{name: "set again", in: "␛[?7l␛[?7habcdefghijk", at: "2,2", screen: "abcdefghij|k"},
			{name: "a report names the last column", in: "abcdefghij␛[6n", at: "1,10+", screen: "abcdefghij", reply: "␛[1;10R"},
		}},
	)
}

// TestConformancePendingWrap: what takes back the wrap that waits behind the last column. Each
// check begins there in row 2 and ends by writing y.
func TestConformancePendingWrap(t *testing.T) {
	const (
		wraps = "|         x|y" // it was not taken back
		over  = "|         y"   // it was, and the cursor is in the last column
		left  = "|        yx"   // and the cursor has moved to the left of it
		up    = "         y|         x"
		down  = "|         x|         y"
	)
	conformance(t,
		group{name: "stays", source: "DEC STD 070: what does not move leaves the last column flag", before: "␛[2;10Hx", checks: []check{
			{name: "nothing", in: "y", at: "3,2", screen: wraps},
			{name: "NUL, DEL, BEL", in: "\x00\x7f\ay", at: "3,2", screen: wraps, bell: 1},
			{name: "SI", in: "\x0fy", at: "3,2", screen: wraps},
			{name: "HT and CHT in the last column", in: "\t␛[Iy", at: "3,2", screen: wraps},
			{name: "SGR", in: "␛[1m␛[my", at: "3,2", screen: wraps},
			{name: "OSC", in: "␛]2;t\ay", at: "3,2", screen: wraps},
			{name: "DSR", in: "␛[5ny", at: "3,2", screen: wraps, reply: "␛[0n"},
			{name: "HTS and TBC", in: "␛H␛[gy", at: "3,2", screen: wraps},
			{name: "DECSC and SCOSC", in: "␛7␛[sy", at: "3,2", screen: wraps},
			{name: "IRM", in: "␛[4hy", at: "3,2", screen: wraps},
			{name: "SCS", in: "␛(By", at: "3,2", screen: wraps},
			{name: "DECTCEM", in: "␛[?25l␛[?25hy", at: "3,2", screen: wraps},
			{name: "an ignored sequence", in: "␛[1;2yy", at: "3,2", screen: wraps},
			{name: "DECSCUSR", in: "␛[0 qy", at: "3,2", screen: wraps},
		}},
		group{name: "is taken back", source: "DEC STD 070: motion clears the last column flag", before: "␛[2;10Hx", checks: []check{
			{name: "BS", in: "\by", at: "2,10", screen: left},
			{name: "CR", in: "\ry", at: "2,2", screen: "|y        x"},
			{name: "LF", in: "\ny", at: "3,10+", screen: down},
			{name: "VT", in: "\vy", at: "3,10+", screen: down},
			{name: "FF", in: "\fy", at: "3,10+", screen: down},
			{name: "IND", in: "␛Dy", at: "3,10+", screen: down},
			{name: "NEL", in: "␛Ey", at: "3,2", screen: wraps},
			{name: "RI", in: "␛My", at: "1,10+", screen: up},
			{name: "CBT", in: "␛[Zy", at: "2,10", screen: left},
			{name: "CUU", in: "␛[Ay", at: "1,10+", screen: up},
			{name: "CUD", in: "␛[By", at: "3,10+", screen: down},
			{name: "CUF", in: "␛[Cy", at: "2,10+", screen: over},
			{name: "CUB", in: "␛[Dy", at: "2,10", screen: left},
			{name: "CNL", in: "␛[Ey", at: "3,2", screen: wraps},
			{name: "CPL", in: "␛[Fy", at: "1,2", screen: "y|         x"},
			{name: "CHA", in: "␛[10Gy", at: "2,10+", screen: over},
			{name: "HPA", in: "␛[10`y", at: "2,10+", screen: over},
			{name: "HPR", in: "␛[ay", at: "2,10+", screen: over},
			{name: "VPA", in: "␛[2dy", at: "2,10+", screen: over},
			{name: "VPR", in: "␛[ey", at: "3,10+", screen: down},
			{name: "CUP", in: "␛[2;10Hy", at: "2,10+", screen: over},
			{name: "HVP", in: "␛[2;10fy", at: "2,10+", screen: over},
			{name: "DECSTBM", in: "␛[1;4ry", at: "1,2", screen: "y|         x"},
			{name: "DECOM", in: "␛[?6hy", at: "1,2", screen: "y|         x"},
			{name: "DECRC", in: "␛8y", at: "1,2", screen: "y|         x"},
			{name: "ECH", in: "␛[Xy", at: "2,10+", screen: over},
			{name: "DCH", in: "␛[Py", at: "2,10+", screen: over},
			{name: "ICH", in: "␛[@y", at: "2,10+", screen: over},
			{name: "IL", in: "␛[Ly", at: "2,2", screen: "|y|         x"},
			{name: "DL", in: "␛[My", at: "2,2", screen: "|y"},
			{name: "RIS", in: "␛cy", at: "1,2", screen: "y"},
		}},
	)
}

// TestConformanceSaveCursor is about the three ways to save and restore the cursor.
func TestConformanceSaveCursor(t *testing.T) {
	conformance(t,
		group{name: "DECSC and DECRC", source: "VT510 DECSC: what is saved", checks: []check{
			{name: "position", in: "␛[3;4H␛7␛[5;6H␛8", at: "3,4"},
			{name: "again and again", in: "␛[3;4H␛7␛[5;6H␛8␛[6;7H␛8", at: "3,4"},
			{name: "the last one counts", in: "␛[3;4H␛7␛[5;6H␛7␛[H␛8", at: "5,6"},
			{name: "attributes", in: "␛[1;31m␛7␛[m␛8x", at: "1,2", screen: "x", style: "1,1+1 bold fg=idx:1"},
			{name: "attributes that were not set", in: "␛7␛[1;31m␛8x", at: "1,2", screen: "x"},
			{name: "G0", in: "␛(0␛7␛(B␛8q", at: "1,2", screen: "─"},
			{name: "G1 in GL", in: "␛)0\x0e␛7\x0f␛)B␛8q", at: "1,2", screen: "─"},
			{name: "origin mode", in: "␛[3;5r␛[?6h␛[2;3H␛7␛[?6l␛8␛[H", at: "3,1"},
			{name: "origin mode that was not set", in: "␛[3;5r␛7␛[?6h␛8␛[H", at: "1,1"},
			{name: "protection", in: "␛[1\"q␛7␛[0\"q␛8ab␛[?2J", at: "1,3", screen: "ab"},
			{name: "a pending wrap", in: "abcdefghij␛7␛[3;3H␛8k", at: "2,2", screen: "abcdefghij|k"},
			{name: "a single shift", in: "␛*0␛N␛7a␛8a", at: "1,2", screen: "▒"},
		}},
		group{name: "what DECSC does not save", source: "xterm ctlseqs, DECSC", checks: []check{
			{name: "margins", in: "␛[3;5r␛7␛[r␛8␛[6H\n", at: "6,1"},
			{name: "insert mode", in: "␛[4h␛7␛[4l␛8ab␛[Hc", at: "1,2", screen: "cb"},
			{name: "autowrap", in: "␛7␛[?7l␛8␛[1;10Hab", screen: "         b"},
			{name: "tab stops", in: "␛7␛[3g␛8\t", at: "1,10"},
			{name: "whether the cursor is shown", in: "␛7␛[?25l␛8␛[?25$p", at: "1,1", reply: "␛[?25;2$y"},
			{name: "reverse wraparound", in: "␛[?45h␛7␛[?45l␛8␛[?45$p", reply: "␛[?45;2$y"},
		}},
		group{name: "DECRC when nothing was saved", source: "VT510 DECRC", checks: []check{
			{name: "home", in: "␛[3;4H␛8", at: "1,1"},
			{name: "no attributes", in: "␛[1;31m␛8x", at: "1,2", screen: "x"},
			{name: "no origin mode", in: "␛[3;5r␛[?6h␛8", at: "1,1"},
			{name: "ASCII", in: "␛(0␛8q", at: "1,2", screen: "q"},
			{name: "after DECSTR", in: "␛[3;4H␛7␛[!p␛8", at: "1,1"},
			{name: "after RIS", in: "␛[3;4H␛7␛c␛[2;2H␛8", at: "1,1"},
		}},
		group{name: "SCOSC and SCORC", source: "xterm ctlseqs, CSI s and CSI u", checks: []check{
			{name: "position", in: "␛[3;4H␛[s␛[5;6H␛[u", at: "3,4"},
			{name: "attributes", in: "␛[1m␛[s␛[m␛[ux", at: "1,2", screen: "x", style: "1,1+1 bold"},
			{name: "nothing saved", in: "␛[3;4H␛[1m␛[ux", at: "1,2", screen: "x"},
			{name: "the same place as DECSC", in: "␛[3;4H␛7␛[5;6H␛[u", at: "3,4"},
			{name: "DECRC of it", in: "␛[3;4H␛[s␛[5;6H␛8", at: "3,4"},
			{name: "with parameters CSI s saves nothing", in: "␛[3;4H␛[s␛[5;6H␛[2;5s␛[u", at: "3,4"},
			{name: "with parameters CSI u restores nothing", in: "␛[3;4H␛[s␛[5;6H␛[97;5u", at: "5,6"},
		}},
		group{name: "1048", source: "xterm ctlseqs, DECSET 1048", checks: []check{
			{name: "position", in: "␛[3;4H␛[?1048h␛[5;6H␛[?1048l", at: "3,4"},
			{name: "nothing saved", in: "␛[3;4H␛[?1048l", at: "1,1"},
			{name: "the same place as DECSC", in: "␛[3;4H␛[?1048h␛[5;6H␛8", at: "3,4"},
		}},
		group{name: "one place for each screen", source: "xterm: the alternate screen has its own", checks: []check{
			{name: "the main one's", in: "␛[2;3H␛7␛[?47h␛[4;5H␛7␛[?47l␛8", at: "2,3"},
			{name: "the alternate one's", in: "␛[2;3H␛7␛[?47h␛[4;5H␛7␛[?47l␛[?47h␛[H␛8", at: "4,5"},
			{name: "none on the alternate one", in: "␛[2;3H␛7␛[?47h␛[4;5H␛8", at: "1,1"},
		}},
	)
}

// TestConformanceSaveCursorResized: a place that is not on the screen any more is moved onto it.
func TestConformanceSaveCursorResized(t *testing.T) {
	for _, restore := range []string{"\x1b8", "\x1b[u", "\x1b[?1048l"} {
		term := New(6, 10, Options{})
		term.Feed([]byte("\x1b[?1049h\x1b[6;10H\x1b7\x1b[H"))
		term.Resize(3, 5, 0, 0)
		term.Feed([]byte(restore))
		if c := term.Snapshot().Cursor; c.Row != 2 || c.Col != 4 {
			t.Errorf("%q: %d,%d, want the last row and column", restore, c.Row, c.Col)
		}
	}
}
