// A tile of the grid: a session, small and live.

import { Marks } from './marks.js';
import { fitting } from './rows.js';
import { Screen } from './screen.js';
import { commandOf, make, pause, pills } from './ui.js';

// A screen is asked for again so many milliseconds after it was drawn: soon if it has the focus or
// the mouse, later if its text is too small to read, of fewer pixels than that, and later still if
// many are in sight. All of them together are drawn some 120 times a second at most: they are for
// an overview.
const soon = 50, rest = 120, glance = 250, small = 6, each = 8;

export class Tile {
  #abort = null; #wanted = false; #px = 12; #told = '';

  // grid has the wire, the painter of all tiles, and the room that each has for its screen.
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

  // update takes what the list says: of most sessions nothing new.
  update(session) {
    if (JSON.stringify(session) === JSON.stringify(this.session)) return;
    this.session = session;
    this.head();
  }

  // head writes all that a tile says of its session beside the screen: what it is, and the marks.
  head() {
    const s = this.session, command = commandOf(s), title = s.title || command;
    this.title.textContent = [s.name, title].filter(Boolean).join(' · ');
    this.about.textContent = [s.session, title === command ? '' : command, `${s.rows}×${s.cols}`].filter(Boolean).join(' · ');
    const told = JSON.stringify([s.plugin, s.adapter, s.state, s.lease, s.exit]);
    if (told !== this.#told) this.marks.replaceChildren(...pills(s));
    this.#told = told;
    this.lately.show(s);
    this.link.dataset.level = this.lately.level;
    const said = [s.name, title, s.session, command, `${s.rows} rows, ${s.cols} columns`, ...[...this.marks.children].map((m) => m.textContent), this.lately.said];
    this.link.setAttribute('aria-label', said.filter(Boolean).join(', '));
    this.link.classList.toggle('over', Boolean(s.exit));
    this.words = [s.name, s.session, title, command, s.plugin, s.state, s.lease?.holder, this.lately.said].join(' ').toLowerCase();
  }

  // fit chooses the size of the text so that the screen fills the tile. A small font draws what a
  // scaled screen would blur.
  fit() {
    const { room } = this.grid;
    if (!room) return;
    const px = fitting(this.screen.size.rows, this.screen.size.cols, room.wide, room.tall, 1, 18, 0.25);
    if (px !== this.#px) this.screen.zoom(this.#px = px);
  }

  // tick tells times anew if the tile is in sight, and answers whether the session came to need
  // somebody, or no more.
  tick(seen) {
    const other = this.lately.tick(seen);
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
        await this.grid.painter.paint(() => { if (!abort.signal.aborted) this.#draw(frame); }, this.#chosen);
        await pause(this.#chosen ? soon : Math.max(this.#px < small ? glance : rest, each * this.grid.inSight));
      }
    } catch (e) {
      if (e.reason !== 'cancelled') this.lost(true); // its end is told by the list
    } finally {
      if (this.#abort === abort) this.#abort = null;
    }
  }

  // chosen is whether somebody looks at this tile more than at others.
  get #chosen() { return this.link.matches(':hover, :focus'); }

  #draw(frame) {
    this.screen.draw(frame);
    if (frame.full) this.fit();
    else if (frame.rows.length || frame.moved) this.lately.saw();
    const { title, lease, exit, size: { rows, cols } } = frame, seen = { title, lease, exit, rows, cols };
    if (Object.entries(seen).every(([name, value]) => JSON.stringify(value) === JSON.stringify(this.session[name]))) return;
    Object.assign(this.session, seen);
    this.head();
  }

  drop() { this.want(false); this.el.remove(); }
}
