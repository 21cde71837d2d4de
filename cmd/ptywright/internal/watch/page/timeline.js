// The timeline of a session, or of a recording: what happened, as a list and as lanes. Choosing an event
// shows the screen of that moment. All text is text, never markup.

import { clock, goesOn, tone, words } from './event.js';
import { Lanes } from './lanes.js';
import { span } from './marks.js';
import { $, duration, make, time } from './ui.js';

// So many events are kept: as many as a recording tells of.
const most = 5000;

export class Timeline {
  #items = new Map(); #chosen = null; #timer = 0;

  // view is the name of the view that it is part of. extent tells of which time it is (see Lanes), choose
  // is called with an event, and back when somebody leaves with Escape; it answers whether there was
  // something to go back from.
  constructor(view, { extent, choose, back }) {
    Object.assign(this, { choose, back });
    this.lanes = new Lanes($(`${view}-band`), { extent, back, choose: (item) => this.#pick(item) });
    this.el = make('section', 'timeline');
    this.el.hidden = true;
    this.el.setAttribute('aria-label', 'Timeline');
    this.none = make('p', 'none', 'Nothing has happened yet: input, waits, commands and the end will be here.');
    this.list = make('ol');
    this.el.append(make('h2', '', 'Timeline'), this.none, this.list);
    this.el.addEventListener('keydown', (e) => this.#key(e));
    $(`${view}-panels`).append(this.el);
  }

  get shown() { return !this.el.hidden; }

  clear() {
    this.#items.clear();
    this.#chosen = null;
    this.list.replaceChildren();
    this.none.hidden = false;
    this.lanes.take([]);
    this.#tick();
  }

  show(on) {
    this.el.hidden = !on;
    this.lanes.show(on);
    if (on) this.#end();
    this.#tick();
  }

  // add takes events. One that is known has ended or grown. at is the time in a recording.
  add(events) {
    const below = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - 8;
    for (const { event, at } of events) {
      const id = event.event || `at ${at} ${event.kind} ${this.#items.size}`;
      const known = this.#items.get(id);
      // In a recording it began where it was written first.
      const item = known ?? { begun: at, button: make('button', 'event') };
      Object.assign(item, { event, at });
      this.#draw(item);
      if (known) continue;
      item.button.type = 'button';
      item.button.onclick = () => this.#pick(item);
      item.button.item = item;
      const li = make('li');
      li.append(item.button);
      this.list.append(li);
      this.#items.set(id, item);
      if (this.#items.size > most) this.#drop();
    }
    this.none.hidden = this.#items.size > 0;
    if (below) this.#end();
    this.lanes.take(this.#items.values());
    this.#tick();
  }

  // reach marks what has happened by a time of the recording.
  reach(at) {
    for (const { button, begun } of this.#items.values()) button.classList.toggle('later', begun > at);
    this.lanes.move();
  }

  // free says that no moment is chosen any more.
  free() {
    this.#chosen?.button.removeAttribute('aria-current');
    this.#chosen = null;
    this.lanes.mark(null);
  }

  #pick(item) {
    this.free();
    this.#chosen = item;
    item.button.setAttribute('aria-current', 'true');
    item.button.scrollIntoView({ block: 'nearest' });
    this.lanes.mark(item);
    this.choose(item);
  }

  #drop() {
    for (const [id, item] of this.#items) {
      if (goesOn(item.event)) continue;
      item.button.parentElement.remove();
      this.#items.delete(id);
      return;
    }
  }

  #draw(item) {
    const { event: e, at, button } = item;
    const [head, what, evidence, who] = words(e);
    button.dataset.kind = e.kind;
    button.dataset.tone = tone(e);
    item.age = goesOn(e) && e.kind === 'wait' && at === undefined ? make('span', 'age') : null;
    const line = make('span', 'head');
    line.append(make('time', '', at === undefined ? clock(e.until ?? e.at) : duration(at)), make('span', 'kind', e.kind), make('span', 'how', head));
    if (item.age) line.append(item.age);
    button.replaceChildren(line);
    for (const [kind, text] of [['about', what], ['evidence', evidence], ['who', who]]) if (text) button.append(make('span', kind, text));
  }

  // tick counts the ages of what is pending, and lets the lanes go on, once a second while it is shown and
  // anything can happen.
  #tick() {
    clearTimeout(this.#timer);
    if (!this.shown || this.lanes.over) return;
    for (const { event: e, age } of this.#items.values()) {
      if (age) age.textContent = ` ${span(Date.now() - time(e.at))}${e.timeout_ms ? ` of ${span(e.timeout_ms)}` : ''}`;
    }
    this.lanes.draw();
    this.#timer = setTimeout(() => this.#tick(), 1000);
  }

  #end() { this.list.scrollTop = this.list.scrollHeight; }

  // key moves among the events.
  #key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const all = [...this.list.querySelectorAll('button')], i = all.indexOf(document.activeElement);
    const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[e.key];
    if (e.key === 'Escape' ? !this.back() : to === undefined || !all[to]) return;
    if (to !== undefined) all[to].focus();
    e.preventDefault();
    e.stopPropagation();
  }
}

// A window that is so wide has room for the timeline beside a screen.
const roomy = matchMedia('(min-width: 1280px)');

// remembered is whether the timeline is shown: as somebody has chosen, or by the room that there is.
export function remembered() {
  const chosen = localStorage.getItem('timeline');
  return chosen ? chosen === 'on' : roomy.matches;
}

export function remember(on) { localStorage.setItem('timeline', on ? 'on' : 'off'); }

// A Live is the timeline of the session that is shown.
export class Live {
  #abort = null; #term = null;

  constructor(term) {
    this.#term = term;
    this.timeline = new Timeline('term', {
      extent: () => ({}), choose: ({ event: e }) => term.then(e.until_sequence ?? e.sequence), back: () => term.back(),
    });
    $('term-timeline').onclick = () => { remember(!this.timeline.shown); this.#show(); };
  }

  open(id) {
    this.close();
    this.#show();
    this.#follow(id);
  }

  close() {
    this.#abort?.abort();
    this.#abort = null;
    this.timeline.clear();
  }

  #show() {
    const on = remembered();
    this.timeline.show(on);
    $('term-timeline').setAttribute('aria-pressed', String(on));
  }

  async #follow(session) {
    const abort = this.#abort = new AbortController();
    try {
      for (let since; ;) {
        const { events, next } = await this.#term.wire().call('events', { session, since }, abort.signal);
        if (abort.signal.aborted) return;
        this.timeline.add(events.map((event) => ({ event })));
        since = next;
      }
    } catch {
      // The screen tells why there is no more.
    }
  }
}
