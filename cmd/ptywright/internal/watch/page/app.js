// The page: it logs in, keeps the list of sessions, and shows the view that the address names.

import { Grid } from './grid.js';
import { Player, Recordings } from './player.js';
import { Term } from './term.js';
import { $, make, tell, toast } from './ui.js';
import { Wire } from './wire.js';

// The token came behind #: it is in no request. It goes from the address at once, so that it is in no history and in no
// picture of this window, and stays with this tab so that the page can be loaded anew.
const given = /^#token=([A-Za-z0-9]+)$/.exec(location.hash);
if (given) {
  sessionStorage.setItem('token', given[1]);
  history.replaceState(null, '', '#/');
}
const token = sessionStorage.getItem('token') ?? '';

let wire = new Wire();
const now = () => wire;
const grid = new Grid(now);
const term = new Term(now, (id) => grid.get(id));
const recordings = new Recordings(now);
const player = new Player(now);

function banner(text) {
  $('banner').hidden = !text;
  $('banner-text').textContent = text;
}

async function connect() {
  banner('');
  wire.close();
  wire = new Wire();
  const mine = wire;
  let hello;
  try {
    hello = await mine.open(token, (e) => { if (wire === mine) banner(`${e.message}.`); });
  } catch (e) {
    banner(e.reason === 'not_let_in' ? 'This page needs the whole address that ptywright watch has printed: what is behind # is the key.' : `${e.message}.`);
    return;
  }
  document.documentElement.dataset.socket = hello.socket;
  document.body.classList.toggle('reader', hello.read_only);
  term.reader = hello.read_only;
  if (hello.problem) {
    banner(`There is no server: ${hello.problem.message}.`);
    grid.show([]);
    $('grid-empty').textContent = `No server listens at ${hello.socket}. Recordings can be played.`;
    if (!shown) route(); // the last words of a session stay
    return;
  }
  list(mine);
}

// list keeps the list of sessions up to date. With the first the view is shown: a server that was started anew counts its
// sessions from the beginning, and one that is shown must not become another of the same name.
async function list(mine) {
  let since = 0;
  try {
    for (;;) {
      const { version, sessions } = await mine.call('sessions', { since });
      grid.show(sessions);
      if (since) {
        term.refresh();
        if (!$('view-casts').hidden) recordings.show();
      } else {
        if (shown && term.another()) {
          toast(`The server is another one than before: its ${term.id} is not the session that was shown here`);
          history.replaceState(null, '', '#/');
        }
        route();
        grid.restart();
      }
      since = version;
    }
  } catch (e) {
    if (wire === mine && $('banner').hidden) banner(`${e.message}.`);
  }
}

let shown = '';

function route() {
  const [, view = '', id = ''] = /^#\/(\w*)\/?(.*)$/.exec(location.hash) ?? [];
  const name = { session: 'term', recordings: 'casts', cast: 'player' }[view] ?? 'grid';
  for (const v of ['grid', 'term', 'casts', 'player']) $(`view-${v}`).hidden = v !== name;
  document.body.dataset.view = name;
  $('to-sessions').toggleAttribute('aria-current', name === 'grid' || name === 'term');
  $('to-recordings').toggleAttribute('aria-current', name === 'casts' || name === 'player');
  if (name !== 'term') term.close();
  if (name !== 'player') player.close();
  const what = decodeURIComponent(id);
  document.title = 'ptywright watch';
  if (name === 'term') term.open(grid.id(what));
  if (name === 'player') player.open(what);
  if (name === 'casts') recordings.show();
  if (name === 'grid' && shown) document.querySelector(`.tile[href="#/session/${CSS.escape(shown)}"]`)?.focus();
  shown = name === 'term' ? id : '';
}

window.addEventListener('hashchange', route);
window.addEventListener('pagehide', () => wire.close());
$('again').onclick = connect;
$('smaller').onclick = () => grid.size(-80);
$('larger').onclick = () => grid.size(80);

const themes = ['auto', 'dark', 'light'];
function theme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem('theme', name);
  $('theme').textContent = name[0].toUpperCase() + name.slice(1);
  $('theme').setAttribute('aria-label', `Theme: ${name}`);
}
$('theme').onclick = () => theme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]);
theme(themes.includes(localStorage.getItem('theme')) ? localStorage.getItem('theme') : 'auto');

const keys = () => ({
  Everywhere: [['/', 'filter the sessions'], ['?', 'this list'], ['Esc', 'back']],
  Sessions: [['arrows, Enter', 'choose, open']],
  'One session': [
    ['Page Up', 'scrollback'],
    ...term.reader ? [] : [
      ['Enter', 'take it over'],
      ['Ctrl+Shift+Enter', 'give it back'],
      ['Ctrl+Shift+C / V', 'copy, paste'],
      ['Shift + mouse', 'select text where the program takes the mouse'],
      ['Ctrl+click', 'open a link there'],
    ],
  ],
  Recordings: [['Space', 'play, pause'], ['← →', 'five seconds'], ['.', 'the next change'], ['Home, End', 'beginning, end']],
});
$('help').onclick = () => tell('Keys', '', ...Object.entries(keys()).flatMap(([where, list]) => [make('h3', '', where), ...list.map(([key, does]) => {
  const line = make('div', 'key');
  line.append(make('kbd', '', key), make('span', '', does));
  return line;
})]));

document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || document.querySelector('dialog[open]')) return;
  const typing = e.target.matches?.('input[type=search], textarea, select');
  if (e.key === 'Escape') {
    if (e.target === $('filter')) { $('filter').value = ''; $('filter').dispatchEvent(new Event('input')); $('filter').blur(); }
    else if (document.body.dataset.view === 'term') location.hash = '#/';
    else if (document.body.dataset.view === 'player') location.hash = '#/recordings';
    else return;
  } else if (e.key === '/' && !typing) {
    if (document.body.dataset.view !== 'grid') location.hash = '#/';
    $('filter').focus();
  } else if (e.key === '?' && !typing) {
    $('help').click();
  } else if (document.body.dataset.view !== 'grid' || typing || e.shiftKey || !grid.move(e)) {
    return;
  }
  e.preventDefault();
});

connect();
