// The painter draws small screens, all of them in the browser's frames and no more of them in one than
// there is time for, so that the page stays smooth however many change: they get fewer frames instead.

// share is how long the drawing of a frame, its layout and paint included, may take, in milliseconds:
// half of a frame at 60 Hz.
const share = 8;

export class Painter {
  #waiting = []; #quota = 4; #asked = false; #began = 0; #after = new MessageChannel();

  constructor() {
    // What is posted in a frame arrives when it has been drawn.
    this.#after.port1.onmessage = () => {
      const took = performance.now() - this.#began;
      if (took > share) this.#quota = Math.max(1, Math.floor(this.#quota * share / took));
      else if (took < share / 2) this.#quota++;
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
      this.#began = performance.now();
      for (const draw of this.#waiting.splice(0, this.#quota)) draw();
      this.#quota = Math.min(this.#quota, 64);
      this.#after.port2.postMessage(null);
      this.#ask();
    });
  }
}
