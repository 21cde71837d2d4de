// Package record (no stability promise) keeps what a session shows: as an asciicast that can be
// played again, as a picture of one screen, and as a Markdown transcript.
//
//   - [NewCast] is an [engine.Tap] that writes asciicast v2 or v3; [Load] reads v1, v2 and v3, and a [Replay] shows the
//     screen at any time of it.
//   - [PNG], [SVG], [HTML] and [ANSI] draw a [vt.Screen], [Tiles] several of them; [WriteFile] puts the result into a file.
//   - [Markdown] writes a [Document], and [NewTranscript] is the tap that writes one while the session runs: a section for each
//     block of an [engine.BlockReader].
//
// What is written to files is redacted unless the caller says otherwise; the functions that draw a screen draw what
// they are given, so it is masked before ([vt.Screen.Mask]). Everything is bounded: files, lines, pictures, held text.
// The package starts no goroutine and no timer.
package record
