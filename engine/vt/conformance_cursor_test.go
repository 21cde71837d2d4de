package vt

import "testing"

// TestConformanceControls is about the C0 controls that move, and about NEL, IND and RI.
func TestConformanceControls(t *testing.T) {
	conformance(t,
		group{name: "BS", source: "ECMA-48 8.3.5", checks: []check{
			{name: "one to the left", in: "␛[3;3H\b", at: "3,2"},
			{name: "stops at the first column", in: "␛[3;1H\b\b", at: "3,1"},
			{name: "stops at home", in: "\b", at: "1,1"},
			{name: "erases nothing", in: "ab\b", at: "1,2", screen: "ab"},
			{name: "behind the last column counts from it", in: "␛[1;9Hab\bX", at: "1,10", screen: "        Xb"},
			{name: "not to the row above without mode 45", in: "abcdefghijk\b\b", at: "2,1", screen: "abcdefghij|k"},
		}},
		group{name: "BS and CUB with reverse wraparound", source: "xterm ctlseqs, DECSET 45", before: "␛[?45h", checks: []check{
			{name: "to the end of a row that wrapped", in: "abcdefghijk\b\b", at: "1,10", screen: "abcdefghij|k"},
			{name: "not of one that did not", in: "abc\r\n\b", at: "2,1", screen: "abc"},
			{name: "a pending wrap is a step", in: "␛[1;9Hab\b", at: "1,10", screen: "        ab"},
			{name: "CUB goes on over several rows", in: "abcdefghijklmnopqrstuv␛[14D", at: "1,9", screen: "abcdefghij|klmnopqrst|uv"},
			{name: "CUB stops where the line begins", in: "x\r\nabcdefghijk␛[99D", at: "2,1", screen: "x|abcdefghij|k"},
			{name: "CUB counts the pending wrap", in: "abcdefghij␛[2D", at: "1,9", screen: "abcdefghij"},
			{name: "only with DECAWM", in: "abcdefghijk␛[?7l\b\b", at: "2,1", screen: "abcdefghij|k"},
			{name: "not out of the margins", in: "␛[3;5r␛[2;1Habcdefghijk\b\b\b", at: "3,1", screen: "|abcdefghij|k"},
		}},
		group{name: "CR", source: "ECMA-48 8.3.15", checks: []check{
			{name: "to the first column", in: "␛[3;7H\r", at: "3,1"},
			{name: "also in origin mode", in: "␛[3;5r␛[?6h␛[2;7H\r", at: "4,1"},
			{name: "takes back a pending wrap", in: "␛[1;10Ha\rb", at: "1,2", screen: "b        a"},
		}},
		group{name: "LF, VT and FF", source: "ECMA-48 8.3.74, 161, 51; VT510: VT and FF are LF", before: letters, checks: []check{
			{name: "LF moves down in the column", in: "␛[2;3H\n", at: "3,3", screen: abcdef},
			{name: "VT", in: "␛[2;3H\v", at: "3,3", screen: abcdef},
			{name: "FF", in: "␛[2;3H\f", at: "3,3", screen: abcdef},
			{name: "LF scrolls in the last row", in: "␛[6;3H\n", at: "6,3", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF", history: "AAAAA"},
			{name: "VT scrolls", in: "␛[6;3H\v", at: "6,3", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF", history: "AAAAA"},
			{name: "FF scrolls", in: "␛[6;3H\f", at: "6,3", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF", history: "AAAAA"},
			{name: "at the bottom margin the region scrolls", in: "␛[2;4r␛[4;3H\n", at: "4,3", screen: "AAAAA|CCCCC|DDDDD||EEEEE|FFFFF", history: "-"},
			{name: "into the region does not scroll", in: "␛[3;5r␛[2;3H\n", at: "3,3", screen: abcdef},
			{name: "below the region does not scroll", in: "␛[2;4r␛[6;3H\n", at: "6,3", screen: abcdef, history: "-"},
			{name: "below the region moves", in: "␛[2;4r␛[5;3H\n", at: "6,3", screen: abcdef},
			{name: "LNM: LF goes to the first column", in: "␛[20h␛[2;3H\n", at: "3,1", screen: abcdef},
			{name: "LNM: VT and FF too", in: "␛[20h␛[2;3H\v␛[2C\f", at: "4,1", screen: abcdef},
			{name: "LNM reset", in: "␛[20h␛[20l␛[2;3H\n", at: "3,3", screen: abcdef},
		}},
		group{name: "IND", source: "VT510 IND", before: letters, checks: []check{
			{name: "moves down", in: "␛[2;3H␛D", at: "3,3", screen: abcdef},
			{name: "scrolls in the last row", in: "␛[6;3H␛D", at: "6,3", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF"},
			{name: "scrolls at the bottom margin", in: "␛[2;4r␛[4;3H␛D", at: "4,3", screen: "AAAAA|CCCCC|DDDDD||EEEEE|FFFFF"},
			{name: "stops below the margins", in: "␛[2;4r␛[6;3H␛D", at: "6,3", screen: abcdef},
			{name: "LNM makes no difference", in: "␛[20h␛[2;3H␛D", at: "3,3", screen: abcdef},
		}},
		group{name: "NEL", source: "ECMA-48 8.3.86", before: letters, checks: []check{
			{name: "to the first column of the next row", in: "␛[2;3H␛E", at: "3,1", screen: abcdef},
			{name: "scrolls in the last row", in: "␛[6;3H␛E", at: "6,1", screen: "BBBBB|CCCCC|DDDDD|EEEEE|FFFFF"},
			{name: "scrolls at the bottom margin", in: "␛[2;4r␛[4;3H␛E", at: "4,1", screen: "AAAAA|CCCCC|DDDDD||EEEEE|FFFFF"},
			{name: "stops below the margins", in: "␛[2;4r␛[6;3H␛E", at: "6,1", screen: abcdef},
		}},
		group{name: "RI", source: "ECMA-48 8.3.104", before: letters, checks: []check{
			{name: "moves up", in: "␛[2;3H␛M", at: "1,3", screen: abcdef},
			{name: "scrolls in the first row", in: "␛[1;3H␛M", at: "1,3", screen: "|AAAAA|BBBBB|CCCCC|DDDDD|EEEEE"},
			{name: "scrolls at the top margin", in: "␛[2;4r␛[2;3H␛M", at: "2,3", screen: "AAAAA||BBBBB|CCCCC|EEEEE|FFFFF"},
			{name: "stops above the margins", in: "␛[2;4r␛[1;3H␛M", at: "1,3", screen: abcdef},
			{name: "into the region does not scroll", in: "␛[2;4r␛[5;3H␛M", at: "4,3", screen: abcdef},
			{name: "the new row takes the background", in: "␛[H␛[41m␛M", at: "1,1", screen: "|AAAAA|BBBBB|CCCCC|DDDDD|EEEEE", style: "1,1+10 bg=idx:1"},
		}},
		group{name: "BEL", source: "ECMA-48 8.3.3", checks: []check{
			{name: "rings", in: "\a\a", bell: 2},
			{name: "in the middle of a sequence too", in: "␛[3\a;4H", at: "3,4", bell: 1},
			{name: "ends an OSC without ringing", in: "␛]2;t\a", title: `"t"`},
		}},
	)
}

// TestConformanceMotion is about the control sequences that move the cursor.
func TestConformanceMotion(t *testing.T) {
	const margins = "; VT510: margins"
	conformance(t,
		group{name: "CUU", source: "ECMA-48 8.3.22" + margins, checks: []check{
			{name: "one by default", in: "␛[3;4H␛[A", at: "2,4"},
			{name: "zero is one", in: "␛[3;4H␛[0A", at: "2,4"},
			{name: "several", in: "␛[4;4H␛[2A", at: "2,4"},
			{name: "stops at the first row", in: "␛[3;4H␛[9A", at: "1,4"},
			{name: "however many", in: "␛[3;4H␛[99999999999A", at: "1,4"},
			{name: "stops at the top margin", in: "␛[3;5r␛[4;2H␛[9A", at: "3,2"},
			{name: "stays on the top margin", in: "␛[3;5r␛[3;2H␛[A", at: "3,2"},
			{name: "above the margins to the first row", in: "␛[3;5r␛[2;2H␛[9A", at: "1,2"},
			{name: "from below the margins to the top margin", in: "␛[2;4r␛[6;2H␛[9A", at: "2,2"},
			{name: "origin mode", in: "␛[3;5r␛[?6h␛[3;2H␛[9A", at: "3,2"},
		}},
		group{name: "CUD", source: "ECMA-48 8.3.19" + margins, checks: []check{
			{name: "one by default", in: "␛[3;4H␛[B", at: "4,4"},
			{name: "zero is one", in: "␛[3;4H␛[0B", at: "4,4"},
			{name: "several", in: "␛[3;4H␛[2B", at: "5,4"},
			{name: "stops at the last row", in: "␛[3;4H␛[9B", at: "6,4"},
			{name: "however many", in: "␛[3;4H␛[99999999999B", at: "6,4"},
			{name: "stops at the bottom margin", in: "␛[2;4r␛[3;2H␛[9B", at: "4,2"},
			{name: "stays on the bottom margin", in: "␛[2;4r␛[4;2H␛[B", at: "4,2"},
			{name: "below the margins to the last row", in: "␛[2;4r␛[5;2H␛[9B", at: "6,2"},
			{name: "from above the margins to the bottom margin", in: "␛[2;4r␛[1;2H␛[9B", at: "4,2"},
			{name: "origin mode", in: "␛[2;4r␛[?6h␛[1;2H␛[9B", at: "4,2"},
		}},
		group{name: "CUF", source: "ECMA-48 8.3.20", checks: []check{
			{name: "one by default", in: "␛[3;4H␛[C", at: "3,5"},
			{name: "zero is one", in: "␛[3;4H␛[0C", at: "3,5"},
			{name: "several", in: "␛[3;4H␛[2C", at: "3,6"},
			{name: "stops at the last column", in: "␛[3;4H␛[99C", at: "3,10"},
			{name: "however many", in: "␛[3;4H␛[99999999999C", at: "3,10"},
			{name: "stays in the last column", in: "␛[3;10H␛[C", at: "3,10"},
		}},
		group{name: "CUB", source: "ECMA-48 8.3.18", checks: []check{
			{name: "one by default", in: "␛[3;4H␛[D", at: "3,3"},
			{name: "zero is one", in: "␛[3;4H␛[0D", at: "3,3"},
			{name: "several", in: "␛[3;4H␛[2D", at: "3,2"},
			{name: "stops at the first column", in: "␛[3;4H␛[99D", at: "3,1"},
			{name: "however many", in: "␛[3;4H␛[99999999999D", at: "3,1"},
			{name: "not to the row above", in: "abcdefghijk␛[5D", at: "2,1", screen: "abcdefghij|k"},
		}},
		group{name: "CNL", source: "ECMA-48 8.3.12" + margins, checks: []check{
			{name: "one by default", in: "␛[3;4H␛[E", at: "4,1"},
			{name: "zero is one", in: "␛[3;4H␛[0E", at: "4,1"},
			{name: "several", in: "␛[3;4H␛[2E", at: "5,1"},
			{name: "stops in the last row and does not scroll", in: "x␛[5;4H␛[9E", at: "6,1", screen: "x"},
			{name: "stops at the bottom margin", in: "␛[2;4r␛[3;4H␛[9E", at: "4,1"},
			{name: "below the margins to the last row", in: "␛[2;4r␛[5;4H␛[9E", at: "6,1"},
			{name: "origin mode", in: "␛[2;4r␛[?6h␛[2;4H␛[E", at: "4,1"},
		}},
		group{name: "CPL", source: "ECMA-48 8.3.13" + margins, checks: []check{
			{name: "one by default", in: "␛[3;4H␛[F", at: "2,1"},
			{name: "zero is one", in: "␛[3;4H␛[0F", at: "2,1"},
			{name: "several", in: "␛[4;4H␛[2F", at: "2,1"},
			{name: "stops in the first row and does not scroll", in: "x␛[3;4H␛[9F", at: "1,1", screen: "x"},
			{name: "stops at the top margin", in: "␛[3;5r␛[4;4H␛[9F", at: "3,1"},
			{name: "above the margins to the first row", in: "␛[3;5r␛[2;4H␛[9F", at: "1,1"},
			{name: "origin mode", in: "␛[2;4r␛[?6h␛[2;4H␛[F", at: "2,1"},
		}},
		group{name: "CHA and HPA", source: "ECMA-48 8.3.9, 57", checks: []check{
			{name: "CHA", in: "␛[3;4H␛[7G", at: "3,7"},
			{name: "CHA: one by default", in: "␛[3;4H␛[G", at: "3,1"},
			{name: "CHA: zero is one", in: "␛[3;4H␛[0G", at: "3,1"},
			{name: "CHA: stops at the last column", in: "␛[3;4H␛[99G", at: "3,10"},
			{name: "CHA: however many", in: "␛[3;4H␛[99999999999G", at: "3,10"},
			{name: "CHA: origin mode is about rows", in: "␛[2;4r␛[?6h␛[2;4H␛[7G", at: "3,7"},
			{name: "HPA", in: "␛[3;4H␛[7`", at: "3,7"},
			{name: "HPA: one by default", in: "␛[3;4H␛[`", at: "3,1"},
			{name: "HPA: stops at the last column", in: "␛[3;4H␛[99`", at: "3,10"},
			{name: "HPA: keeps the row in origin mode", in: "␛[2;4r␛[?6h␛[2;4H␛[7`", at: "3,7"},
		}},
		group{name: "HPR", source: "ECMA-48 8.3.59", checks: []check{
			{name: "one by default", in: "␛[3;4H␛[a", at: "3,5"},
			{name: "zero is one", in: "␛[3;4H␛[0a", at: "3,5"},
			{name: "several", in: "␛[3;4H␛[3a", at: "3,7"},
			{name: "stops at the last column", in: "␛[3;4H␛[99a", at: "3,10"},
			{name: "origin mode", in: "␛[2;4r␛[?6h␛[2;4H␛[2a", at: "3,6"},
		}},
		group{name: "VPA", source: "ECMA-48 8.3.158; VT510 VPA", checks: []check{
			{name: "keeps the column", in: "␛[3;4H␛[5d", at: "5,4"},
			{name: "one by default", in: "␛[3;4H␛[d", at: "1,4"},
			{name: "zero is one", in: "␛[3;4H␛[0d", at: "1,4"},
			{name: "stops at the last row", in: "␛[3;4H␛[99d", at: "6,4"},
			{name: "margins do not count", in: "␛[2;4r␛[3;4H␛[6d", at: "6,4"},
			{name: "origin mode", in: "␛[2;4r␛[?6h␛[1;4H␛[2d", at: "3,4"},
			{name: "origin mode stops at the bottom margin", in: "␛[2;4r␛[?6h␛[1;4H␛[99d", at: "4,4"},
		}},
		group{name: "VPR", source: "ECMA-48 8.3.160; xterm: a position, not bound by margins", checks: []check{
			{name: "one by default", in: "␛[3;4H␛[e", at: "4,4"},
			{name: "zero is one", in: "␛[3;4H␛[0e", at: "4,4"},
			{name: "several", in: "␛[3;4H␛[2e", at: "5,4"},
			{name: "stops at the last row", in: "␛[3;4H␛[99e", at: "6,4"},
			{name: "however many", in: "␛[3;4H␛[99999999999e", at: "6,4"},
			{name: "through the bottom margin", in: "␛[2;4r␛[3;4H␛[2e", at: "5,4"},
			{name: "from above the margins", in: "␛[3;4r␛[1;4H␛[9e", at: "6,4"},
			{name: "origin mode", in: "␛[2;5r␛[?6h␛[2;4H␛[2e", at: "5,4"},
			{name: "origin mode stops at the bottom margin", in: "␛[2;4r␛[?6h␛[2;4H␛[9e", at: "4,4"},
		}},
		group{name: "CUP", source: "ECMA-48 8.3.21; VT510 CUP", checks: []check{
			{name: "row and column", in: "␛[3;4H", at: "3,4"},
			{name: "home by default", in: "␛[3;4H␛[H", at: "1,1"},
			{name: "zeros are ones", in: "␛[3;4H␛[0;0H", at: "1,1"},
			{name: "only a row", in: "␛[3;4H␛[5H", at: "5,1"},
			{name: "only a column", in: "␛[3;4H␛[;5H", at: "1,5"},
			{name: "an empty column", in: "␛[3;4H␛[5;H", at: "5,1"},
			{name: "more parameters are ignored", in: "␛[3;4;5;6H", at: "3,4"},
			{name: "stops at the last row", in: "␛[99;4H", at: "6,4"},
			{name: "stops at the last column", in: "␛[3;99H", at: "3,10"},
			{name: "however many", in: "␛[99999999999;99999999999H", at: "6,10"},
			{name: "margins do not count", in: "␛[2;4r␛[6;4H", at: "6,4"},
			{name: "origin mode counts from the top margin", in: "␛[3;5r␛[?6h␛[2;4H", at: "4,4"},
			{name: "origin mode: home", in: "␛[3;5r␛[?6h␛[2;4H␛[H", at: "3,1"},
			{name: "origin mode stops at the bottom margin", in: "␛[3;5r␛[?6h␛[9;4H", at: "5,4"},
		}},
		group{name: "HVP", source: "ECMA-48 8.3.63; VT510 HVP", checks: []check{
			{name: "row and column", in: "␛[3;4f", at: "3,4"},
			{name: "home by default", in: "␛[3;4H␛[f", at: "1,1"},
			{name: "zeros are ones", in: "␛[3;4H␛[0;0f", at: "1,1"},
			{name: "stops at the edges", in: "␛[99;99f", at: "6,10"},
			{name: "origin mode", in: "␛[3;5r␛[?6h␛[2;4f", at: "4,4"},
			{name: "origin mode stops at the bottom margin", in: "␛[3;5r␛[?6h␛[9;4f", at: "5,4"},
		}},
	)
}

// TestConformanceTabs is about tab stops.
func TestConformanceTabs(t *testing.T) {
	conformance(t,
		group{name: "HT", source: "ECMA-48 8.3.60; VT510: stops at every eighth column", size: "3x40", checks: []check{
			{name: "to the next stop", in: "\t", at: "1,9"},
			{name: "from a stop to the next", in: "\t\t", at: "1,17"},
			{name: "from before a stop", in: "␛[1;8H\t", at: "1,9"},
			{name: "writes nothing", in: "abc\r\t", at: "1,9", screen: "abc"},
			{name: "stops at the last column", in: "␛[1;37H\t", at: "1,40"},
			{name: "does not wrap", in: "␛[1;40H\t\t", at: "1,40"},
			{name: "nor behind the last column", in: "␛[1;40Hx\t", at: "1,40+", screen: "                                       x"},
		}},
		group{name: "HTS", source: "ECMA-48 8.3.62", size: "3x40", checks: []check{
			{name: "a stop at the cursor", in: "␛[1;5H␛H\r\t", at: "1,5"},
			{name: "the others stay", in: "␛[1;5H␛H\r\t\t", at: "1,9"},
			{name: "in all rows", in: "␛[2;5H␛H␛[3;1H\t", at: "3,5"},
			{name: "in the first column", in: "␛H␛[1;4H␛[Z", at: "1,1"},
			{name: "in the last column", in: "␛[1;40H␛H\r␛[9I", at: "1,40"},
			{name: "does not move", in: "␛[1;5H␛H", at: "1,5"},
			{name: "DECSTR leaves the stops", in: "␛[1;5H␛H␛[!p\r\t", at: "1,5"},
			{name: "RIS does not", in: "␛[1;5H␛H␛c\t", at: "1,9"},
		}},
		group{name: "TBC", source: "ECMA-48 8.3.154; VT510 TBC: 0 and 3", size: "3x40", checks: []check{
			{name: "the stop at the cursor by default", in: "␛[1;9H␛[g\r\t", at: "1,17"},
			{name: "0", in: "␛[1;9H␛[0g\r\t", at: "1,17"},
			{name: "0 without a stop there", in: "␛[1;8H␛[0g\r\t", at: "1,9"},
			{name: "3: all", in: "␛[3g\t", at: "1,40"},
			{name: "3, then one is set", in: "␛[3g␛[1;6H␛H\r\t", at: "1,6"},
			{name: "others are ignored", in: "␛[1;9H␛[1g␛[2g␛[4g␛[5g\r\t", at: "1,9"},
		}},
		group{name: "CHT", source: "ECMA-48 8.3.10", size: "3x40", checks: []check{
			{name: "one by default", in: "␛[I", at: "1,9"},
			{name: "zero is one", in: "␛[0I", at: "1,9"},
			{name: "several", in: "␛[1;3H␛[2I", at: "1,17"},
			{name: "stops at the last column", in: "␛[99I", at: "1,40"},
			{name: "however many", in: "␛[99999999999I", at: "1,40"},
			{name: "margins do not count", in: "␛[2;3r␛[1;1H␛[2I", at: "1,17"},
		}},
		group{name: "CBT", source: "ECMA-48 8.3.7", size: "3x40", checks: []check{
			{name: "one by default", in: "␛[1;20H␛[Z", at: "1,17"},
			{name: "zero is one", in: "␛[1;20H␛[0Z", at: "1,17"},
			{name: "from a stop to the one before", in: "␛[1;17H␛[Z", at: "1,9"},
			{name: "several", in: "␛[1;20H␛[2Z", at: "1,9"},
			{name: "stops at the first column", in: "␛[1;20H␛[99Z", at: "1,1"},
			{name: "however many", in: "␛[1;20H␛[99999999999Z", at: "1,1"},
			{name: "not to the row above", in: "␛[2;1H␛[Z", at: "2,1"},
			{name: "without stops", in: "␛[3g␛[1;20H␛[Z", at: "1,1"},
		}},
		group{name: "DECST8C", source: "VT510 DECST8C", size: "3x40", checks: []check{
			{name: "stops at every eighth column", in: "␛[3g␛[1;5H␛H␛[?5W\r\t", at: "1,9"},
			{name: "needs its 5", in: "␛[3g␛[?W\r\t", at: "1,40"},
		}},
	)
}

// TestConformanceTabsResized: stops stay where they were, and new columns have the usual ones
// (xterm).
func TestConformanceTabsResized(t *testing.T) {
	for _, c := range []struct {
		name, before string
		cols         []int
		in           string
		col          int // from one
	}{
		{"a stop that was set", "\x1b[1;5H\x1bH", []int{80}, "\r\t", 5},
		{"a stop that was cleared", "\x1b[1;9H\x1b[g", []int{80}, "\r\t", 17},
		{"the usual ones in new columns", "\x1b[1;5H\x1bH", []int{80}, "\x1b[1;42H\t", 49},
		{"all cleared, also in new columns", "\x1b[3g", []int{80}, "\r\t", 80},
		{"narrower and back", "\x1b[1;36H\x1bH", []int{10, 40}, "\x1b[1;34H\t", 36},
	} {
		term := New(3, 40, Options{})
		term.Feed([]byte(c.before))
		for _, cols := range c.cols {
			term.Resize(3, cols, 0, 0)
		}
		term.Feed([]byte(c.in))
		if got := term.Snapshot().Cursor.Col + 1; got != c.col {
			t.Errorf("%s: column %d, want %d", c.name, got, c.col)
		}
	}
}
