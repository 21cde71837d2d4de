// Scrollback above the screen that is shown. Lines count from the oldest that there ever was.

import { fill, row, sized } from './rows.js';
import { $, make, pause, toast } from './ui.js';

const chunk = 400; // lines that are asked for at once
// Lines that are shown at most: an older one is reached by what is recorded, not by this page.
const most = 50_000;

export class Scrollback {
  #first = 0; #next = 0; #reading = false; #asking = null; #wanted = null; #dropped = 0; #px = 14;

  // call asks for lines. screen is below them in the stage.
  constructor(stage, screen, call) {
    Object.assign(this, { stage, screen, call });
    this.el = $('term-lines');
    stage.addEventListener('scroll', () => {
      if (stage.scrollTop < 40 && this.#reading) this.older();
      if (this.atBottom() && this.#reading && !this.#asking) this.forget(); // not while its lines come
    });
  }

  get reading() { return this.#reading; }

  zoom(px) { sized(this.el, this.#px = px); }

  atBottom() {
    const { scrollTop, clientHeight, scrollHeight } = this.stage;
    return scrollTop + clientHeight >= scrollHeight - 4;
  }

  bottom() { this.stage.scrollTop = this.stage.scrollHeight; }

  latest() {
    if (this.#reading) this.forget();
    this.bottom();
  }

  forget() {
    this.#reading = false;
    this.el.replaceChildren();
    this.stage.classList.remove('reading');
  }

  // lines returns those from one on, before the screen, and the number behind the last that there is.
  async #lines(from, count) {
    const start = Math.max(0, from - this.#dropped);
    const r = await this.call('scrollback', { start, count });
    this.#dropped = r.dropped;
    const end = r.total + r.dropped - this.screen.size.rows; // the screen's rows come last
    const rows = (r.rows ?? []).slice(0, Math.max(0, end - r.start - r.dropped));
    return { start: r.start + r.dropped, rows, end };
  }

  // block makes an element of some lines: what is out of sight of it is not laid out.
  #block(lines) {
    const e = make('div', 'lines');
    e.style.containIntrinsicBlockSize = `calc(var(--ch) * ${lines.length})`;
    e.append(...lines.map((line) => {
      const r = row();
      fill(r, line, true);
      return r;
    }));
    return e;
  }

  // one runs what asks for lines, one at a time: what cannot be now is not done, or waits for its turn.
  async #one(ask, waits = false) {
    while (this.#asking) {
      if (!waits) return;
      await this.#asking;
    }
    let done;
    this.#asking = new Promise((resolve) => { done = resolve; });
    try {
      await ask();
    } catch (e) {
      if (e.reason !== 'cancelled') toast(e.message);
    } finally {
      this.#asking = null;
      done();
    }
  }

  // begin finds where the scrollback ends, and returns whether there is any.
  async #begin() {
    if (this.#reading) return true;
    const probe = await this.call('scrollback', { count: 1 });
    this.#dropped = probe.dropped;
    this.#first = this.#next = probe.dropped + probe.total - this.screen.size.rows;
    if (this.#first <= probe.dropped) return false;
    this.#reading = true;
    this.stage.classList.add('reading');
    return true;
  }

  // prepend shows the lines from one on that are missing above.
  async #prepend(from) {
    while (this.#reading && from < this.#first) {
      const at = Math.max(from, this.#first - chunk);
      const { start, rows } = await this.#lines(at, this.#first - at);
      if (!this.#reading || start >= this.#first || !rows.length) return;
      const height = this.stage.scrollHeight, top = this.stage.scrollTop;
      this.el.prepend(this.#block(rows));
      this.#first = start;
      this.stage.scrollTop = top + this.stage.scrollHeight - height;
    }
  }

  // older shows what comes before what is shown, and the beginning of it at once.
  older() {
    return this.#one(async () => {
      const bottom = this.atBottom(), top = this.stage.scrollTop === 0;
      if (!await this.#begin()) { toast('There is no scrollback.'); return; }
      if (this.#next - this.#first >= most) return;
      const before = this.stage.scrollTop;
      await this.#prepend(Math.max(this.#dropped, this.#first - chunk));
      const grown = this.stage.scrollTop - before;
      if (top || bottom) this.stage.scrollTop -= Math.min(grown, this.stage.clientHeight * 0.8);
    });
  }

  // newer adds what has left the screen since, while older lines are read.
  newer() {
    return this.#one(async () => {
      const { start, rows, end } = await this.#lines(this.#next, chunk);
      if (!this.#reading || start > this.#next && !rows.length) return;
      if (rows.length) this.el.append(this.#block(rows));
      this.#next = Math.min(start + rows.length, end);
      await pause(200);
    });
  }

  // row returns the row of a line; null when it is not shown.
  row(line) {
    if (line >= this.screen.first) return this.screen.rows[line - this.screen.first] ?? null;
    return this.#reading ? this.el.querySelectorAll('.row')[line - this.#first] ?? null : null;
  }

  // show brings a line into sight, and returns its row; null when it is not there any more, or too far
  // up.
  async show(line) {
    const wanted = this.#wanted = {};
    let found = null;
    await this.#one(async () => {
      if (this.#wanted !== wanted) return; // another line is, by now
      if (line < this.screen.first) {
        if (!await this.#begin() || this.#next - line > most) return;
        await this.#prepend(line);
      }
      found = this.row(line);
      found?.scrollIntoView({ block: 'center' });
    }, true);
    return found;
  }
}
