package pty

// MaxLine is how many bytes of a line, without its end, a terminal in canonical mode keeps; it
// silently drops the rest. macOS: MAX_CANON of 1,024 less one for the end of line.
const MaxLine = 1023
