// The grid: a small live screen for each session. What is out of sight is not asked for.

import { Painter } from './painter.js';
import { Tile } from './tile.js';
import { $, teach } from './ui.js';

// So many screens are asked for at once at most: the server takes 64 requests of a page.
const most = 40;

export class Grid {
  #tiles = new Map(); #seen = new Set(); #width = Number(localStorage.getItem('tile')) || 380;

  constructor(wire) {
    this.wire = wire;
    this.painter = new Painter();
    this.spawn = ''; // the command that starts a session
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
    for (const t of this.#tiles.values()) { t.want(false); t.lost(false); }
    this.#choose();
  }

  // id is the session that a name means: the newest that has it.
  id(name) { return [...this.#tiles.values()].findLast((t) => t.session.name === name)?.session.session ?? name; }

  get empty() { return this.#tiles.size === 0; }

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
      t.hidden = !words.every((w) => t.words.includes(w));
      if (!t.hidden) shown++;
    }
    const empty = $('grid-empty');
    empty.hidden = shown > 0;
    if (this.#tiles.size) teach(empty, 'No session has all of these words.');
    else teach(empty, 'There is no session yet. Start one in a terminal, and it appears here:', this.spawn);
  }

  // move goes through the grid with the arrow keys. The first of them chooses the first session.
  move(e) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, ArrowUp: 0 }[e.key];
    if (step === undefined) return false;
    const all = [...this.el.children].filter((c) => !c.hidden).map((c) => c.tile.link);
    const i = all.indexOf(document.activeElement), top = (link) => link.parentElement.offsetTop;
    const columns = all.filter((link) => top(link) === top(all[0])).length || 1;
    const to = i < 0 ? all[0] : all[i + (step || (e.key === 'ArrowDown' ? columns : -columns))];
    to?.focus();
    return Boolean(to);
  }
}
