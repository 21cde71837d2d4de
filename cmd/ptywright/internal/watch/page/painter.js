// The painter draws small screens, many in one of the browser's frames and none in the frames
// after, so that the page stays smooth however many of them change and however busy the machine is:
// the small screens get fewer frames instead.

// So many frames after one with screens show what it cost: what was drawn is laid out and painted
// meanwhile, and put on the display. The frames after those show how even frames are without.
const settle = 4;
// For each millisecond by which frames are late after one with screens, so many pass without any.
// So the page loses one frame in eight at most.
const price = 7;
// A debt is so many milliseconds at most, since a machine that hangs for a moment is no reason to
// hang for longer, and credit, for frames that came early by chance, so many.
const mostDebt = 2000, mostCredit = 200;
// After a longer pause between two frames, in milliseconds, the page was hidden or the machine
// slept.
const asleep = 1000;
// How fast what is known of frames without screens follows the latest, as a share of it.
const pace = 1 / 16;
// As many screens are drawn in a frame as fit into this part of the time that an even frame takes: the
// rest is the browser's, to put them on the display. Where not even the least would fit, as on a busy
// machine, as many are drawn as keep the page busy for so many milliseconds, which a person hardly
// feels: late as such a frame is, it is worth its price then.
const share = 0.6, least = 8, most = 40, busy = 60;

export class Painter {
  #waiting = []; #asked = false; #resting = true; #last = 0; #debt = 0;
  #after = settle + 1; // frames since the last with screens
  #even = 1000 / 60; // milliseconds of a frame without
  #quota = least; #drawn = 0; // screens in the next frame and in the last
  #each = 1; // milliseconds that the page is busy with one
  #began = 0; #done = new MessageChannel();

  // request calls a function in the browser's next frame, with its time in milliseconds.
  constructor(request = (f) => requestAnimationFrame(f)) {
    this.request = request;
    // What is posted in a frame arrives when the page has done its part of it.
    this.#done.port1.onmessage = () => this.#learn(performance.now() - this.#began);
  }

  // paint resolves when draw has been called, in a frame; ahead puts it before those that wait. No
  // frames come while the page is hidden.
  paint(draw, ahead = false) {
    return new Promise((resolve, reject) => {
      this.#waiting[ahead ? 'unshift' : 'push'](() => {
        try { resolve(draw()); } catch (e) { reject(e); }
      });
      this.#ask();
    });
  }

  #ask() {
    if (this.#asked) return;
    this.#asked = true;
    this.request((now) => {
      this.#asked = false;
      this.#frame(now);
    });
  }

  #frame(now) {
    this.#count(now - this.#last);
    this.#last = now;
    if (this.#waiting.length && this.#after > settle && this.#debt <= 0) this.#draw();
    this.#resting = !this.#waiting.length && this.#after > settle;
    if (!this.#resting) this.#ask();
  }

  // count takes the time since the frame before, or since the last that was asked for.
  #count(took) {
    this.#after++;
    if (this.#resting || took > asleep) this.#debt -= took;
    else if (this.#after <= settle) this.#debt += price * (took - this.#even);
    else {
      this.#even += pace * (took - this.#even);
      this.#debt -= took;
    }
    this.#debt = Math.max(-mostCredit, Math.min(mostDebt, this.#debt));
  }

  #draw() {
    this.#after = 0;
    this.#began = performance.now();
    const now = this.#waiting.splice(0, this.#quota);
    this.#drawn = now.length;
    for (const draw of now) draw();
    this.#done.port2.postMessage(null);
  }

  // learn takes how long the page was busy with the screens of a frame, and finds how many there should
  // be in the next. Few say little of many.
  #learn(took) {
    if (this.#drawn < least) return;
    this.#each += (took / this.#drawn - this.#each) / 4;
    const fit = share * this.#even / this.#each;
    this.#quota = Math.max(least, Math.min(most, Math.floor(fit < least ? busy / this.#each : fit)));
  }
}
