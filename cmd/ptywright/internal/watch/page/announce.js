// What changes on the screen, said to who listens to it: only when that is asked for.

import { $ } from './ui.js';

// So many milliseconds are between two announcements, and so many rows and characters in one: more is
// not listened to.
const rest = 1500, mostRows = 8, mostChars = 600;

export class Announcer {
  #on = false; #timer = 0; #rows = new Set();

  constructor(screen) {
    this.screen = screen;
    const button = $('term-announce');
    button.onclick = () => {
      this.#on = !this.#on;
      button.setAttribute('aria-pressed', String(this.#on));
      if (!this.#on) this.clear();
    };
  }

  // clear forgets what was not said yet.
  clear() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#rows.clear();
    $('announcer').textContent = '';
  }

  // saw takes a frame that has been drawn. The whole screen is not said.
  saw(frame) {
    if (!this.#on || frame.full) return;
    for (const { row } of frame.rows) this.#rows.add(this.screen.rows[row]);
    if (!this.#rows.size || this.#timer) return;
    this.#timer = setTimeout(() => {
      const said = [...this.#rows].map((r) => r.textContent.trim()).filter(Boolean).slice(-mostRows);
      this.#timer = 0;
      this.#rows.clear();
      $('announcer').textContent = said.join('\n').slice(-mostChars);
    }, rest);
  }
}
