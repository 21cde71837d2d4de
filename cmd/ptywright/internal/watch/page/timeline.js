// The timeline of a session, or of a recording: what happened, as a list. Choosing an event shows the
// screen of that moment. All text is text, never markup.

import { span } from './marks.js';
import { $, duration, make } from './ui.js';

// So many events are kept: as many as a recording tells of.
const most = 5000;

const goesOn = (e) => e.state === 'pending' || e.state === 'running' || e.state === 'held';
const clock = (time) => new Date(time).toLocaleTimeString([], { hour12: false });

// short is a span of time that has ended: what took less than ten seconds is told in tenths.
const short = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : span(ms));

// lasted is how long an event lasted, or grew.
const lasted = (e) => (e.until ? Date.parse(e.until) - Date.parse(e.at) : 0);

// words says what an event is: a headline, and more of it below.
function words(e) {
  const who = e.by ?? '', took = e.until ? ` after ${short(lasted(e))}` : '';
  switch (e.kind) {
    case 'wait': return [`${{ pending: 'waits', matched: 'matched', timed_out: 'timed out', session_ended: 'session ended' }[e.state] ?? e.state}${e.state === 'pending' ? '' : took}`, `until ${e.text ?? ''}`, e.evidence ?? '', who];
    case 'input': return [e.secret ? 'typed, hidden: it may be a secret' : e.what === 'mouse' ? 'mouse' : [e.what === 'paste' ? 'pasted' : e.what === 'signal' ? 'signal' : 'typed', ...e.keys ?? [], e.bytes ? `${e.bytes} B` : ''].filter(Boolean).join(' '), '', e.state === 'blocked' ? 'the program did not read the rest' : '', who];
    case 'command': return [e.state === 'running' ? 'runs' : e.exit_code === undefined ? `ran${took}` : `exit ${e.exit_code}${took}`, e.text ?? '', '', who];
    case 'lease': return [{ held: 'alone may type', released: `gave it back${took}`, taken_over: `was taken over${took}` }[e.state] ?? e.state, '', '', who];
    case 'resize': return [`${e.rows}×${e.cols}`, '', '', who];
    case 'redacted': return [`${e.count} hidden`, 'secrets on the screen', '', ''];
    case 'adapter': return [e.text ?? '', e.previous ? `was ${e.previous}` : '', '', e.what ?? ''];
    case 'bell': return [e.count > 1 ? `rang ${e.count} times` : 'rang', '', '', ''];
    case 'exit': return [e.exit_code === undefined ? e.signal || 'ended' : `exit ${e.exit_code}`, e.limit ? `over ${e.limit}` : e.state === 'killed' ? 'somebody ended it' : '', '', ''];
    default: return [e.text ?? '', '', '', who];
  }
}

// tone is how an event looks: good, bad, or under way.
function tone(e) {
  if (goesOn(e)) return e.kind === 'lease' ? 'held' : 'pending';
  if (e.kind === 'wait') return e.state === 'matched' ? 'good' : e.state === 'cancelled' ? '' : 'bad';
  if (e.exit_code !== undefined) return e.exit_code ? 'bad' : 'good';
  return e.signal || e.state === 'blocked' ? 'bad' : '';
}

export class Timeline {
  #items = new Map(); #chosen = null; #timer = 0;

  // choose is called with an event, and back when somebody leaves the list with Escape; it answers
  // whether there was something to go back from.
  constructor(parent, choose, back) {
    Object.assign(this, { choose, back });
    this.el = make('section', 'timeline');
    this.el.hidden = true;
    this.el.setAttribute('aria-label', 'Timeline');
    this.none = make('p', 'none', 'Nothing has happened yet: input, waits, commands and the end will be here.');
    this.list = make('ol');
    this.el.append(make('h2', '', 'Timeline'), this.none, this.list);
    this.el.addEventListener('keydown', (e) => this.#key(e));
    parent.append(this.el);
  }

  get shown() { return !this.el.hidden; }

  clear() {
    this.#items.clear();
    this.#chosen = null;
    this.list.replaceChildren();
    this.none.hidden = false;
    this.#tick();
  }

  show(on) {
    this.el.hidden = !on;
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
    this.#tick();
  }

  // reach marks what has happened by a time of the recording.
  reach(at) {
    for (const { button, begun } of this.#items.values()) button.classList.toggle('later', begun > at);
  }

  // free says that no moment is chosen any more.
  free() {
    this.#chosen?.button.removeAttribute('aria-current');
    this.#chosen = null;
  }

  #pick(item) {
    this.free();
    this.#chosen = item;
    item.button.setAttribute('aria-current', 'true');
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

  // tick counts the ages of what is pending, once a second while it is shown.
  #tick() {
    clearTimeout(this.#timer);
    if (!this.shown) return;
    let pending = false;
    for (const { event: e, age } of this.#items.values()) {
      if (!age) continue;
      pending = true;
      age.textContent = ` ${span(Date.now() - Date.parse(e.at))}${e.timeout_ms ? ` of ${span(e.timeout_ms)}` : ''}`;
    }
    if (pending) this.#timer = setTimeout(() => this.#tick(), 1000);
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
    this.timeline = new Timeline($('term-panels'), ({ event: e }) => term.then(e.until_sequence ?? e.sequence), () => term.back());
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
      for (let since = 0; ;) {
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
