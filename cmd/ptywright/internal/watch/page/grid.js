// The grid: a small live screen for each session. What is out of sight is not asked for.

import { Screen, metrics } from './screen.js';
import { $, commandOf, make, nextFrame, pause, pills } from './ui.js';

// One small screen is drawn at most some eight times a second: many of them at once are for an overview.
const rest = 120;
// So many screens are asked for at once at most: the server takes 64 requests of a page.
const most = 40;
const inset = 12; // pixels around a small screen, both sides together

class Tile {
  #abort = null; #wanted = false; #px = 12;

  constructor(grid, session) {
    this.grid = grid;
    this.screen = new Screen();
    this.el = make('a', 'tile');
    this.el.setAttribute('role', 'listitem');
    this.el.href = `#/session/${encodeURIComponent(session.session)}`;
    this.view = make('div', 'view');
    this.view.setAttribute('aria-hidden', 'true');
    this.view.append(this.screen.el);
    this.title = make('span', 'title');
    this.about = make('span', 'about');
    this.marks = make('span', 'pills');
    const foot = make('div', 'foot');
    const names = make('div', 'names');
    names.append(this.title, this.about);
    foot.append(names, this.marks);
    this.el.append(this.view, foot);
    this.screen.zoom(this.#px);
    this.el.tile = this;
    this.update(session);
  }

  // update takes what the list says.
  update(session) {
    this.session = { ...session, lease: session.lease, title: session.title };
    const command = commandOf(session);
    const title = session.title || command;
    this.title.textContent = [session.name, title].filter(Boolean).join(' · ');
    this.about.textContent = [session.session, title === command ? '' : command, `${session.rows}×${session.cols}`].filter(Boolean).join(' · ');
    this.marks.replaceChildren(...pills(session));
    this.el.setAttribute('aria-label', [...[session.name].filter(Boolean), title, session.session, command, `${session.rows} rows, ${session.cols} columns`, ...[...this.marks.children].map((m) => m.textContent)].join(', '));
    this.el.classList.toggle('over', Boolean(session.exit));
    this.words = [session.name, session.session, title, command, session.plugin, session.state, session.lease?.holder].join(' ').toLowerCase();
  }

  // fit chooses the size of the text so that the screen fills the tile. A small font draws what a scaled screen would blur.
  fit() {
    const { rows, cols } = this.screen.size, wide = this.view.clientWidth - inset, tall = this.view.clientHeight - inset;
    if (wide <= 0) return;
    let px = 18;
    while (px > 1 && (metrics(px).width * cols > wide || metrics(px).height * rows > tall)) px -= 0.25;
    if (px !== this.#px) this.screen.zoom(this.#px = px);
  }

  want(on) {
    this.#wanted = on;
    if (on && !this.#abort) this.#follow();
    if (!on) { this.#abort?.abort(); this.#abort = null; }
  }

  async #follow() {
    const abort = this.#abort = new AbortController();
    let since;
    try {
      while (this.#wanted) {
        const frame = await this.grid.wire().call('frame', { session: this.session.session, since }, abort.signal);
        since = frame.sequence;
        this.screen.draw(frame);
        if (frame.full) this.fit();
        const seen = { ...this.session, title: frame.title, lease: frame.lease, exit: frame.exit, rows: frame.size.rows, cols: frame.size.cols };
        if (JSON.stringify(seen) !== JSON.stringify(this.session)) this.update(seen);
        await nextFrame();
        await pause(rest);
      }
    } catch (e) {
      if (e.reason !== 'cancelled') this.el.classList.add('lost'); // its end is told by the list
    } finally {
      if (this.#abort === abort) this.#abort = null;
    }
  }

  drop() { this.want(false); this.el.remove(); }
}

export class Grid {
  #tiles = new Map(); #seen = new Set(); #width = Number(localStorage.getItem('tile')) || 380;

  constructor(wire) {
    this.wire = wire;
    this.el = $('grid');
    this.watcher = new IntersectionObserver((entries) => {
      for (const e of entries) this.#seen[e.isIntersecting ? 'add' : 'delete'](e.target.tile);
      this.#choose();
    }, { rootMargin: '100px' });
    new ResizeObserver(() => { for (const t of this.#tiles.values()) t.fit(); }).observe(this.el);
    this.size(0);
    $('filter').addEventListener('input', () => this.#filter());
    document.addEventListener('visibilitychange', () => this.#choose());
  }

  size(by) {
    this.#width = Math.max(220, Math.min(900, this.#width + by));
    localStorage.setItem('tile', this.#width);
    this.el.style.setProperty('--tile', `${this.#width}px`);
  }

  // show takes a new list.
  show(sessions) {
    const here = new Set(sessions.map((s) => s.session));
    for (const [id, tile] of this.#tiles) if (!here.has(id)) this.#drop(id, tile);
    for (const s of sessions) {
      const tile = this.#tiles.get(s.session);
      if (tile) tile.update(s);
      else {
        const made = new Tile(this, s);
        this.#tiles.set(s.session, made);
        this.el.append(made.el);
        this.watcher.observe(made.el);
      }
    }
    $('session-count').textContent = sessions.length;
    this.#filter();
  }

  // restart asks for all that is in sight anew: over a new connection.
  restart() {
    for (const t of this.#tiles.values()) { t.want(false); t.el.classList.remove('lost'); }
    this.#choose();
  }

  // id is the session that a name means: the newest that has it.
  id(name) { return [...this.#tiles.values()].findLast((t) => t.session.name === name)?.session.session ?? name; }

  get(id) { return this.#tiles.get(id)?.session; }

  #drop(id, tile) {
    this.watcher.unobserve(tile.el);
    this.#seen.delete(tile);
    tile.drop();
    this.#tiles.delete(id);
  }

  #choose() {
    let n = 0;
    for (const t of this.#tiles.values()) t.want(!document.hidden && this.#seen.has(t) && n++ < most);
  }

  #filter() {
    const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const t of this.#tiles.values()) {
      t.el.hidden = !words.every((w) => t.words.includes(w));
      if (!t.el.hidden) shown++;
    }
    const empty = $('grid-empty');
    empty.hidden = shown > 0;
    empty.textContent = this.#tiles.size ? 'No session has all of these words.' : 'There is no session yet. What is started on this server appears here.';
  }

  // move goes through the grid with the arrow keys. The first of them chooses the first session.
  move(e) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, ArrowUp: 0 }[e.key];
    if (step === undefined) return false;
    const all = [...this.el.children].filter((c) => !c.hidden), i = all.indexOf(document.activeElement);
    const columns = all.filter((c) => c.offsetTop === all[0].offsetTop).length || 1;
    const to = i < 0 ? all[0] : all[i + (step || (e.key === 'ArrowDown' ? columns : -columns))];
    to?.focus();
    return Boolean(to);
  }
}
