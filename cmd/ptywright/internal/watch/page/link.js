// The link keeps the page connected: when the connection is lost, or the server behind it is gone, it
// tries again by itself, each time after a longer pause.

import { Wire } from './wire.js';

// The pauses begin with the first and double up to the last, in milliseconds, each a quarter shorter or
// longer by chance: pages that were lost together do not come back together.
const first = 500, last = 15000;

export class Link {
  #tries = 0; #timer = 0; #why = null; #at = 0;

  // token returns the token to log in with. serve uses a connection until it throws why that is no good any more. told is given that, and the
  // seconds until the next try: 0 while it is tried, null when trying is of no use.
  constructor(token, serve, told) {
    Object.assign(this, { token, serve, told });
    this.wire = new Wire();
    const now = () => { if (this.#why && !document.hidden) this.now(); };
    window.addEventListener('online', now);
    document.addEventListener('visibilitychange', now);
  }

  // now tries at once.
  async now() {
    clearTimeout(this.#timer);
    if (this.#why) this.told(this.#why, 0);
    this.#why = null;
    this.wire.close();
    const mine = this.wire = new Wire();
    try {
      const hello = await mine.open(this.token(), (e) => this.#lost(mine, e));
      await this.serve(mine, hello);
    } catch (e) {
      this.#lost(mine, e);
    }
  }

  // works says that the connection is of use: the next pause is a short one again.
  works() { this.#tries = 0; }

  #lost(mine, e) {
    if (mine !== this.wire || this.#why) return;
    mine.close();
    if (e.reason === 'not_let_in') { this.told(e, null); return; }
    this.#why = e;
    const pause = Math.min(last, first * 2 ** this.#tries++) * (0.75 + Math.random() / 2);
    this.#at = performance.now() + pause;
    this.#count();
  }

  #count() {
    const rest = this.#at - performance.now();
    if (rest <= 0) { this.now(); return; }
    this.told(this.#why, Math.ceil(rest / 1000));
    this.#timer = setTimeout(() => this.#count(), rest % 1000 || 1000);
  }
}
