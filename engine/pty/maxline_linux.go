package pty

// MaxLine is how many bytes of a line, without its end, a terminal in canonical mode keeps; it
// silently drops the rest. Linux: N_TTY_BUF_SIZE of 4,096 less one for the end of line.
const MaxLine = 4095
