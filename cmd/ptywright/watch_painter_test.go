//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// painting runs the page's painter in frames of a clock of its own: each takes `frame` milliseconds, by
// turns one of a list, and the one after a frame with screens `cost` more. Forty screens want to be drawn
// all the time.
const painting = `(async (frame, cost) => {
	const { Painter } = await import('/painter.js');
	const asked = [], drawn = Array(40).fill(0), longest = { pause: 0 };
	let now = 1000, frames = 0, even = 0, with_ = false, last = now, painted = 0;
	const painter = new Painter((f) => asked.push(f));
	const want = (i) => painter.paint(() => {
		drawn[i]++;
		with_ = true;
		longest.pause = Math.max(longest.pause, now - last);
		last = now;
	}).then(() => want(i));
	drawn.forEach((_, i) => want(i));
	for (; frames < 6000 && asked.length === 1; frames++) {
		const took = frame[frames %% frame.length];
		even += took;
		now += took + (with_ ? cost : 0);
		painted += with_;
		with_ = false;
		asked.pop()(now);
		for (let i = 0; i < 4; i++) await null; // what has been drawn wants to be again
	}
	return { frames, painted, share: even / (now - 1000), drawn, pause: longest.pause };
})(%s, %d)`

// TestWatchPaintsInTheTimeThereIs: however much the drawing of small screens delays the page's frames,
// seven in eight of them come in time, every screen is drawn in its turn, and none waits for long; where it
// delays nothing, on a busy machine too, each third frame has some.
func TestWatchPaintsInTheTimeThereIs(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := watchedServer(t)
	p := b.open(w.address)
	p.until(`document.querySelector('#grid-empty code')`)
	for _, x := range []struct {
		name, frames string
		cost         int
		share        float64 // of the frames' time, that there is without screens
		each         float64 // frames for one that has screens, at most
		pause        float64 // between those, in milliseconds
	}{
		{"it costs nothing", "[16]", 0, 1, 5.1, 100},
		{"it costs nothing on a busy machine", "[10, 60, 16, 90, 16, 16]", 0, 1, 16, 1000},
		{"it costs a frame", "[16]", 16, 0.87, 14, 250},
		{"it costs much", "[16]", 120, 0.87, 62, 1300},
		{"it costs more than can be paid", "[16]", 900, 0.65, 150, 3200},
	} {
		data, _ := json.Marshal(p.eval(fmt.Sprintf(painting, x.frames, x.cost)))
		var got struct {
			Frames, Painted, Share, Pause float64
			Drawn                         []float64
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		least, most, each := slices.Min(got.Drawn), slices.Max(got.Drawn), got.Frames/got.Painted
		if got.Share < x.share || each > x.each || got.Pause > x.pause || most-least > 1 {
			t.Errorf("%s: %.2f of the frames are in time, one in %.1f has screens, %.0f ms between them at most, %v to %v times each",
				x.name, got.Share, each, got.Pause, least, most)
		}
	}

	// What somebody looks at is drawn first; a page that was hidden does not pay for that.
	order := p.eval(`(async () => {
		const { Painter } = await import('/painter.js');
		const asked = [], order = [];
		const painter = new Painter((f) => asked.push(f));
		for (let i = 0; i < 10; i++) painter.paint(() => order.push(i));
		painter.paint(() => order.push('chosen'), true);
		asked.pop()(100);
		asked.pop()(3_600_000);
		for (let n = 1; asked.length; n++) asked.pop()(3_600_000 + 16 * n);
		return order.join() + ', asks for frames: ' + asked.length;
	})()`)
	if want := "chosen,0,1,2,3,4,5,6,7,8,9, asks for frames: 0"; order != want {
		t.Errorf("drawn are %v, not %s", order, want)
	}
	b.quiet()
}
