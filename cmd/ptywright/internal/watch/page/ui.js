// What all views use: elements, the dialog, the toast, sizes of text.

export const $ = (id) => document.getElementById(id);

// make makes an element with a class and a text.
export function make(tag, className = '', text = '') {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text) e.textContent = text;
  return e;
}

let fading = 0;

export function toast(text) {
  const t = $('toast');
  t.textContent = text;
  t.classList.add('shown');
  clearTimeout(fading);
  fading = setTimeout(() => t.classList.remove('shown'), 6000);
}

export const copy = (text) => navigator.clipboard.writeText(text).then(
  () => toast('Copied'),
  () => toast('The browser does not allow copying: select the text and copy it with the menu'),
);

// teach says in an empty place why it is empty, and which commands fill it: each with a button that
// copies it.
export function teach(el, text, ...commands) {
  const said = JSON.stringify([text, commands]);
  if (el.said === said) return; // a button of it may be clicked on right now
  el.said = said;
  el.replaceChildren(make('p', '', text), ...commands.map((command) => {
    const line = make('p', 'command');
    const button = make('button', '', 'Copy');
    button.type = 'button';
    button.setAttribute('aria-label', `Copy the command ${command}`);
    button.onclick = () => copy(command);
    line.append(make('code', '', command), button);
    return line;
  }));
}

// confirm asks a question, with a text of somebody's quoted as it is, and resolves with whether the answer was yes.
export function confirm(title, text, quote, yes) {
  const d = $('dialog');
  $('dialog-title').textContent = title;
  $('dialog-text').textContent = text;
  $('dialog-quote').textContent = quote;
  $('dialog-quote').hidden = !quote;
  $('dialog-no').hidden = false;
  $('dialog-yes').textContent = yes;
  return show(d);
}

// tell shows a text, and what is quoted or made, until it is put away.
export function tell(title, text, ...quote) {
  confirm(title, text, '', 'Close');
  $('dialog-quote').replaceChildren(...quote);
  $('dialog-quote').hidden = false;
  $('dialog-no').hidden = true;
}

// answer takes what is said to the question that is open. A dialog's close event comes a frame after it has closed, when the next
// question may be open already: so each has its own, and is answered before the next is asked.
let answer = null;

function settle() {
  answer?.($('dialog').returnValue === 'yes');
  answer = null;
}
$('dialog').addEventListener('close', () => { if (!$('dialog').open) settle(); });
// The Enter that has opened a question, held down, is no answer to it.
$('dialog').addEventListener('keydown', (e) => { if (e.key === 'Enter' && e.repeat) e.preventDefault(); });

function show(d) {
  if (d.open) d.close('no');
  settle();
  d.returnValue = 'no';
  d.showModal(); // what has the focus has it again when the dialog closes
  $('dialog-yes').focus();
  return new Promise((resolve) => { answer = resolve; });
}

// follow opens a link of a program's, if it is of a kind that a browser should open and the person says so.
export async function follow(link) {
  let url;
  try { url = new URL(link); } catch { url = null; }
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) {
    tell('This link is not opened', 'Only http, https and mailto are.', String(link).slice(0, 2048));
    return;
  }
  if (await confirm('Open this address?', 'A program has put this link on its screen.', url.href, 'Open')) {
    window.open(url.href, '_blank', 'noopener,noreferrer');
  }
}

// sentence makes one of an error's text, without its full stop.
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');

// time reads one of the server's, which are finer than a Date's, in milliseconds.
export const time = (text) => Date.parse(text.replace(/(\.\d{3})\d+/, '$1'));

export function duration(ms) {
  const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, '0');
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

export function bytes(n) {
  for (const unit of ['B', 'KiB', 'MiB']) {
    if (n < 1024 || unit === 'MiB') return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1024;
  }
}

// ended says how a program ended; null when it runs.
export function ended(exit) {
  if (!exit) return null;
  if (exit.killed) return 'killed'; // somebody wanted it: its signal says nothing about the program
  if (exit.signal) return exit.signal;
  return exit.exit_code === null ? 'ended' : `exit ${exit.exit_code}`;
}

// commandOf is a session's command line.
export const commandOf = (s) => [s.program.split(/[\\/]/).pop(), ...(s.args ?? [])].join(' ');

// pills are the marks of a session: what it is under, who has it, how it ended.
export function pills(s) {
  const out = [];
  const pill = (kind, text, title) => { const e = make('span', `pill ${kind}`, text); e.title = title; out.push(e); };
  if (s.plugin || s.adapter) pill('adapter', s.state ? `${s.plugin || 'adapter'}: ${s.state}` : s.plugin || 'adapter', `driven by the adapter ${s.adapter}`);
  if (s.lease) pill(s.lease.yours ? 'yours' : 'lease', s.lease.yours ? 'yours' : s.lease.holder, `may type since ${new Date(s.lease.since).toLocaleTimeString()}: ${s.lease.holder}`);
  const end = ended(s.exit);
  if (end) pill(s.exit.killed ? 'killed' : end === 'exit 0' ? 'done' : 'failed', end, s.exit.killed ? 'somebody ended the program' : 'the program has ended');
  return out;
}

// edges marks a bar that is moved sideways where more of it lies outside: to the left, to the right.
export function edges(bar) {
  const look = () => {
    const left = Math.abs(bar.scrollLeft), rest = bar.scrollWidth - bar.clientWidth - left;
    bar.classList.toggle('more-left', left > 1); // scrolling ends within a pixel
    bar.classList.toggle('more-right', rest > 1);
  };
  bar.addEventListener('scroll', look, { passive: true });
  const watcher = new ResizeObserver(look);
  for (const el of [bar, ...bar.children]) watcher.observe(el);
}

// nextFrame resolves when the browser draws next: never while the page is hidden.
export const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
