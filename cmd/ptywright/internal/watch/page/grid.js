// The grid: a small live screen for each session. What is out of sight is not asked for.

import { before } from './marks.js';
import { Painter } from './painter.js';
import { Tile } from './tile.js';
import { $, teach } from './ui.js';

// So many screens are asked for at once at most: the server takes 64 requests of a page.
const most = 40;
const inset = 12; // pixels around a small screen, both sides together

export class Grid {
  #tiles = new Map(); #order = localStorage.getItem('order') ?? 'attention'; #seen = new Set(); #width = Number(localStorage.getItem('tile')) || 380;

  constructor(wire) {
    this.wire = wire;
    this.painter = new Painter();
    this.spawn = ''; // the command that starts a session
    this.room = null; // for a screen, in pixels; null: not known yet
    this.el = $('grid');
    this.watcher = new IntersectionObserver((entries) => {
      let other = false;
      for (const { isIntersecting: is, target: { tile } } of entries) {
        this.#seen[is ? 'add' : 'delete'](tile);
        other = tile.tick(is) || other;
      }
      if (other) this.#sort();
      this.#choose();
    }, { rootMargin: '100px' });
    new ResizeObserver(() => this.#measure()).observe(this.el);
    this.size(0);
    $('filter').addEventListener('input', () => this.#filter());
    document.addEventListener('visibilitychange', () => this.#choose());
    const order = $('grid-order');
    order.value = this.#order;
    order.onchange = () => {
      localStorage.setItem('order', this.#order = order.value);
      this.#sort();
    };
    $('grid-first').onclick = () => { location.hash = this.#needy()[0]?.link.hash ?? '#/'; };
    // Times are told by the second, where they are seen.
    setInterval(() => { if (!document.hidden && this.el.offsetParent) this.#tick(); }, 1000);
  }

  get inSight() { return this.#seen.size; }

  // measure finds the room for a screen: all tiles have the same. It is called when the layout is done.
  #measure() {
    const { view } = [...this.#tiles.values()].find((t) => !t.hidden) ?? {};
    if (!view?.clientWidth) return;
    this.room = { wide: view.clientWidth - inset, tall: view.clientHeight - inset };
    for (const t of this.#tiles.values()) t.fit();
  }

  #tick() {
    let other = false;
    for (const t of this.#tiles.values()) other = t.tick(this.#seen.has(t)) || other;
    if (other) this.#sort();
    this.#tell();
  }

  // needy are the tiles of sessions that are stuck, the longest first.
  #needy() {
    return [...this.#tiles.values()].filter((t) => t.lately.level === 'stuck' || t.lately.level === 'still').sort((a, b) => before(a.lately, b.lately));
  }

  // tell says above the grid how many are stuck, and which has been for longest.
  #tell() {
    const needy = this.#needy(), first = $('grid-first');
    $('grid-summary').hidden = this.#tiles.size === 0;
    $('grid-stuck').textContent = needy.length ? `${needy.length} of ${this.#tiles.size} stuck:` : '';
    first.hidden = !needy.length;
    const words = needy.length ? `${needy[0].session.name || needy[0].session.session} ${needy[0].lately.wait.textContent}` : '';
    if (first.textContent !== words) first.textContent = words;
  }

  // sort brings the tiles into the order that is chosen. What has the focus keeps it.
  #sort() {
    const tiles = [...this.#tiles.values()];
    if (this.#order === 'attention') tiles.sort((a, b) => before(a.lately, b.lately));
    if (tiles.every((t, i) => this.el.children[i] === t.el)) return;
    const focused = this.el.contains(document.activeElement) ? document.activeElement : null;
    for (const [i, t] of tiles.entries()) if (this.el.children[i] !== t.el) this.el.insertBefore(t.el, this.el.children[i] ?? null);
    if (focused !== document.activeElement) focused?.focus({ preventScroll: true });
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
    this.#sort();
    this.#tell();
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
