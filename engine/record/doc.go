// Package record (no stability promise) keeps what a session shows, as an asciicast that can be
// played again or as a Markdown transcript. [NewCast] makes a tap of a session, whose recording
// is whole once the session is closed:
//
//	cast, err := record.NewCast("demo.cast", record.CastOptions{Rows: 24, Cols: 80})
//	s, err := e.Spawn(ctx, engine.Config{Program: "make", Taps: []engine.Tap{cast}})
//
// [Load] reads asciicast v1, v2 and v3, and a [Replay] shows the screen at any time of it.
//
//   - [Markdown] writes a [Document], and [NewTranscript] is the tap that writes one while the
//     session runs: a section for each block of an [engine.BlockReader].
//   - [WriteFile] writes a file whole or not at all.
//
// What is written is redacted unless the caller says otherwise. Everything is bounded: files,
// lines, held text. Its one goroutine is that of [Behind], which writes for a tap that may block.
package record
