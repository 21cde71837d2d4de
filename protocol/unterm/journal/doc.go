// Package journal (no stability promise) keeps recordings of sessions as Unterm does: a log of what
// was printed, a Markdown document made of it, and an index of all of them.
//
// Start with [New] and [Journal.Start]. A recording is in the session's working directory, in
// .unterm/sessions/<date>/tab-<pane>-<time>.log, if that can be made and no other user can write
// there, else below the journal's root, in sessions/<project>/<date>/ or sessions/_orphan/<date>/.
// When it ends, by [Journal.Stop], with its session or with the journal, the document of the same
// name with .md is written. All are listed in sessions/index.json below the root, which several
// servers may share.
//
// # The log
//
// One event a line: the time in microseconds of Unix, a tab, the event, a tab, data in base64. An
// out is output of the program; block_prompt, block_input, block_output and block_exit are the
// shell's marks (OSC 133 A, B, C, D and those of OSC 633), exactly where they were in the output.
// The data of block_output is the command line, if the shell reported it or the screen showed it,
// and that of block_exit the status. Only marks of the session's own shell count, as the engine
// judges: see [engine.MarkTap]. The log is written when 64 KiB or 100 events wait, or after five
// seconds.
//
// # Secrets
//
// The log has no secret that the redactor knows: output that may belong to one is written once that
// is decided, with its original time, so the current line is written when it ends. A secret is
// replaced with <redacted>, and a GitHub token with <ghp_abcd...redacted>. The document is redacted
// once more, as a text, and then by Unterm's own rules, in Unterm's forms: TOKEN= <redacted>,
// <token:ghp_abcd...redacted>. See rules.go.
//
// # Goroutines
//
// Each recording has one, behind its session (see [record.Behind]), one that completes it when it
// has ended, which [Journal.Close] waits for, and a timer while output waits to be written.
package journal
