// A terminal's screen: its rows as they change, and the cursor.

import { fill, row, sized } from './rows.js';

// margin is what a stage has around a screen, in pixels: its padding, and that of the paper.
export const margin = 48;

export class Screen {
  #rows = []; #cursor; #cell = { width: 8, height: 16 }; #last = null; #placed = '';

  // links says that the screen's links are for the keyboard, too.
  constructor(links = false) {
    this.links = links;
    this.first = 0; // number of the first row's line
    this.el = document.createElement('div');
    this.el.className = 'screen';
    this.el.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && e.target.link) { e.preventDefault(); e.target.click(); }
    });
    this.#cursor = document.createElement('div');
    this.#cursor.className = 'cursor';
    this.#cursor.hidden = true;
    this.#cursor.setAttribute('aria-hidden', 'true');
    this.el.append(this.#cursor);
    this.size = { rows: 24, cols: 80 };
  }

  // zoom sets the size of the text, in pixels.
  zoom(px) {
    this.#cell = sized(this.el, px);
    this.#extent();
    if (this.#last) this.#place(this.#last);
  }

  get cell() { return this.#cell; }
  get rows() { return this.#rows; }

  #extent() {
    this.el.style.width = `${this.size.cols * this.#cell.width}px`;
    this.el.style.height = `${this.size.rows * this.#cell.height}px`;
  }

  // clear takes away what is shown: it was another session's.
  clear() {
    for (const r of this.#rows) r.remove();
    this.#rows = [];
    this.still();
    this.el.classList.remove('reverse');
  }

  // still says that what is shown is the last of it.
  still() {
    this.#last = null;
    this.#placed = '';
    this.#cursor.hidden = true;
  }

  // draw shows a frame: all rows of it, or those that have moved and changed.
  draw(frame) {
    if (frame.full) {
      this.size = frame.size;
      for (const r of this.#rows) r.remove();
      this.#rows = Array.from({ length: frame.size.rows }, row);
      this.el.append(...this.#rows);
      this.#extent();
    }
    if (frame.moved) {
      const gone = this.#rows.splice(0, frame.moved);
      for (const r of gone) fill(r, {});
      this.el.append(...gone);
      this.#rows.push(...gone);
    }
    this.first = frame.first_line ?? 0;
    for (const line of frame.rows) {
      if (this.#rows[line.row]) fill(this.#rows[line.row], line, this.links);
    }
    this.el.classList.toggle('reverse', frame.modes.reverse_video);
    this.#last = { ...frame.cursor, visible: frame.cursor.visible && !frame.exit };
    this.#place(this.#last);
  }

  // place puts the cursor where it is not yet.
  #place({ row: y, col, visible, style }) {
    const c = this.#cursor, place = [y, col, visible, style, this.#cell.width, this.#cell.height].join();
    if (place === this.#placed) return;
    this.#placed = place;
    c.hidden = !visible;
    if (!visible) return;
    c.style.left = `${col * this.#cell.width}px`;
    c.style.top = `${y * this.#cell.height}px`;
    c.dataset.shape = style === 3 || style === 4 ? 'underline' : style > 4 ? 'bar' : 'block';
    c.classList.toggle('blink', style % 2 === 1);
  }

  // at returns the cell under a point of the window; outside it is the nearest.
  at(x, y) {
    const box = this.el.getBoundingClientRect();
    const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
    return {
      row: clamp(Math.floor((y - box.top) / this.#cell.height), this.size.rows),
      col: clamp(Math.floor((x - box.left) / this.#cell.width), this.size.cols),
    };
  }
}
