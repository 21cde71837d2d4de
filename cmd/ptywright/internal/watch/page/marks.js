// What a tile says beside its screen of how its session does: what it waits for and how long, whether
// anything moves, the last exit code, the bell, the age. And the order that this makes.

import { make } from './ui.js';

// A session is stuck when somebody waits on it and its screen has not changed for so long, in
// milliseconds: a program that works draws something within seconds, a build or an agent at least its
// spinner. After long it is so for certain.
const stuck = 15_000, long = 60_000;
// A bell, and a wait that failed, are news for so long.
const news = 60_000;

const since = (time) => Date.now() - Date.parse(time);

// age tells how old a session is, without the seconds: what is written anew each second makes the page
// busy for nothing.
function age(ms) {
  if (ms < 10_000) return 'just started';
  if (ms < 60_000) return `age ${10 * Math.floor(ms / 10_000)}s`;
  return `age ${ms < 3_600_000 ? `${Math.floor(ms / 60_000)}m` : span(ms)}`;
}

// span is a length of time at a glance.
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000)), two = (n) => String(n).padStart(2, '0');
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)}`;
  return s < 86_400 ? `${Math.floor(s / 3600)}h ${Math.floor(s / 60) % 60}m` : `${Math.floor(s / 86_400)}d`;
}

// levels are how much a session needs somebody, most first. One that is over has ended as it should.
const levels = ['stuck', 'still', 'failed', 'bell', '', 'over'];

// changed is when the screen last changed, as far as the list and who has seen it know: a list tells it
// to some seconds, before the session began even.
const changed = (s, moved) => Math.max(moved, Date.parse(s.changed) || 0, Date.parse(s.started) || 0);

// attention says how much a session needs somebody, and since when. moved is when its screen was seen
// to change.
export function attention(s, moved = 0) {
  if (s.exit) return { level: s.exit.killed || s.exit.exit_code === 0 ? 'over' : 'failed', ms: 0 };
  const wait = s.waits?.[0];
  if (wait) {
    const ms = Math.min(since(wait.at), Date.now() - changed(s, moved));
    if (ms >= stuck) return { level: ms >= long ? 'stuck' : 'still', ms };
  }
  if (s.bell && since(s.bell) < news) return { level: 'bell', ms: 0 };
  return { level: s.command?.exit_code ? 'failed' : '', ms: 0 };
}

// before compares two sessions: who needs somebody comes first, the longest of them before others,
// and all else is as the list has it. Those of one level do not change places by the second.
export function before(a, b) {
  const rank = (x) => levels.indexOf(x.level);
  return rank(a) - rank(b) || (a.since && b.since ? a.since - b.since : 0);
}

export class Marks {
  #session = null; #moved = 0; #level = ''; #since = 0;

  constructor() {
    this.el = make('div', 'lately');
    this.wait = make('span', 'wait');
    this.more = make('span', 'more');
    this.el.append(this.wait, this.more);
  }

  // show takes what the list says.
  show(session) {
    this.#session = session;
    this.tick(true);
  }

  // saw says that the screen has changed.
  saw() { this.#moved = Date.now(); }

  get level() { return this.#level; }
  // since is when it came to need somebody; 0 if it does not.
  get since() { return this.#since; }

  // said is what does not change by the second, in words.
  get said() {
    const s = this.#session, wait = s?.waits?.[0];
    return [
      this.#level === 'stuck' || this.#level === 'still' ? 'stuck' : '',
      wait && !s.exit ? `waits until ${wait.text}` : '',
      s?.command?.exit_code ? `last exit code ${s.command.exit_code}` : '',
    ].filter(Boolean).join(', ');
  }

  // tick answers whether the level is another, and tells times anew if they are in sight.
  tick(seen) {
    const s = this.#session;
    if (!s) return false;
    const { level, ms } = attention(s, this.#moved);
    if (seen) this.#write(s);
    if (level === this.#level) return false;
    this.#level = level;
    this.#since = level && level !== 'over' ? Date.now() - ms : 0;
    this.el.dataset.level = level;
    return true;
  }

  #write(s) {
    const wait = s.exit ? null : s.waits?.[0];
    const still = Date.now() - changed(s, this.#moved);
    text(this.wait, wait ? `waits ${span(since(wait.at))} until ${wait.text}` : '');
    const title = wait ? `${wait.by ?? 'somebody'} waits${wait.timeout_ms ? `, at most ${span(wait.timeout_ms)}` : ''}` : '';
    if (this.wait.title !== title) this.wait.title = title;
    const command = s.command;
    text(this.more, [
      s.waits?.length > 1 ? `${s.waits.length} waits` : '',
      s.exit ? '' : still >= 5000 ? `still ${span(still)}` : 'active',
      command?.state === 'running' ? `runs ${command.text}` : command?.exit_code !== undefined ? `${command.text}: exit ${command.exit_code}` : '',
      s.bell && since(s.bell) < news ? `bell ${span(since(s.bell))} ago` : '',
      s.started ? age(since(s.started)) : '',
    ].filter(Boolean).join(' · '));
  }
}

// text writes a text that differs.
function text(el, words) { if (el.textContent !== words) el.textContent = words; }
