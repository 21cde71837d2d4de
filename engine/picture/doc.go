// Package picture (no stability promise) draws a [vt.Screen]: [Draw] as PNG, SVG, HTML or ANSI
// text, [Animate] several as a moving SVG, GIF or WebP, [Tiles] several as one PNG, [Window] one as a
// PNG of another program's window.
//
// It hides nothing: hide secrets before, with record.Mask of package engine/record, and set
// [Options].Clean for titles and links, which a mask does not reach. Pictures are bounded, see [ErrTooLarge].
package picture

import "errors"

// ErrTooLarge: a picture, or its source, exceeds its bound.
var ErrTooLarge = errors.New("is too large")
