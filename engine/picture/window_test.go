package picture

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

// TestWindow: the picture has the size that the measures give, its buttons, corners and cells are
// where they say.
func TestWindow(t *testing.T) {
	base := [16]uint32{1: 0xcd3131, 15: 0xffffff}
	o := WindowOptions{
		Scale: 2, CellWidth: 8.4, CellHeight: 17, Left: 16, Right: 16, Top: 44, Bottom: 12, Radius: 10,
		Buttons: []Button{{X: 20, Y: 18, Radius: 6, RGB: 0xff5f57}}, Theme: NewTheme(0xabb2bf, 0x282c34, base, 51),
	}
	term := vt.New(10, 81, vt.Options{})
	term.Feed([]byte("\x1b[10;81H\x1b[48;5;21m \x1b[1;1H\x1b[41m "))
	b, err := Window(term.Snapshot(), o)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if d := img.Bounds().Size(); d.X != 1425 || d.Y != 452 { // 2 * (81*8.4 + 32), rounded, and 2 * (170 + 56)
		t.Errorf("the picture has %v pixels", d)
	}
	for at, want := range map[[2]int]color.RGBA{
		{0, 0}: {}, {1424, 451}: {}, {40, 36}: rgb(0xff5f57), {700, 36}: rgb(0x282c34), {40, 100}: rgb(base[1]),
		{1384, 410}: {0, 0, 255, 255}, {700, 440}: rgb(0x282c34),
	} {
		got := color.RGBAModel.Convert(img.At(at[0], at[1])).(color.RGBA)
		if got != want {
			t.Errorf("at %v is %v, want %v", at, got, want)
		}
	}
	var large *SizeError
	if _, err := Window(vt.New(1000, 1000, vt.Options{}).Snapshot(), o); !errors.As(err, &large) {
		t.Errorf("a screen of a million cells: %v", err)
	}
}
