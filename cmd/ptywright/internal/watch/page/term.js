// One session, large: its screen as it changes, its scrollback, and the keyboard and mouse of who takes it over.

import { Typist, keyOf, maxPaste, special } from './keys.js';
import { Past } from './past.js';
import { Screen, margin, metrics } from './screen.js';
import { $, commandOf, confirm, ended, follow, make, nextFrame, pause, pills, toast } from './ui.js';

const chunk = 400; // lines of the scrollback that are asked for at once
const buttons = ['left', 'middle', 'right'];

export class Term {
  #abort = null; #frame = null; #zoom = 0; #px = 14; #first = 0; #next = 0; #reading = false; #pressed = null; #composing = false; #lost = ''; #started = null;

  constructor(wire, info) {
    this.wire = wire;
    this.info = info; // what the list says of a session
    this.reader = false; // this page can only look on
    this.screen = new Screen(true);
    this.stage = $('term-stage');
    this.input = $('term-input');
    $('term-paper').append(this.screen.el);
    $('term-paper').append(this.input); // above the screen, where a composition shows
    this.typist = new Typist(
      (action) => this.wire().call('input', { session: this.id, action }),
      (e) => { if (e.reason !== 'cancelled') toast(e.message); },
    );
    this.past = new Past(wire, (frame) => { this.screen.draw(frame); this.fit(); }, () => this.#live(), (text) => { $('term-status').textContent = text; });
    this.#wire();
    this.#keys();
    this.#mouse();
  }

  get mine() { return Boolean(this.#frame?.lease?.yours) && !this.#frame.exit && !this.#lost; }

  open(id) {
    this.close();
    this.id = id;
    this.#frame = null;
    this.#lost = '';
    this.#started = null;
    this.#zoom = 0;
    this.#forget();
    this.screen.clear();
    this.#about();
    $('term-status').textContent = 'Asking for the screen…';
    this.#follow();
    this.stage.focus();
  }

  close() {
    this.past.close();
    this.#abort?.abort();
    this.#abort = null;
    this.typist.clear();
    if (this.mine) this.wire().call('release', { session: this.id }).catch(() => {});
    this.#frame = null;
  }

  async #follow() {
    const abort = this.#abort = new AbortController();
    let since;
    try {
      for (;;) {
        const frame = await this.wire().call('frame', { session: this.id, since }, abort.signal);
        if (abort.signal.aborted) return;
        since = frame.sequence;
        this.#draw(frame);
        await nextFrame();
      }
    } catch (e) {
      if (abort.signal.aborted) return;
      const gone = e.reason === 'unknown_session' || e.reason === 'session_closed' || e.reason === 'session_ended';
      // What is shown stays, and is the last of it.
      this.#lost = !gone ? e.message : this.#frame ? 'The session has been closed.' : `There is no session ${this.id}: it has been closed, or never was.`;
      this.#frame = this.#frame && { ...this.#frame, lease: null };
      this.#about();
    }
  }

  // then shows the past instead of what changes.
  #then() {
    if (!this.#frame) return;
    this.#abort?.abort();
    this.#forget();
    this.past.open(this.id);
  }

  // live goes back.
  #live() {
    if (!this.past.active) return;
    this.past.close();
    this.#follow(); // begins with the whole screen
    this.focus();
  }

  #draw(frame) {
    const before = this.#frame, had = this.mine;
    const bottom = this.#atBottom();
    this.#frame = frame;
    this.screen.draw(frame);
    if (frame.full) this.fit();
    if (this.#reading && !bottom) this.#newer();
    else if (bottom) this.stage.scrollTop = this.stage.scrollHeight;
    const { row, col } = frame.cursor, { width, height } = this.screen.cell;
    this.input.style.transform = `translate(${col * width}px, ${row * height + $('term-lines').offsetHeight}px)`;
    const told = (f) => f && JSON.stringify([f.title, f.lease, f.exit, f.size, f.secret_input, f.modes.mouse]);
    if (frame.full || told(before) !== told(frame)) this.#about();
    if (had && !this.mine) {
      this.typist.clear();
      if (frame.lease) toast(`${frame.lease.holder} has taken the session over`);
    }
    if (had !== this.mine) this.focus();
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
    take.disabled = this.reader || Boolean(this.#lost) || Boolean(s.exit) || Boolean(s.adapter) || !f;
    take.hidden = this.reader;
    take.title = s.adapter ? `The adapter ${s.plugin || s.adapter} drives this session` : this.mine ? 'Give it back (Ctrl+Shift+Enter)' : 'Type into this session yourself';
    take.classList.toggle('held', this.mine);
    for (const id of ['term-keys', 'term-paste', 'term-fit']) $(id).hidden = !this.mine;
    if (!this.mine) { $('term-key-row').hidden = true; $('term-keys').setAttribute('aria-expanded', 'false'); }
    this.stage.classList.toggle('mine', this.mine);
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

  // another says that the list has another session under the id of the one that is shown.
  another() {
    const now = this.info(this.id)?.started;
    return Boolean(now && this.#started && now !== this.#started);
  }

  refresh() { if (this.id) this.#about(); }

  focus() {
    if (document.querySelector('dialog[open]')) return;
    (this.mine ? this.input : this.stage).focus({ preventScroll: true });
  }

  async toggle() {
    try {
      if (this.mine) { this.typist.clear(); await this.wire().call('release', { session: this.id }); return; }
      const holder = this.#frame?.lease?.holder;
      if (holder && !await confirm('Take this session over?', 'Somebody else types into it. They can no more when you do, and are told so.', holder, 'Take over')) return;
      await this.wire().call('take', { session: this.id, force: Boolean(holder) });
      this.#latest();
    } catch (e) {
      toast(e.message);
    }
  }

  // fit chooses the size of the text so that the whole screen is to be seen.
  fit() {
    const { rows, cols } = this.screen.size, box = this.stage;
    let px = 26;
    const fits = (n) => metrics(n).width * cols <= box.clientWidth - margin && metrics(n).height * rows <= box.clientHeight - margin;
    while (px > 5 && !fits(px)) px -= 0.5;
    this.#px = Math.max(4, px + this.#zoom);
    this.screen.zoom(this.#px);
    $('term-lines').style.fontSize = `${this.#px}px`;
    $('term-lines').style.lineHeight = `${this.screen.cell.height}px`;
  }

  zoom(by) { this.#zoom += by; this.fit(); }

  #wire() {
    $('term-take').onclick = () => this.toggle();
    $('term-smaller').onclick = () => this.zoom(-1);
    $('term-larger').onclick = () => this.zoom(1);
    $('term-history').onclick = () => this.#older();
    $('term-past').onclick = () => { if (this.past.active) this.#live(); else this.#then(); };
    $('term-keys').onclick = () => {
      const row = $('term-key-row');
      row.hidden = !row.hidden;
      $('term-keys').setAttribute('aria-expanded', String(!row.hidden));
      this.fit();
    };
    $('term-key-row').append(...special.map(([label, key]) => {
      const b = make('button', '', label);
      b.type = 'button';
      b.onclick = () => { this.#type({ type: 'key', value: key }); this.focus(); };
      return b;
    }));
    $('term-paste').onclick = async () => {
      try {
        this.#paste(await navigator.clipboard.readText());
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
    new ResizeObserver(() => { if (this.#frame) this.fit(); }).observe(this.stage);
    this.screen.el.addEventListener('click', (e) => {
      const link = e.target.closest?.('.link')?.link;
      if (link && (!this.#takesMouse() || e.ctrlKey)) follow(link);
    });
    this.stage.addEventListener('scroll', () => {
      if (this.stage.scrollTop < 40 && this.#reading) this.#older();
      if (this.#atBottom() && this.#reading) this.#forget();
    });
    this.stage.addEventListener('wheel', (e) => {
      if (e.deltaY < 0 && !this.#takesMouse() && this.stage.scrollTop === 0) this.#older();
    }, { passive: true });
  }

  // Keyboard

  #type(action) { if (this.mine) { this.#live(); this.#latest(); this.typist.push(action); } }

  #paste(text) {
    if (!text || !this.mine) return;
    if (text.length > maxPaste) { toast(`The paste has ${text.length} characters: at most ${maxPaste} are taken at once.`); return; }
    if (this.#frame.modes.bracketed_paste) { this.#type({ type: 'bracketed_paste', value: text }); return; }
    const typed = text.replace(/\r?\n/g, '\r');
    const send = () => this.#type({ type: 'paste', value: typed });
    if (!/\r./.test(typed)) { send(); return; }
    confirm('Paste several lines?', 'The program takes each as if Enter was pressed after it.', text.slice(0, 2000), 'Paste').then((yes) => { if (yes) send(); this.focus(); });
  }

  #keys() {
    this.input.addEventListener('keydown', (e) => {
      if (!this.mine) return;
      e.stopPropagation();
      if (e.key === 'Enter' && e.ctrlKey && e.shiftKey) { e.preventDefault(); this.toggle(); return; }
      if (e.ctrlKey && e.shiftKey && e.key.toLowerCase() === 'c') { e.preventDefault(); this.#copy(); return; }
      const key = keyOf(e, this.#frame.modes);
      if (!key) return;
      e.preventDefault();
      this.#type({ type: 'key', value: key });
    });
    const typed = () => {
      if (this.#composing || !this.input.value) return;
      this.#type({ type: 'text', value: this.input.value.replace(/\r?\n/g, '\r') });
      this.input.value = '';
    };
    this.input.addEventListener('input', typed);
    this.input.addEventListener('compositionstart', () => { this.#composing = true; this.input.classList.add('composing'); });
    this.input.addEventListener('compositionend', () => { this.#composing = false; this.input.classList.remove('composing'); typed(); });
    this.input.addEventListener('paste', (e) => { e.preventDefault(); this.#paste(e.clipboardData.getData('text/plain')); });
    this.stage.addEventListener('keydown', (e) => {
      if (e.target !== this.stage) return;
      if (this.past.active) { this.past.key(e); return; }
      if (e.key === 'PageUp' && e.shiftKey || e.key === 'PageUp' && !this.#reading) { e.preventDefault(); this.#older(); }
      if (e.key === 'Enter' && !this.mine && !$('term-take').disabled && !e.ctrlKey) { e.preventDefault(); this.toggle(); }
    });
    this.stage.addEventListener('focus', () => { if (this.mine) this.input.focus({ preventScroll: true }); });
  }

  #copy() {
    const text = String(getSelection());
    if (text) navigator.clipboard.writeText(text).then(() => toast('Copied'), () => toast('The browser does not allow to copy'));
  }

  // Mouse

  #takesMouse() { return this.mine && this.#frame.modes.mouse !== 'none'; }

  #mouse() {
    const el = this.screen.el;
    const mods = (e) => ['alt', 'ctrl'].filter((m) => e[`${m}Key`]);
    const say = (e, button, action) => this.#type({ type: 'mouse', value: { ...this.screen.at(e.clientX, e.clientY), button, action, mods: mods(e) } });
    const theirs = (e) => this.#takesMouse() && !e.shiftKey; // with shift text is selected, as in terminals
    el.addEventListener('pointerdown', (e) => {
      if (!theirs(e) || e.button > 2) return;
      e.preventDefault();
      this.input.focus({ preventScroll: true });
      el.setPointerCapture(e.pointerId);
      this.#pressed = { button: buttons[e.button], at: '' };
      say(e, buttons[e.button], 'press');
    });
    el.addEventListener('pointerup', (e) => {
      if (!this.#pressed) return;
      const { button } = this.#pressed;
      this.#pressed = null;
      if (this.#takesMouse()) say(e, button, 'release');
    });
    el.addEventListener('pointermove', (e) => {
      if (!this.#takesMouse()) return;
      const mode = this.#frame.modes.mouse;
      if (mode !== 'any' && !(mode === 'drag' && this.#pressed)) return;
      const at = JSON.stringify(this.screen.at(e.clientX, e.clientY));
      if (this.moved === at) return;
      this.moved = at;
      say(e, this.#pressed?.button ?? 'none', 'move');
    });
    el.addEventListener('wheel', (e) => {
      if (!theirs(e)) return;
      e.preventDefault();
      say(e, Math.abs(e.deltaX) > Math.abs(e.deltaY) ? (e.deltaX < 0 ? 'wheel_left' : 'wheel_right') : e.deltaY < 0 ? 'wheel_up' : 'wheel_down', 'press');
    }, { passive: false });
    el.addEventListener('contextmenu', (e) => { if (theirs(e)) e.preventDefault(); });
    el.addEventListener('pointerup', () => { if (this.mine && getSelection().isCollapsed) this.input.focus({ preventScroll: true }); });
  }

  // Scrollback: lines count from the oldest that there ever was.

  #atBottom() { return this.stage.scrollTop + this.stage.clientHeight >= this.stage.scrollHeight - 4; }

  #latest() { if (this.#reading) this.#forget(); this.stage.scrollTop = this.stage.scrollHeight; }

  #forget() {
    this.#reading = false;
    $('term-lines').replaceChildren();
    this.stage.classList.remove('reading');
  }

  async #lines(from, count) {
    const total = this.screen.size.rows;
    const dropped = this.dropped ?? 0;
    const r = await this.wire().call('scrollback', { session: this.id, start: Math.max(0, from - dropped), count }, this.#abort?.signal);
    this.dropped = r.dropped;
    const start = r.start + r.dropped, end = r.total + r.dropped - total; // the screen's rows come last
    return { start, lines: r.lines.slice(0, Math.max(0, end - start)), end };
  }

  // older shows what comes before what is shown.
  async #older() {
    if (this.asking || !this.#frame || this.past.active) return;
    this.asking = true;
    try {
      if (!this.#reading) {
        const probe = await this.wire().call('scrollback', { session: this.id, count: 1 }, this.#abort?.signal);
        this.dropped = probe.dropped;
        this.#first = this.#next = probe.dropped + probe.total - this.screen.size.rows;
        if (this.#first <= probe.dropped) { toast('There is no scrollback.'); return; }
        this.#reading = true;
        this.stage.classList.add('reading');
      }
      const from = Math.max(this.dropped, this.#first - chunk);
      if (from >= this.#first) return;
      const { start, lines } = await this.#lines(from, this.#first - from);
      if (!this.#reading) return;
      const height = this.stage.scrollHeight, top = this.stage.scrollTop;
      $('term-lines').prepend(...lines.map((l) => make('div', 'row', l)));
      this.#first = start;
      const grown = this.stage.scrollHeight - height;
      this.stage.scrollTop = top + grown - Math.min(grown, this.stage.clientHeight * 0.8 * (top === 0 || this.#atBottom() ? 1 : 0));
    } catch (e) {
      if (e.reason !== 'cancelled') toast(e.message);
    } finally {
      this.asking = false;
    }
  }

  // newer adds what has left the screen since, while older lines are read.
  async #newer() {
    if (this.asking) return;
    this.asking = true;
    try {
      const { start, lines, end } = await this.#lines(this.#next, chunk);
      if (!this.#reading || start > this.#next && lines.length === 0) return;
      $('term-lines').append(...lines.map((l) => make('div', 'row', l)));
      this.#next = Math.min(start + lines.length, end);
      await pause(200);
    } catch (e) {
      if (e.reason !== 'cancelled') toast(e.message);
    } finally {
      this.asking = false;
    }
  }
}
