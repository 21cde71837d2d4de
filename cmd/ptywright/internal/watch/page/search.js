// Search in the scrollback and the screen of the session that is shown.

import { $ } from './ui.js';

export class Search {
  #matches = []; #at = -1; #asked = ''; #total = 0; #abort = null;

  // call asks the server, scroll shows a line, and left is called when the search has ended.
  constructor(call, scroll, left) {
    Object.assign(this, { call, scroll, left });
    this.bar = $('search-bar');
    this.input = $('search-input');
    $('search-next').onclick = () => this.step(1);
    $('search-previous').onclick = () => this.step(-1);
    $('search-close').onclick = () => this.close();
    this.bar.addEventListener('keydown', (e) => {
      if (e.key === 'Escape') this.close();
      else if (e.key === 'Enter' && e.target === this.input) this.step(e.shiftKey ? 1 : -1);
      else return;
      e.preventDefault();
      e.stopPropagation();
    });
    this.input.addEventListener('input', () => this.#find());
  }

  open() {
    this.bar.hidden = false;
    $('term-search').setAttribute('aria-expanded', 'true');
    this.input.focus();
    this.input.select();
    if (this.input.value) this.#find();
  }

  close() {
    if (this.bar.hidden) return;
    this.#abort?.abort();
    this.#mark(null);
    this.#asked = '';
    this.bar.hidden = true;
    $('term-search').setAttribute('aria-expanded', 'false');
    this.left();
  }

  // step goes to the next match, down the lines, or to the one before. The first is the newest.
  async step(by) {
    if (this.#asked !== this.input.value) { await this.#find(); return; }
    const n = this.#matches.length;
    if (n) await this.#show((this.#at + by + n) % n);
  }

  async #find() {
    const text = this.#asked = this.input.value;
    this.#abort?.abort();
    const abort = this.#abort = new AbortController();
    this.#mark(null);
    this.#matches = [];
    if (!text) { this.#count(''); return; }
    try {
      const { matches, total, dropped } = await this.call('search', { text }, abort.signal);
      if (abort.signal.aborted) return;
      this.#matches = matches.map((m) =>
        ({ ...m, line: m.line + dropped, end_line: m.end_line + dropped }));
      this.#total = total;
      if (!matches.length) { this.#count('No match'); return; }
      await this.#show(matches.length - 1);
    } catch (e) {
      if (e.reason !== 'cancelled') this.#count(e.message);
    }
  }

  #count(text) { $('search-count').textContent = text; }

  async #show(i) {
    this.#at = i;
    const m = this.#matches[i], more = this.#total > this.#matches.length;
    this.#count(`${i + 1} of ${this.#matches.length}${more ? ` (${this.#total} in all)` : ''}`);
    const row = await this.scroll.show(m.line);
    if (this.#matches[i] !== m || this.#at !== i) return; // another is looked for meanwhile
    this.#mark(row, m);
    if (!row) this.#count('The line of this match has gone, or is too far up');
  }

  // mark shows where a match is: it begins in row, and may end in one further down. Its columns are
  // counted in characters.
  #mark(row, m) {
    for (const r of document.querySelectorAll('.row.found')) r.classList.remove('found');
    globalThis.CSS?.highlights?.delete('found');
    if (!row) return;
    row.classList.add('found');
    for (let line = m.line + 1; line <= m.end_line; line++) {
      this.scroll.row(line)?.classList.add('found');
    }
    if (!globalThis.CSS?.highlights) return;
    const range = document.createRange();
    const place = (row, chars) => {
      const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
      for (let n = walker.nextNode(); n; n = walker.nextNode()) {
        const all = [...n.data];
        if (chars <= all.length) return [n, all.slice(0, chars).join('').length];
        chars -= all.length;
      }
      return [row, row.childNodes.length];
    };
    range.setStart(...place(row, m.col));
    const last = m.end_line > m.line ? this.scroll.row(m.end_line) : row;
    range.setEnd(...(last ? place(last, m.end_col) : place(row, Infinity)));
    CSS.highlights.set('found', new Highlight(range));
  }
}
