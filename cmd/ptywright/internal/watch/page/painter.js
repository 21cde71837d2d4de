// The painter draws small screens, all of them in the browser's frames and no more of them in one than
// there is time for, so that the page stays smooth however many change: they get fewer frames instead.

// share is how long the drawing of a frame, its layout and paint included, should take at most, in
// milliseconds, so that hardly one is missed at 60 Hz.
const share = 12;
// After a frame with tiles the browser has this many times as long for others, and for whoever types.
const rest = 2;
// Tiles that are drawn in a frame: fewer than the least make it hardly shorter, as the most of it goes to
// the page as a whole, and more than the most are not asked for at once.
const least = 4, most = 40;

export class Painter {
  #waiting = []; #quota = least; #asked = false; #began = 0; #free = 0; #after = new MessageChannel();

  constructor() {
    // What is posted in a frame arrives when it has been drawn.
    this.#after.port1.onmessage = () => {
      const now = performance.now(), took = now - this.#began;
      this.#free = now + rest * took;
      if (took > share) this.#quota = Math.max(least, Math.floor(this.#quota * share / took));
      else if (took < share / 2) this.#quota = Math.min(most, this.#quota + 1);
    };
  }

  // paint resolves when draw has been called, in a frame. It is never while the page is hidden.
  paint(draw) {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try { resolve(draw()); } catch (e) { reject(e); }
      });
      this.#ask();
    });
  }

  #ask() {
    if (this.#asked || !this.#waiting.length) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (performance.now() >= this.#free) {
        this.#began = performance.now();
        for (const draw of this.#waiting.splice(0, this.#quota)) draw();
        this.#after.port2.postMessage(null);
      }
      this.#ask();
    });
  }
}
