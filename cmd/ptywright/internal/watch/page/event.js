// Events of a session in words, for the timeline: its list, and its lanes. All text is text, never
// markup.

import { span } from './marks.js';
import { time } from './ui.js';

export const goesOn = (e) => e.state === 'pending' || e.state === 'running' || e.state === 'held';

// clock is the time of day.
export const clock = (at) => new Date(at).toLocaleTimeString([], { hour12: false });

// short is a span of time that has ended: what took less than ten seconds is told in tenths.
const short = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : span(ms));

// lasted is how long an event lasted, or grew, in milliseconds.
export const lasted = (e) => (e.until ? time(e.until) - time(e.at) : 0);

// words says what an event is: a headline, what it is about, its evidence, and who it was.
export function words(e) {
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
export function tone(e) {
  if (goesOn(e)) return e.kind === 'lease' ? 'held' : 'pending';
  if (e.kind === 'wait') return e.state === 'matched' ? 'good' : e.state === 'cancelled' ? '' : 'bad';
  if (e.exit_code !== undefined) return e.exit_code ? 'bad' : 'good';
  return e.signal || e.state === 'blocked' ? 'bad' : '';
}
