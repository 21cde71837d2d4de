// A tile of the grid: a session, small and live.

import { Marks } from './marks.js';
import { fitting } from './rows.js';
import { Screen } from './screen.js';
import { commandOf, make, pause, pills } from './ui.js';

// A screen is drawn again at most so many milliseconds after it was drawn: many of them at once are for
// an overview, and one whose text is too small to read, of fewer pixels than that, for a glance.
const rest = 120, glance = 250, small = 6;
const inset = 12; // pixels around a small screen, both sides together

export class Tile {
  #abort = null; #wanted = false; #px = 12;

  // grid has the wire, and the painter of all tiles.
  constructor(grid, session) {
    this.grid = grid;
    this.screen = new Screen();
    this.el = make('li');
    this.link = make('a', 'tile');
    this.link.href = `#/session/${encodeURIComponent(session.session)}`;
    this.view = make('div', 'view');
    this.view.setAttribute('aria-hidden', 'true');
    this.view.append(this.screen.el);
    this.title = make('span', 'title');
    this.about = make('span', 'about');
    this.marks = make('span', 'pills');
    this.lately = new Marks();
    const foot = make('div', 'foot');
    const names = make('div', 'names');
    names.append(this.title, this.about);
    foot.append(names, this.marks, this.lately.el);
    this.link.append(this.view, foot);
    this.el.append(this.link);
    this.screen.zoom(this.#px);
    this.el.tile = this;
    this.update(session);
  }

  get hidden() { return this.el.hidden; }
  set hidden(is) { this.el.hidden = is; }

  // update takes what the list says.
  update(session) {
    this.session = session;
    this.head();
  }

  // head writes all that a tile says of its session beside the screen: what it is, and the marks.
  head() {
    const s = this.session, command = commandOf(s), title = s.title || command;
    this.title.textContent = [s.name, title].filter(Boolean).join(' · ');
    this.about.textContent = [s.session, title === command ? '' : command, `${s.rows}×${s.cols}`].filter(Boolean).join(' · ');
    this.marks.replaceChildren(...pills(s));
    this.lately.show(s);
    this.link.dataset.level = this.lately.level;
    const said = [s.name, title, s.session, command, `${s.rows} rows, ${s.cols} columns`, ...[...this.marks.children].map((m) => m.textContent), this.lately.said];
    this.link.setAttribute('aria-label', said.filter(Boolean).join(', '));
    this.link.classList.toggle('over', Boolean(s.exit));
    this.words = [s.name, s.session, title, command, s.plugin, s.state, s.lease?.holder, this.lately.said].join(' ').toLowerCase();
  }

  // fit chooses the size of the text so that the screen fills the tile. A small font draws what a scaled screen would blur.
  fit() {
    const wide = this.view.clientWidth - inset, tall = this.view.clientHeight - inset;
    if (wide <= 0) return;
    const px = fitting(this.screen.size.rows, this.screen.size.cols, wide, tall, 1, 18, 0.25);
    if (px !== this.#px) this.screen.zoom(this.#px = px);
  }

  // tick tells times anew, and answers whether the session came to need somebody, or no more.
  tick() {
    const other = this.lately.tick();
    if (other) this.head();
    return other;
  }

  lost(is) { this.link.classList.toggle('lost', is); }

  want(on) {
    this.#wanted = on;
    if (on && !this.#abort) this.#follow();
    if (!on) { this.#abort?.abort(); this.#abort = null; }
  }

  async #follow() {
    const abort = this.#abort = new AbortController();
    let since;
    try {
      while (this.#wanted && !abort.signal.aborted) {
        const frame = await this.grid.wire().call('frame', { session: this.session.session, since }, abort.signal);
        since = frame.sequence;
        await this.grid.painter.paint(() => { if (!abort.signal.aborted) this.#draw(frame); });
        await pause(this.#px < small ? glance : rest);
      }
    } catch (e) {
      if (e.reason !== 'cancelled') this.lost(true); // its end is told by the list
    } finally {
      if (this.#abort === abort) this.#abort = null;
    }
  }

  #draw(frame) {
    this.screen.draw(frame);
    if (frame.full) this.fit();
    else if (frame.rows.length || frame.moves?.length) this.lately.saw();
    const seen = { ...this.session, title: frame.title, lease: frame.lease, exit: frame.exit, rows: frame.size.rows, cols: frame.size.cols };
    if (JSON.stringify(seen) !== JSON.stringify(this.session)) this.update(seen);
  }

  drop() { this.want(false); this.el.remove(); }
}
