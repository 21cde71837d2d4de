// The past of the session that is shown: a bar below its screen. The server makes the screens, and hides in them what is secret
// by now.

import { $, duration, nextFrame, time } from './ui.js';

const beat = 60; // milliseconds between two screens that are played

export class Past {
  #abort = null; #from = 0; #server = 0; #heard = 0; #at = 0; #playing = false; #origin = 0; #began = 0; #timer = 0; #asking = false; #again = false; #sequence = null;

  // draw shows a frame, live goes back to the present, and say tells what is shown.
  constructor(wire, draw, live, say) {
    Object.assign(this, { wire, draw, live, say });
    $('past-play').onclick = () => this.play(!this.#playing);
    $('past-live').onclick = () => this.live();
    $('past-speed').onchange = () => this.#clock();
    $('past-seek').oninput = (e) => this.seek(this.#from + Number(e.target.value) / 1000 * (this.#now() - this.#from));
    $('past-bar').addEventListener('keydown', (e) => this.key(e));
  }

  get active() { return this.#abort !== null; }

  // #now is the server's time.
  #now() { return this.#server + performance.now() - this.#heard; }

  open(session) {
    this.close();
    this.session = session;
    this.#abort = new AbortController();
    this.#at = Infinity; // now
    this.#sequence = null;
    $('past-bar').hidden = false;
    $('term-past').setAttribute('aria-pressed', 'true');
    $('past-seek').focus();
    this.#show();
  }

  close() {
    this.#abort?.abort();
    this.#abort = null;
    this.play(false);
    $('past-bar').hidden = true;
    $('term-past').setAttribute('aria-pressed', 'false');
  }

  play(on) {
    this.#playing = on && this.active;
    if (on) this.#sequence = null;
    $('past-play').textContent = this.#playing ? 'Pause' : 'Play';
    clearTimeout(this.#timer);
    if (this.#playing) { this.#clock(); this.#show(); }
  }

  // moment shows a sequence: exactly what an event was about.
  moment(sequence) {
    this.play(false);
    this.#sequence = sequence;
    this.#show();
  }

  seek(at) {
    if (!this.active) return;
    this.#sequence = null;
    this.#at = Math.max(this.#from, Math.min(this.#now(), at));
    this.#clock();
    this.#show();
  }

  // #clock remembers what was shown when the playing began.
  #clock() { this.#origin = Math.min(this.#at, this.#now()); this.#began = performance.now(); }

  // show asks for a screen and draws it. One request is under way at a time.
  async #show() {
    if (this.#asking) { this.#again = true; return; }
    clearTimeout(this.#timer);
    const abort = this.#abort;
    this.#asking = true;
    try {
      do {
        this.#again = false;
        if (this.#playing) this.#at = this.#origin + (performance.now() - this.#began) * Number($('past-speed').value);
        if (this.#playing && this.#at >= this.#now()) { this.live(); return; }
        const at = Number.isFinite(this.#at) ? new Date(this.#at).toISOString() : undefined;
        const sequence = this.#sequence ?? undefined;
        const { frame, now } = await this.wire().call('past', { session: this.session, sequence, time: sequence === undefined ? at : undefined }, abort.signal);
        if (abort.signal.aborted) return;
        if (sequence !== undefined) this.#at = time(frame.shown_at);
        this.#server = time(now);
        this.#heard = performance.now();
        this.#from = time(frame.kept_from_at);
        this.#at = Math.max(this.#from, Math.min(this.#at, this.#server));
        this.draw(frame);
        this.#tell(frame);
        await nextFrame();
      } while (this.#again && this.#abort === abort);
      if (this.#playing) this.#timer = setTimeout(() => this.#show(), beat);
    } catch (e) {
      if (abort.signal.aborted) return;
      this.play(false);
      this.say(e.message);
    } finally {
      this.#asking = false;
      if (this.active && this.#abort !== abort) this.#show(); // opened again meanwhile
    }
  }

  #tell(frame) {
    const all = Math.max(1, this.#now() - this.#from), ago = Math.max(0, this.#now() - this.#at);
    const seek = $('past-seek');
    if (this.#playing || document.activeElement !== seek) seek.value = 1000 * (this.#at - this.#from) / all;
    seek.setAttribute('aria-valuetext', `${duration(ago)} ago`);
    $('past-time').textContent = `−${duration(ago)} / ${duration(all)}`;
    this.say(`As it was at ${new Date(this.#at).toLocaleTimeString()}, sequence ${frame.sequence}.`);
  }

  key(e) {
    if (!this.active || e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === 'SELECT') return;
    const step = { ArrowLeft: -5000, ArrowRight: 5000 }[e.key];
    if (e.key === ' ' && e.target.tagName !== 'BUTTON') this.play(!this.#playing);
    else if (step) this.seek(Math.min(this.#at, this.#now()) + step);
    else if (e.key === 'Home') this.seek(this.#from);
    else if (e.key === 'End') this.live();
    else return;
    e.preventDefault();
  }
}
