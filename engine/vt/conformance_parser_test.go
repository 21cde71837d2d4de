package vt

import (
	"strings"
	"testing"
)

// TestConformanceParser is about what is a sequence, and what becomes of one that is broken off or
// not known.
func TestConformanceParser(t *testing.T) {
	conformance(t,
		group{name: "CAN and SUB", source: "ECMA-48 8.3.6, 148; DEC STD 070 3.5.4.4: they end a sequence", checks: []check{
			{name: "CAN in CSI", in: "␛[3\x18Hx", at: "1,3", screen: "Hx"},
			{name: "SUB in CSI", in: "␛[3\x1aHx", at: "1,3", screen: "Hx"},
			{name: "CAN behind ESC", in: "␛\x18[Hx", screen: "[Hx"},
			{name: "CAN in SCS", in: "␛(\x180q", screen: "0q"},
			{name: "CAN in CSI that is void", in: "␛[3?\x18Hx", screen: "Hx"},
			{name: "CAN in OSC", in: "␛]2;t\a␛]2;a\x18x", screen: "x", title: `"t"`},
			{name: "SUB in OSC", in: "␛]2;t\a␛]2;a\x1ax", screen: "x", title: `"t"`},
			{name: "CAN in DCS", in: "␛P$qm\x18x␛\\", screen: "x"},
			{name: "CAN in the head of DCS", in: "␛P1$\x18x", screen: "x"},
			{name: "CAN in APC", in: "␛_a\x18x", screen: "x"},
			{name: "alone they show nothing", in: "a\x18b\x1ac", screen: "abc"},
		}},
		group{name: "controls inside of CSI", source: "DEC STD 070 3.5.4.3: executed as if in front", checks: []check{
			{name: "BS", in: "ab␛[\b3Cx", at: "1,6", screen: "ab  x"},
			{name: "CR", in: "ab␛[3\rCx", at: "1,5", screen: "ab x"},
			{name: "LF", in: "ab␛[\n2Dx", at: "2,2", screen: "ab|x"},
			{name: "VT", in: "ab␛[2\vDx", at: "2,2", screen: "ab|x"},
			{name: "HT", in: "␛[\t2Dx", at: "1,8", screen: "      x"},
			{name: "SO", in: "␛)0␛[\x0eCq", screen: " ─"},
			{name: "behind an intermediate", in: "ab␛[4 \rqx", screen: "xb"},
			{name: "in one that is void", in: "ab␛[3?\rCx", screen: "xb"},
			{name: "behind ESC", in: "ab␛\r[Cx", screen: "ax"},
			{name: "NUL and DEL are ignored", in: "␛\x00[\x003\x7f;\x004\x7fHx", at: "3,5", screen: "||   x"},
		}},
		group{name: "ESC", source: "DEC STD 070 3.5.4.4: begins anew", checks: []check{
			{name: "in CSI", in: "␛[3␛[2;2Hx", at: "2,3", screen: "| x"},
			{name: "behind ESC", in: "␛␛[2;2Hx", at: "2,3", screen: "| x"},
			{name: "in SCS", in: "␛(␛[2;2Hq", at: "2,3", screen: "| q"},
			{name: "ends OSC without effect", in: "␛]2;t\a␛]2;a␛[2;2Hx", screen: "| x", title: `"t"`},
			{name: "ends DCS without effect", in: "␛P$qm␛[2;2Hx", screen: "| x"},
			{name: "ends APC", in: "␛_a␛[2;2Hx", screen: "| x"},
			{name: "ST alone", in: "␛\\x", screen: "x"},
		}},
		group{name: "parameters", source: "ECMA-48 5.4.2", checks: []check{
			{name: "leading zeros", in: "␛[0003;0000000000004H", at: "3,4"},
			{name: "empty ones are the default", in: "␛[3;3H␛[;H", at: "1,1"},
			{name: "more than are kept", in: "␛[3;4" + strings.Repeat(";9", 100) + "H", at: "3,4"},
			{name: "none that is kept is lost among many", in: "␛[" + strings.Repeat("0;", 15) + "1mx", screen: "x", style: "1,1+1 bold"},
			{name: "as large as they come", in: "␛[" + strings.Repeat("9", 1000) + "B", at: "6,1"},
			{name: "around 2^16, 2^31, 2^32, 2^63", in: "␛[65536C␛[2147483648D␛[4294967297B␛[9223372036854775808A", at: "1,1"},
		}},
		group{name: "sub-parameters", source: "ECMA-48 5.4.2; xterm, ghostty: only in SGR", checks: []check{
			{name: "CUP", in: "␛[2;2H␛[3:4H", at: "2,2"},
			{name: "CUU", in: "␛[2;2H␛[1:1A", at: "2,2"},
			{name: "an empty one", in: "␛[2;2H␛[:A", at: "2,2"},
			{name: "ED", in: "abc␛[2:0J", screen: "abc"},
			{name: "DECSET", in: "␛[?2004:1h␛[?2004$p", reply: "␛[?2004;2$y"},
			{name: "DECSTBM", in: "␛[2;2H␛[2:4r", at: "2,2"},
			{name: "with an intermediate", in: "␛[4:1 q␛P$q q␛\\", reply: "␛P1$r0 q␛\\"},
			{name: "the next sequence is not touched", in: "␛[3:4H␛[3;4H", at: "3,4"},
		}},
		group{name: "not known", source: "ECMA-48 5.4, 5.5: reserved; ignored whole", before: "ab␛[2;2H", checks: []check{
			{name: "final bytes", in: "␛[1;2y␛[5o␛[1v␛[1~␛[1|x", at: "2,3", screen: "ab| x"},
			{name: "private prefixes", in: "␛[?5A␛[>5H␛[<3B␛[=2C␛[>2J␛[?2Lx", at: "2,3", screen: "ab| x"},
			{name: "intermediates", in: "␛[5!A␛[2\"J␛[2$J␛[3 H␛[1'A␛[1#Ax", at: "2,3", screen: "ab| x"},
			{name: "several intermediates", in: "␛[1 !\"#$p␛[ !px", at: "2,3", screen: "ab| x"},
			{name: "a prefix with an intermediate", in: "␛[?!p␛[> qx", at: "2,3", screen: "ab| x"},
			{name: "a prefix behind a parameter", in: "␛[5?h␛[2>J␛[2?Jx", at: "2,3", screen: "ab| x"},
			{name: "two prefixes", in: "␛[??2J␛[>?2J␛[?>cx", at: "2,3", screen: "ab| x"},
			{name: "a parameter behind an intermediate", in: "␛[ 5q␛[!2px", at: "2,3", screen: "ab| x"},
			{name: "escape sequences", in: "␛Q␛a␛~␛1x", at: "2,3", screen: "ab| x"},
			{name: "escape sequences with intermediates", in: "␛%G␛%@␛ F␛#9␛!a␛\"a␛$(Bx", at: "2,3", screen: "ab| x"},
			{name: "many intermediates", in: "␛( ( (0x␛ !\"#$%&'0y", at: "2,4", screen: "ab| xy"},
		}},
		group{name: "strings nobody wants", source: "ECMA-48 5.6, 8.3.2, 94, 143", checks: []check{
			{name: "APC", in: "␛_abc␛\\x", screen: "x"},
			{name: "PM", in: "␛^abc␛\\x", screen: "x"},
			{name: "SOS", in: "␛Xabc␛\\x", screen: "x"},
			{name: "DCS", in: "␛P1;2|abc␛\\x", screen: "x"},
			{name: "sixel", in: "␛P0;1q\"1;1;1;1#0~~␛\\x", screen: "x"},
			{name: "BEL does not end them", in: "␛_a\ax␛\\y", screen: "y"},
			{name: "controls inside do nothing", in: "␛_a\r\n\t\b␛\\x", at: "1,2", screen: "x"},
			{name: "empty", in: "␛_␛\\␛^␛\\␛X␛\\␛P␛\\x", screen: "x"},
			{name: "Unicode inside", in: "␛_日本␛\\␛P日␛\\x", screen: "x"},
		}},
		group{name: "C1", source: "kitty: with UTF-8 only the 7-bit forms are controls", checks: []check{
			{name: "CSI as a character", in: "\u009b3;4Hx", screen: "3;4Hx"},
			{name: "IND, NEL, HTS, RI as characters", in: "a\u0084\u0085\u0088\u008db", at: "1,3", screen: "ab"},
			{name: "OSC and ST as characters", in: "\u009d2;t\u009c", screen: "2;t"},
			{name: "as bytes they are not UTF-8", in: "\x9b3;4H", screen: "\ufffd3;4H"},
			{name: "ST as a byte does not end a string", in: "␛_a\x9cx␛\\y", screen: "y"},
			{name: "a character in the middle of CSI breaks it off", in: "␛[3é;4H", screen: "é;4H"},
		}},
		group{name: "the other controls", source: "ECMA-48 8.2; ignored", checks: []check{
			{name: "NUL", in: "a\x00b", at: "1,3", screen: "ab"},
			{name: "DEL", in: "a\x7fb", at: "1,3", screen: "ab"},
			{name: "all without a meaning", in: "a\x01\x02\x03\x04\x06\x10\x11\x12\x13\x14\x15\x16\x17\x19\x1c\x1d\x1e\x1fb", at: "1,3", screen: "ab"},
		}},
	)
}
