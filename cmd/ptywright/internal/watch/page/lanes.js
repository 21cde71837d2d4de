// The timeline as lanes: what was typed, waited for and run, and who might type, each in a row over
// one axis of time. What lasts is as wide as it is long, and grows while it goes on. The list
// beside it has the same events in words. All text is text, never markup.

import { clock, goesOn, lasted, tone, words } from './event.js';
import { duration, make, time } from './ui.js';

// So many of what overlaps are side by side in a lane; more are shown as one.
const rows = [
  { name: 'inputs', kinds: ['input'], deep: 1 },
  { name: 'waits', kinds: ['wait'], deep: 3 },
  { name: 'commands', kinds: ['command'], deep: 2 },
  { name: 'state', kinds: null, deep: 3 }, // leases, states of an adapter, and all else
];
// A block is so many pixels wide at least, that a mouse hits it, and so far from the next: what is
// nearer is shown as one with it. That bounds how many there are.
const least = 4, gap = 1;
// A click on a lane means the block that is so many pixels away at most.
const near = 12;
// A block has words if there are so many pixels for some.
const legible = 56;
// The window of the narrow zoom, in milliseconds; the least of the wide one; and the part of both
// that is kept free behind the present.
const minute = 60_000, shortest = 5000, free = 0.02;
// Times of the axis are so many pixels apart at least, and so many milliseconds.
const apart = 100;
const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400,
].map((s) => 1000 * s);

// What is worst among events that are shown as one is how it looks.
const tones = ['bad', 'pending', 'held', 'good', ''];

export class Lanes {
  #order = []; #after = new Map(); #chosen = null; #zoom = 'fit';
  #asked = false; #width = 0; #shown = null;

  // extent tells the times between which things happen, in milliseconds: of a recording all and
  // where it is (from, to, at), of a session that goes on nothing. choose is called with an item,
  // and back when somebody leaves with Escape; it answers whether there was something to go back
  // from.
  constructor(parent, { extent, choose, back }) {
    Object.assign(this, { extent, choose, back });
    this.el = make('section', 'lanes');
    this.el.hidden = true;
    attributes(this.el, { 'aria-label': 'Events by time' });
    const head = make('div', 'head');
    this.fold = this.#button('Lanes', () => this.#open(!this.el.classList.contains('open')));
    this.fold.className = 'fold';
    const zooms = make('span', 'group');
    attributes(zooms, { role: 'group', 'aria-label': 'Zoom' });
    this.zooms = [['fit', 'All'], ['minute', 'One minute']].map(([zoom, label]) => {
      const b = this.#button(label, () => this.zoom(zoom));
      b.dataset.zoom = zoom;
      return b;
    });
    zooms.append(...this.zooms);
    this.said = make('p', 'said');
    head.append(this.fold, zooms, this.said);
    this.chart = make('div', 'chart');
    this.chart.tabIndex = 0;
    attributes(this.chart, { role: 'slider', 'aria-label': 'Event', 'aria-valuemin': 0 });
    this.lanes = rows.map((row) => {
      const el = make('div', 'lane'), rail = make('div', 'rail');
      el.dataset.lane = row.name;
      el.append(make('span', 'label', row.name), rail);
      return { ...row, el, rail, items: [], blocks: [] };
    });
    this.axis = make('div', 'axis');
    this.now = make('div', 'now');
    this.now.hidden = true;
    const field = make('div', 'field');
    field.append(this.now);
    this.chart.append(...this.lanes.map((l) => l.el), this.axis, field);
    this.el.append(head, this.chart);
    this.chart.addEventListener('click', (e) => this.#click(e));
    this.chart.addEventListener('keydown', (e) => this.#key(e));
    new ResizeObserver(([entry]) => {
      this.#width = entry.contentRect.width;
      this.draw();
    }).observe(this.axis);
    this.#open(false);
    this.zoom('fit');
    parent.append(this.el);
  }

  #button(label, does) {
    const b = make('button', '', label);
    b.type = 'button';
    b.onclick = does;
    return b;
  }

  // open unfolds them where a small screen has folded them.
  #open(on) {
    this.el.classList.toggle('open', on);
    attributes(this.fold, { 'aria-expanded': on });
  }

  zoom(zoom) {
    this.#zoom = zoom;
    for (const b of this.zooms) attributes(b, { 'aria-pressed': b.dataset.zoom === zoom });
    this.draw();
  }

  show(on) {
    this.el.hidden = !on;
    this.draw();
  }

  // take takes all items, each an event and, of a recording, when it was noted first (begun) and
  // last (at). Those that are known may have grown.
  take(items) {
    this.#order = [...items];
    for (const item of this.#order) {
      const { begun, at, event: e } = item;
      item.span = at === undefined
        ? [time(e.at), time(e.until ?? e.at)]
        : [Math.max(0, Math.min(begun, at - lasted(e))), at];
    }
    this.#order.sort((a, b) => a.span[0] - b.span[0]);
    this.#shown = null;
    const last = this.lanes.at(-1);
    for (const l of this.lanes) l.items = [];
    for (const item of this.#order) {
      const lane = this.lanes.find((l) => l.kinds?.includes(item.event.kind)) ?? last;
      lane.items.push(item);
    }
    // An adapter's state lasts until the next, or the end.
    this.#after.clear();
    let next = Infinity;
    for (const item of last.items.toReversed()) {
      const { kind } = item.event;
      if (kind === 'adapter') this.#after.set(item, next);
      if (kind === 'adapter' || kind === 'exit') [next] = item.span;
    }
    if (!this.#order.includes(this.#chosen)) this.#chosen = null;
    this.draw();
  }

  // mark shows which item is chosen; null: none.
  mark(item) {
    this.#chosen = item;
    this.#say();
    this.draw();
  }

  get #recorded() { return this.extent().at !== undefined; }

  // over says that nothing more happens: it is a recording, or the program has ended and nobody
  // waits.
  get over() {
    const some = (is) => this.#order.some((i) => is(i.event));
    return this.#recorded || some((e) => e.kind === 'exit') && !some(goesOn);
  }

  // draw draws them in the browser's next frame, once.
  draw() {
    if (this.#asked || this.el.hidden) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      if (!this.el.hidden) this.#draw();
    });
  }

  // end is when the latest of what is shown has been.
  #end() {
    const { to } = this.extent();
    if (to !== undefined) return to;
    return this.over ? this.#order.reduce((end, i) => Math.max(end, i.span[1]), 0) : Date.now();
  }

  // range is what is to be seen: all, or a minute of it with what is chosen.
  #range(end) {
    const { from = this.#order[0]?.span[0] ?? end, at } = this.extent();
    if (this.#zoom === 'fit') {
      const all = Math.max(shortest, end - from);
      return [from, from + all * (1 + free)];
    }
    const about = at ?? this.#chosen?.span[1];
    let begin = end - minute;
    if (about !== undefined) begin = Math.max(from, Math.min(about - minute / 2, begin));
    return [begin, begin + minute * (1 + free)];
  }

  // when is when an item began and ended.
  #when(item, end) {
    const until = goesOn(item.event) ? end : this.#after.get(item) ?? item.span[1];
    return [item.span[0], Math.min(until, end)];
  }

  #draw() {
    this.#say();
    if (!this.#width) return; // it is folded
    const end = this.#end(), [from, to] = this.#range(end), scale = this.#width / (to - from);
    this.#shown = { from, to, scale };
    for (const lane of this.lanes) this.#fill(lane, this.#pack(lane, end));
    this.#times();
    this.#place();
  }

  // place puts a line where a recording is, and answers whether that is in sight.
  #place() {
    const { at } = this.extent(), { from, to, scale } = this.#shown;
    const seen = at >= from && at <= to;
    this.now.hidden = !seen;
    if (seen) this.now.style.transform = `translate(${(at - from) * scale}px)`;
    return seen;
  }

  // move takes that a recording is at another time.
  move() { if (this.#shown && !this.el.hidden && !this.#place()) this.draw(); }

  // pack makes blocks of a lane's items: each in the first row where it has room, or part of
  // another.
  #pack(lane, end) {
    const { from, to, scale } = this.#shown, open = [], all = [];
    for (const item of lane.items) {
      const [begins, ends] = this.#when(item, end);
      if (ends < from || begins > to) continue;
      const left = Math.min(Math.max(0, (begins - from) * scale), this.#width - least);
      const ended = Math.min(this.#width, (ends - from) * scale);
      const right = Math.max(left + least, ended);
      let row = open.findIndex((b) => b.right + gap <= left);
      if (row < 0 && open.length < lane.deep) row = open.length;
      if (row < 0) {
        const block = open.at(-1);
        block.items.push(item);
        block.right = Math.max(block.right, ended); // marks do not make it grow
        continue;
      }
      all.push(open[row] = { row, left, right, items: [item] });
    }
    for (const b of all) b.rows = open.length;
    return all;
  }

  // lead is the item of a block that it looks like.
  #lead({ items }) {
    if (items.includes(this.#chosen)) return this.#chosen;
    const rank = (i) => tones.indexOf(tone(i.event));
    return items.reduce((worst, i) => (rank(i) <= rank(worst) ? i : worst));
  }

  #fill(lane, blocks) {
    blocks.forEach((block, n) => {
      const { row, rows, left, right, items } = block, item = this.#lead(block);
      const el = lane.blocks[n] ??= lane.rail.appendChild(make('i'));
      const [head, what, evidence] = words(item.event);
      block.item = item;
      const across = `left:${left}px;width:${right - left}px`;
      const place = `${across};top:${100 * row / rows}%;height:${100 / rows}%`;
      if (el.place !== place) el.style.cssText = el.place = place;
      el.dataset.kind = item.event.kind;
      el.dataset.tone = tone(item.event);
      el.classList.toggle('chosen', item === this.#chosen);
      const more = items.length > 1 ? `and ${items.length - 1} more here` : '';
      const title = [this.#head(item), what, evidence, more].filter(Boolean).join('\n');
      if (el.title !== title) el.title = title;
      const room = rows === 1 && right - left >= legible;
      const text = room ? [head, what].filter(Boolean).join(' ') : '';
      if (el.textContent !== text) el.textContent = text;
    });
    for (const el of lane.blocks.splice(blocks.length)) el.remove();
    lane.shown = blocks;
  }

  // head is when it was, and what.
  #head(item) {
    const when = this.#recorded ? duration(item.at) : clock(item.span[1]);
    return `${when} ${item.event.kind}: ${words(item.event)[0]}`;
  }

  // times writes the axis.
  #times() {
    const { from, to, scale } = this.#shown;
    const step = steps.find((s) => s * scale >= apart) ?? steps.at(-1);
    // Whole hours are the clock's.
    const off = this.#recorded ? 0 : new Date(from).getTimezoneOffset() * minute;
    const all = [], most = this.#width / apart;
    const first = Math.ceil((from - off) / step) * step + off;
    for (let t = first; t <= to && all.length <= most; t += step) all.push(t);
    while (this.axis.children.length > all.length) this.axis.lastChild.remove();
    all.forEach((t, n) => {
      const el = this.axis.children[n] ?? this.axis.appendChild(make('span'));
      el.style.left = `${(t - from) * scale}px`;
      const text = this.#recorded ? duration(t) : clock(t);
      if (el.textContent !== text) el.textContent = text;
    });
  }

  // say tells what is chosen: to be read, and to be heard.
  #say() {
    const item = this.#chosen, n = this.#order.length;
    let text = 'nothing has happened yet';
    if (n) text = n === 1 ? 'one event: → goes to it' : `${n} events: ← → step through them`;
    if (item) text = [this.#head(item), ...words(item.event).slice(1)].filter(Boolean).join(', ');
    if (this.said.textContent !== text) this.said.textContent = this.said.title = text;
    const now = this.#order.indexOf(item) + 1;
    attributes(this.chart, { 'aria-valuemax': n, 'aria-valuenow': now, 'aria-valuetext': text });
  }

  // click chooses what is nearest in the lane that was clicked on.
  #click(e) {
    const lane = this.lanes.find((l) => l.rail.contains(e.target));
    if (!lane?.shown) return;
    const x = e.clientX - lane.rail.getBoundingClientRect().left;
    const away = (b) => Math.max(0, b.left - x, x - b.right);
    const block = lane.shown[lane.blocks.indexOf(e.target)] ?? nearest(lane.shown, away);
    if (block && away(block) <= near) this.choose(block.item);
  }

  // key steps through the events in the order of time, or to what is nearest in another lane.
  #key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const all = this.#order, i = all.indexOf(this.#chosen), last = all.length - 1;
    const to = { ArrowRight: i + 1, ArrowLeft: i < 0 ? last : i - 1, Home: 0, End: last }[e.key];
    const by = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (e.key === 'Escape' ? !this.back() : to === undefined && by === undefined) return;
    const item = by ? this.#beside(by) : all[Math.max(0, Math.min(last, to))];
    if (item && item !== this.#chosen) this.choose(item);
    e.preventDefault();
    e.stopPropagation();
  }

  // beside is the item of the next lane in a direction that has any, nearest in time to what is
  // chosen.
  #beside(by) {
    if (!this.#chosen) return this.#order.at(-1);
    const at = this.#chosen.span[0];
    const mine = this.lanes.findIndex((l) => l.items.includes(this.#chosen));
    for (let n = mine + by; this.lanes[n]; n += by) {
      const item = nearest(this.lanes[n].items, (i) => Math.abs(i.span[0] - at));
      if (item) return item;
    }
    return null;
  }
}

// nearest is what is least away; null: there is none.
function nearest(all, away) {
  return all.reduce((best, x) => (!best || away(x) < away(best) ? x : best), null);
}

// attributes sets those that differ.
function attributes(el, all) {
  for (const [name, value] of Object.entries(all)) {
    if (el.getAttribute(name) !== String(value)) el.setAttribute(name, value);
  }
}
