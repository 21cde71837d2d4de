// Recordings: the list, and the player. Screens are made by ptywright; the page asks for that of a time, and is told when the
// next one could be another.

import { fitting } from './rows.js';
import { Screen, margin } from './screen.js';
import { Timeline, remember, remembered } from './timeline.js';
import { $, bytes, duration, follow, make, nextFrame, sentence, teach } from './ui.js';

export class Recordings {
  #shown = '';

  constructor(wire) {
    this.wire = wire;
    this.commands = []; // that make a recording
  }

  // show lists what there is. A list that has not changed stays as it is: it may be clicked on right now.
  async show() {
    const empty = $('casts-empty');
    try {
      const { recordings, problem } = await this.wire().call('recordings');
      const list = JSON.stringify(recordings);
      if (list !== this.#shown) $('casts').replaceChildren(...recordings.map((r) => this.#item(r)));
      this.#shown = list;
      empty.hidden = recordings.length > 0 && !problem;
      if (problem) teach(empty, `${sentence(problem.message)}.`);
      else teach(empty, 'There is no recording yet. This makes one, which appears here:', ...this.commands);
    } catch (e) {
      empty.hidden = false;
      teach(empty, `${sentence(e.message)}.`);
    }
  }

  #item(r) {
    const li = make('li');
    const a = make(r.refused ? 'span' : 'a', 'cast');
    if (!r.refused) a.href = `#/cast/${encodeURIComponent(r.id)}`;
    const about = [r.session && `session ${r.session}`, r.duration_ms && duration(r.duration_ms), bytes(r.bytes), r.modified && new Date(r.modified).toLocaleString(), r.refused];
    a.append(make('strong', '', r.name), make('span', 'about', about.filter(Boolean).join(' · ')));
    if (r.state === 'recording') a.append(make('span', 'pill lease', 'recording'));
    if (r.state === 'failed') a.append(make('span', 'pill failed', 'failed'));
    a.append(make('span', 'pill', r.format));
    li.append(a);
    return li;
  }
}

export class Player {
  #abort = null; #cast = null; #at = 0; #since = 0; #playing = false; #began = 0; #timer = 0; #seeking = false; #again = false; #zoom = 0;

  constructor(wire) {
    this.wire = wire;
    this.screen = new Screen(true);
    $('player-paper').append(this.screen.el);
    $('player-play').onclick = () => this.toggle();
    $('player-seek').oninput = (e) => { if (this.#cast) this.seek(Number(e.target.value) / 1000 * this.#cast.duration_ms); };
    $('player-speed').onchange = () => this.#clock();
    $('player-idle').onchange = () => this.open(this.id);
    this.timeline = new Timeline('player', {
      extent: () => ({ from: 0, to: this.#cast?.duration_ms ?? 0, at: this.#at }),
      choose: ({ at }) => { this.play(false); this.seek(at + 0.01); },
      back: () => false,
    });
    $('player-timeline').onclick = () => { remember(!this.timeline.shown); this.#events(); };
    new ResizeObserver(() => { if (this.#cast) this.fit(); }).observe($('player-stage'));
    this.screen.el.addEventListener('click', (e) => { const link = e.target.closest?.('.link')?.link; if (link) follow(link); });
    $('view-player').addEventListener('keydown', (e) => this.#key(e));
  }

  get speed() { return Number($('player-speed').value); }

  async open(id) {
    this.close();
    this.id = id;
    const abort = this.#abort = new AbortController();
    $('player-title').textContent = id.slice(id.indexOf(':') + 1);
    $('player-about').textContent = 'Loading…';
    $('player-time').textContent = '0:00 / 0:00';
    $('player-seek').value = 0;
    $('player-marks').replaceChildren();
    this.screen.clear();
    try {
      const cast = await this.wire().call('open', { id, idle_ms: $('player-idle').checked ? 1000 : 0 }, abort.signal);
      if (abort.signal.aborted) return;
      this.#controls(this.#cast = cast);
      this.#at = this.#since = 0;
      if (cast.title) $('player-title').textContent = cast.title;
      $('player-about').textContent = [cast.command, `${cast.rows}×${cast.cols}`, cast.started && new Date(cast.started).toLocaleString(), cast.truncated && 'it is cut off at its end'].filter(Boolean).join(' · ');
      document.title = `${$('player-title').textContent} · ptywright watch`;
      $('player-marks').replaceChildren(...(cast.markers ?? []).map((m) => {
        const e = make('i');
        e.style.left = `${100 * m.at_ms / Math.max(1, cast.duration_ms)}%`;
        e.title = m.label;
        return e;
      }));
      this.timeline.clear();
      this.timeline.add((cast.events ?? []).map(({ at_ms: at, event }) => ({ at, event })));
      this.#events();
      $('player-stage').focus();
      this.play(true);
    } catch (e) {
      if (e.reason !== 'cancelled') $('player-about').textContent = e.message;
    }
  }

  close() {
    this.play(false);
    this.#abort?.abort();
    this.#controls(this.#cast = null);
  }

  // controls are for a recording that is open.
  #controls(on) { for (const id of ['player-play', 'player-seek', 'player-timeline']) $(id).disabled = !on; }

  // events shows the timeline, if it is wanted and has something.
  #events() {
    const on = remembered() && this.#cast !== null;
    this.timeline.show(on);
    $('player-timeline').setAttribute('aria-pressed', String(on));
  }

  toggle() {
    if (!this.#cast) return;
    if (!this.#playing && this.#at >= this.#cast.duration_ms) this.#at = 0;
    this.play(!this.#playing);
  }

  play(on) {
    this.#playing = on;
    $('player-play').textContent = on ? 'Pause' : 'Play';
    clearTimeout(this.#timer);
    if (on) { this.#clock(); this.#show(); }
  }

  seek(at) {
    if (!this.#cast) return;
    this.#at = Math.max(0, Math.min(this.#cast.duration_ms, at));
    this.#clock();
    this.#show();
  }

  // clock remembers when the beginning would have been played.
  #clock() { this.#began = performance.now() - this.#at / this.speed; }

  // show asks for the screen of now, draws it, and comes again when it could be another. One request is under way at a time.
  async #show() {
    if (this.#seeking) { this.#again = true; return; }
    clearTimeout(this.#timer);
    const abort = this.#abort;
    this.#seeking = true;
    try {
      do {
        this.#again = false;
        if (this.#playing) this.#at = Math.min(this.#cast.duration_ms, (performance.now() - this.#began) * this.speed);
        const asked = this.#at;
        const frame = await this.wire().call('at', { at_ms: asked, since: this.#since }, abort.signal);
        if (abort.signal.aborted || !this.#cast) return;
        this.#since = frame.sequence;
        this.next = frame.next_ms;
        this.screen.draw(frame);
        if (frame.full) this.fit();
        this.#time();
        await nextFrame();
      } while (this.#again);
      if (!this.#playing) return;
      if (this.next === null) { this.#at = this.#cast.duration_ms; this.#time(); this.play(false); return; }
      // The clock is shown while nothing else changes.
      this.#timer = setTimeout(() => this.#tick(), Math.min(500, Math.max(0, (this.next - this.#at) / this.speed)));
    } catch (e) {
      if (e.reason !== 'cancelled') { this.play(false); $('player-about').textContent = e.message; }
    } finally {
      this.#seeking = false;
    }
  }

  #tick() {
    const now = (performance.now() - this.#began) * this.speed;
    if (now + 1 >= this.next) { this.#show(); return; }
    this.#at = now;
    this.#time();
    this.#timer = setTimeout(() => this.#tick(), Math.min(500, (this.next - now) / this.speed));
  }

  #time() {
    const all = this.#cast.duration_ms;
    $('player-time').textContent = `${duration(this.#at)} / ${duration(all)}`;
    const seek = $('player-seek');
    seek.value = all ? 1000 * this.#at / all : 0;
    this.timeline.reach(this.#at);
    seek.setAttribute('aria-valuetext', `${duration(this.#at)} of ${duration(all)}`);
  }

  fit() {
    const { rows, cols } = this.screen.size, box = $('player-stage');
    const px = fitting(rows, cols, box.clientWidth - margin, box.clientHeight - margin, 5, 26, 0.5);
    this.screen.zoom(Math.max(4, px + this.#zoom));
  }

  zoom(by) {
    this.#zoom += by;
    this.fit();
  }

  #key(e) {
    if (!this.#cast || e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === 'SELECT') return;
    const button = e.target.tagName === 'BUTTON' || e.target.type === 'checkbox';
    const step = { ArrowLeft: -5000, ArrowRight: 5000 }[e.key];
    if (e.key === ' ' && !button || e.key === 'k') this.toggle();
    else if (step) this.seek(this.#at + step);
    else if (e.key === 'Home') this.seek(0);
    else if (e.key === 'End') this.seek(this.#cast.duration_ms);
    else if (e.key === '.' && this.next !== null) { this.play(false); this.seek(this.next + 0.01); }
    else return;
    e.preventDefault();
  }
}
