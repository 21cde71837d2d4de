// Package journal (no stability promise) keeps recordings of sessions as Unterm does: a log of what
// was printed, a Markdown document made of it, and an index of all of them.
//
// Start with [New] and [Journal.Start]. A recording lies in the session's working directory, in
// .unterm/sessions/<date>/tab-<pane>-<time>.log, where that can be made and nobody else can write, else below the journal's root,
// in sessions/<project>/<date>/ or sessions/_orphan/<date>/. When it ends, by [Journal.Stop], with its session or with the journal,
// the document of the same name with .md is written. All are listed in sessions/index.json below the root, which several servers may
// share.
//
// # The log
//
// One event a line: the time in microseconds of Unix, a tab, what happened, a tab, data in base64. An out is what the program wrote;
// block_prompt, block_input, block_output and block_exit are the shell's marks (OSC 133 A, B, C, D and those of OSC 633), exactly
// where they stood between the bytes. The data of block_output is the command line, where the shell or the screen told it, and that of
// block_exit the status. A mark counts when the session's shell made it, by the engine's judgement: see [engine.MarkTap]. It is
// written when 64 KiB or 100 events wait, or after five seconds.
//
// # Secrets
//
// The log has no secret that the redactor knows: output that may belong to one is written when that is known, with the time that it
// had, so the line under way comes with its end. What was hidden stands there as <redacted>, and a GitHub token as
// <ghp_abcd...redacted>. The document is judged once more, as the text that it is, and then by Unterm's own rules, in Unterm's forms:
// TOKEN= <redacted>, <token:ghp_abcd...redacted>. See rules.go.
//
// # Goroutines
//
// Each recording has one, behind its session (see [record.Behind]), one that completes it when it has ended, which [Journal.Close]
// waits for, and a timer while something waits to be written.
package journal
