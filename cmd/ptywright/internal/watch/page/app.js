// The page: it logs in, keeps the list of sessions, and shows the view that the address names.

import { Grid } from './grid.js';
import { Link } from './link.js';
import { Player, Recordings } from './player.js';
import { Term } from './term.js';
import { $, edges, make, sentence, teach, tell, toast } from './ui.js';
import { Refused } from './wire.js';

// The token came behind #: it is in no request. It goes from the address at once, so that it is in no history and in no
// picture of this window, and stays with this tab so that the page can be loaded anew.
function taken() {
  const [, token] = /^#token=([A-Za-z0-9]+)$/.exec(location.hash) ?? [];
  if (!token) return false;
  sessionStorage.setItem('token', token);
  history.replaceState(null, '', '#/');
  return true;
}
taken();

const link = new Link(() => sessionStorage.getItem('token') ?? '', serve, told);
const now = () => link.wire;
const grid = new Grid(now);
const term = new Term(now, (id) => grid.get(id));
const recordings = new Recordings(now);
const player = new Player(now);

// told says that the page is not connected, why, and when it tries again.
function told(e, seconds) {
  const text = e.reason === 'not_let_in'
    ? 'This page needs the whole address that ptywright watch has printed: what is behind # is the key. A ptywright watch that was started anew has another.'
    : `${sentence(e.message)}.`;
  $('banner').hidden = false;
  if ($('banner-text').textContent !== text) $('banner-text').textContent = text;
  $('banner-when').textContent = seconds === null ? '' : seconds ? `Trying again in ${seconds} s.` : 'Trying again…';
  $('again').hidden = seconds === null;
  term.lost();
}

// serve uses a connection for as long as it is of use: it shows the view that the address names, and
// keeps the list of sessions up to date.
async function serve(mine, hello) {
  document.documentElement.dataset.socket = hello.socket;
  document.body.classList.toggle('reader', hello.read_only);
  term.reader = hello.read_only;
  grid.spawn = hello.spawn;
  recordings.commands = hello.record;
  if (hello.problem) {
    if (!shown) { grid.show([]); route(); } // what was shown of a server that has gone stays
    if (grid.empty) teach($('grid-empty'), 'No server runs. This starts one, with a session:', hello.spawn);
    throw new Refused(hello.problem.reason, hello.problem.message);
  }
  for (let since = 0; ;) {
    const { version, sessions } = await mine.call('sessions', { since });
    grid.show(sessions);
    if (since) {
      term.refresh();
      if (!$('view-casts').hidden) recordings.show();
    } else {
      const again = !$('banner').hidden;
      $('banner').hidden = true;
      link.works();
      if (shown && again && term.another()) {
        toast(`The session ${term.id} that was shown here has gone: it was closed, or the server was started anew`);
        history.replaceState(null, '', '#/');
      }
      route();
      grid.restart();
    }
    since = version;
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
  for (const id of ['smaller', 'larger']) $(id).disabled = !sizes[name];
  if (name === 'grid' && shown) document.querySelector(`.tile[href="#/session/${CSS.escape(shown)}"]`)?.focus();
  shown = name === 'term' ? id : '';
}

// An address that is pasted into a page that is open loads nothing: its token comes this way.
window.addEventListener('hashchange', () => { if (taken()) link.now(); else route(); });
window.addEventListener('pagehide', () => link.wire.close());
$('again').onclick = () => link.now();
// The one control of sizes is about what is shown.
const sizes = { grid: (by) => grid.size(80 * by), term: (by) => term.zoom(by), player: (by) => player.zoom(by) };
$('smaller').onclick = () => sizes[document.body.dataset.view]?.(-1);
$('larger').onclick = () => sizes[document.body.dataset.view]?.(1);
// A click on a control leaves the keyboard with the session that is typed into.
for (const bar of document.querySelectorAll('.bar, .toolbar, .keys')) {
  bar.addEventListener('mousedown', (e) => {
    if (term.mine && document.body.dataset.view === 'term' && e.target.closest('button')) e.preventDefault();
  });
}

for (const bar of document.querySelectorAll('.toolbar, .keys')) edges(bar);

// A soft keyboard covers the page, or shrinks it: what there is of it is used.
function room() {
  document.documentElement.style.setProperty('--room', `${visualViewport.height * visualViewport.scale}px`);
  window.scrollTo(0, 0);
}
visualViewport.addEventListener('resize', room);
room();

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
    ['Ctrl+Shift+F', 'search in it'],
    ['↑ ↓, Enter', 'in the timeline: an event, its moment'],
    ['← →, ↑ ↓', 'in its lanes: to an event, to another lane'],
    ['Ctrl+Shift+C, Cmd+C', 'copy what is selected'],
    ...term.reader ? [] : [
      ['Enter', 'take it over'],
      ['Ctrl+Shift+Enter', 'give it back'],
      ['Ctrl+Shift+V', 'paste'],
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

link.now();
