// One session, large: its screen as it changes, its scrollback, and who may type.

import { Announcer } from './announce.js';
import { Hands } from './hands.js';
import { special } from './keys.js';
import { Past } from './past.js';
import { fitting, metrics } from './rows.js';
import { Screen, margin } from './screen.js';
import { Scrollback } from './scroll.js';
import { Search } from './search.js';
import { Selection } from './select.js';
import { Live } from './timeline.js';
import { $, commandOf, confirm, ended, follow, make, nextFrame, pills, sentence, toast } from './ui.js';

// Text is of so many pixels at least where a screen is read at arm's length, and moved about by a finger;
// elsewhere the whole screen is shown.
const readable = 12, least = 5, most = 26;
const narrow = matchMedia('(max-width: 720px), (pointer: coarse)');

export class Term {
  #abort = null; #frame = null; #zoom = 0; #lost = ''; #started = null; #large = false;

  constructor(wire, info) {
    this.wire = wire;
    this.info = info; // what the list says of a session
    this.reader = false; // this page can only look on
    this.screen = new Screen(true);
    this.stage = $('term-stage');
    this.input = $('term-input');
    $('term-paper').append(this.screen.el);
    $('term-paper').append(this.input); // above the screen, where a composition shows
    this.selection = new Selection($('term-paper'), $('term-held'));
    this.scrollback = new Scrollback(this.stage, this.screen, (method, params) => this.call(method, params));
    this.search = new Search((method, params, signal) => this.call(method, params, signal), this.scrollback, () => this.focus());
    this.hands = new Hands(this);
    this.announcer = new Announcer(this.screen);
    this.past = new Past(wire, (frame) => { this.screen.draw(frame); this.fit(); }, () => this.#live(), (text) => { $('term-status').textContent = text; });
    this.timeline = new Live(this);
    this.#wire();
  }

  // call asks something about the session.
  call(method, params, signal = this.#abort?.signal) {
    return this.wire().call(method, { session: this.id, ...params }, signal);
  }

  get mine() { return Boolean(this.#frame?.lease?.yours) && !this.#frame.exit && !this.#lost; }
  get modes() { return this.#frame?.modes; }
  get shown() { return document.body.dataset.view === 'term'; }

  open(id) {
    this.close();
    this.id = id;
    this.#frame = null;
    this.#lost = '';
    this.#started = null;
    this.#zoom = 0;
    this.scrollback.forget();
    this.announcer.clear();
    this.screen.clear();
    this.#about();
    $('term-status').textContent = 'Asking for the screen…';
    this.#follow();
    this.timeline.open(id);
    this.stage.focus();
  }

  close() {
    this.past.close();
    this.timeline.close();
    this.search.close();
    this.selection.clear();
    this.#abort?.abort();
    this.#abort = null;
    this.hands.typist.clear();
    if (this.mine) this.call('release', {}, null).catch(() => {});
    this.#frame = null;
  }

  // lost says that the connection is: what is shown stays.
  lost() {
    if (!this.shown || !this.#frame || this.#lost) return;
    this.#abort?.abort();
    this.#gone('What is shown is the last of it: the connection is lost.');
  }

  async #follow() {
    const abort = this.#abort = new AbortController();
    let since;
    try {
      for (;;) {
        const frame = await this.wire().call('frame', { session: this.id, since }, abort.signal);
        since = frame.sequence;
        await this.selection.held();
        if (abort.signal.aborted) return;
        this.#draw(frame);
        await nextFrame();
      }
    } catch (e) {
      if (abort.signal.aborted) return;
      const gone = e.reason === 'unknown_session' || e.reason === 'session_closed' || e.reason === 'session_ended';
      // What is shown stays, and is the last of it.
      this.#gone(!gone ? `${sentence(e.message)}.` : this.#frame ? 'The session has been closed.' : `There is no session ${this.id}: it has been closed, or never was.`);
    }
  }

  #gone(why) {
    this.#lost = why;
    this.#frame = this.#frame && { ...this.#frame, lease: null };
    this.screen.still();
    this.#about();
    this.focus();
  }

  // then shows the past instead of what changes: of a sequence, if there is one.
  then(sequence) {
    if (!this.#frame || this.#lost) return;
    if (!this.past.active) {
      const focused = document.activeElement;
      this.#abort?.abort();
      this.scrollback.forget();
      this.past.open(this.id);
      if (sequence !== undefined) focused?.focus();
    }
    if (sequence !== undefined) this.past.moment(sequence);
  }

  // back leaves the past, and answers whether it was shown.
  back() {
    const was = this.past.active;
    this.#live();
    return was;
  }

  // live goes back.
  #live() {
    if (!this.past.active) return;
    this.past.close();
    this.timeline.timeline.free();
    this.#follow(); // begins with the whole screen
    this.focus();
  }

  // now shows what the program shows now: somebody types.
  now() {
    this.selection.clear();
    this.#live();
    this.scrollback.latest();
  }

  #draw(frame) {
    const before = this.#frame, had = this.mine;
    const bottom = this.scrollback.atBottom();
    this.#frame = frame;
    this.screen.draw(frame);
    if (frame.full) this.fit();
    if (this.scrollback.reading && !bottom) this.scrollback.newer();
    else if (bottom) this.scrollback.bottom();
    const { row, col } = frame.cursor, { width, height } = this.screen.cell;
    const left = col * width, top = row * height + $('term-lines').offsetHeight;
    this.input.style.transform = `translate(${left}px, ${top}px)`;
    if (this.#large && this.mine && !this.scrollback.reading) this.input.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    this.announcer.saw(frame);
    const told = (f) => f && JSON.stringify([f.title, f.lease, f.exit, f.size, f.secret_input, f.modes.mouse]);
    if (frame.full || told(before) !== told(frame)) this.#about();
    if (had && !this.mine) {
      this.hands.typist.clear();
      if (frame.lease) toast(`${frame.lease.holder} has taken the session over`);
    }
    if (had === this.mine) return;
    if (this.mine && narrow.matches) this.#keys(true); // a phone has none of them
    this.focus();
  }

  // keys shows the row of keys that a keyboard may not have.
  #keys(on) {
    $('term-key-row').hidden = !on;
    $('term-keys').setAttribute('aria-expanded', String(on));
  }

  // about shows what is known beside the screen. What the list says comes at any time.
  #about() {
    const s = { program: '', args: [], ...this.info(this.id) }, f = this.#frame;
    if (f) Object.assign(s, { title: f.title, lease: f.lease, exit: f.exit, rows: f.size.rows, cols: f.size.cols });
    this.#started ??= s.started;
    const command = commandOf(s);
    const title = [s.name, s.title || command || this.id].filter(Boolean).join(' · ');
    $('term-title').textContent = title;
    $('term-program').textContent = [this.id, s.title ? command : '', s.rows ? `${s.rows}×${s.cols}` : '', s.cwd].filter(Boolean).join(' · ');
    document.title = `${title} · ptywright watch`;
    const marks = pills(s);
    if (f?.secret_input) marks.push(make('span', 'pill secret', 'reads a secret'));
    $('term-pills').replaceChildren(...marks);
    const take = $('term-take');
    take.textContent = this.mine ? 'Release' : s.lease ? 'Take over…' : 'Take over';
    take.disabled = !f;
    take.hidden = this.reader || Boolean(this.#lost) || Boolean(s.exit) || Boolean(s.adapter);
    take.title = this.mine ? 'Give it back (Ctrl+Shift+Enter)' : 'Type into this session yourself';
    take.classList.toggle('held', this.mine);
    for (const id of ['term-keys', 'term-paste', 'term-fit']) $(id).hidden = !this.mine;
    if (!this.mine) this.#keys(false);
    for (const id of ['announce', 'search', 'history', 'past', 'timeline']) $(`term-${id}`).hidden = !f || Boolean(this.#lost);
    // A click moves the focus to what can have it, and takes it from what is typed into.
    if (this.mine) this.stage.removeAttribute('tabindex'); else this.stage.tabIndex = 0;
    this.input.tabIndex = this.mine ? 0 : -1;
    this.stage.classList.toggle('mine', this.mine);
    document.body.classList.toggle('typing', this.mine);
    $('term-paper').hidden = !f;
    $('term-gone').hidden = Boolean(f) || !this.#lost;
    $('term-gone-text').textContent = this.#lost;
    this.stage.classList.toggle('mouse', this.mine && f.modes.mouse !== 'none');
    this.stage.setAttribute('aria-label', `Screen of ${s.title || command}`);
    if (this.#lost) $('term-status').textContent = this.#lost;
    if (!f || this.#lost || this.past.active) return;
    const end = ended(f.exit);
    $('term-status').textContent = end ? `The program has ended: ${end}.`
      : this.mine ? 'You type. Ctrl+Shift+Enter gives the session back; Ctrl+Shift+V pastes.'
        : s.adapter ? `The adapter ${s.plugin || ''} drives this session; it can be read.`
          : s.lease ? `${s.lease.holder} types since ${new Date(s.lease.since).toLocaleTimeString()}.` : this.reader ? 'You are looking on: nothing can be typed from this page.' : 'Nobody types here. You are reading.';
  }

  // another says that the list does not have the session that is shown, or another under its id.
  another() { return Boolean(this.#started) && this.info(this.id)?.started !== this.#started; }

  refresh() { if (this.id) this.#about(); }

  focus() {
    if (document.querySelector('dialog[open]')) return;
    (this.mine ? this.input : this.stage).focus({ preventScroll: true });
  }

  async toggle() {
    try {
      if (this.mine) { this.hands.typist.clear(); await this.wire().call('release', { session: this.id }); return; }
      const holder = this.#frame?.lease?.holder;
      if (holder && !await confirm('Take this session over?', 'Somebody else types into it. They can no more when you do, and are told so.', holder, 'Take over')) return;
      await this.wire().call('take', { session: this.id, force: Boolean(holder) });
      this.scrollback.latest();
    } catch (e) {
      toast(e.message);
    }
  }

  // fit chooses the size of the text so that the whole screen is to be seen, if it can be read then.
  fit() {
    const { rows, cols } = this.screen.size, box = this.stage;
    const wide = box.clientWidth - margin, tall = box.clientHeight - margin;
    const px = fitting(rows, cols, wide, tall, narrow.matches ? readable : least, most, 0.5);
    const size = Math.max(4, px + this.#zoom), cell = metrics(size);
    this.#large = cell.width * cols > wide || cell.height * rows > tall; // than the stage: it is moved about
    this.screen.zoom(size);
    this.scrollback.zoom(size);
  }

  zoom(by) {
    this.#zoom += by;
    this.fit();
    this.focus();
  }

  #wire() {
    $('term-take').onclick = () => this.toggle();
    $('term-history').onclick = () => { this.scrollback.older(); };
    $('term-search').onclick = () => { if ($('search-bar').hidden) this.search.open(); else this.search.close(); };
    $('term-past').onclick = () => { if (this.past.active) this.#live(); else this.then(); };
    $('term-keys').onclick = () => this.#keys($('term-key-row').hidden);
    $('term-key-row').append(...special.map(([label, key]) => {
      const b = make('button', '', label);
      b.type = 'button';
      b.onclick = () => this.hands.type({ type: 'key', value: key });
      return b;
    }));
    $('term-paste').onclick = async () => {
      try {
        this.hands.paste(await navigator.clipboard.readText());
      } catch {
        toast('The browser does not give the clipboard: paste with Ctrl+Shift+V');
      }
    };
    $('term-fit').onclick = async () => {
      const m = metrics(14), box = this.stage;
      const rows = Math.max(2, Math.min(1000, Math.floor((box.clientHeight - margin) / m.height)));
      const cols = Math.max(2, Math.min(1000, Math.floor((box.clientWidth - margin) / m.width)));
      if (!await confirm('Resize the session?', `Everybody who looks at it sees ${rows} rows and ${cols} columns from now on.`, '', 'Resize')) return;
      this.wire().call('resize', { session: this.id, rows, cols }).catch((e) => toast(e.message));
    };
    // A pointer's click on a control gives the keyboard back to the session; one by the keyboard stays.
    for (const bar of document.querySelectorAll('#view-term .toolbar, #term-key-row')) {
      bar.addEventListener('click', (e) => {
        if (e.detail && this.mine && e.target.closest('button') && $('search-bar').hidden) this.focus();
      });
    }
    this.stage.addEventListener('keydown', (e) => {
      if (e.target !== this.stage) return;
      if (this.past.active) { this.past.key(e); return; }
      if (e.key === 'PageUp' && (e.shiftKey || !this.scrollback.reading)) { e.preventDefault(); this.scrollback.older(); }
      if (e.key === 'Enter' && !this.mine && !$('term-take').disabled && !$('term-take').hidden && !e.ctrlKey) { e.preventDefault(); this.toggle(); }
    });
    new ResizeObserver(() => { if (this.#frame) this.fit(); }).observe(this.stage);
    this.screen.el.addEventListener('click', (e) => {
      const link = e.target.closest?.('.link')?.link;
      if (link && (!this.hands.takesMouse() || e.ctrlKey) && !this.selection.range) follow(link);
    });
    this.stage.addEventListener('wheel', (e) => {
      if (e.deltaY < 0 && !this.hands.takesMouse() && this.stage.scrollTop === 0 && this.#frame && !this.past.active) this.scrollback.older();
    }, { passive: true });
  }
}
