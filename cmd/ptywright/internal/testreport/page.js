'use strict';
// A failure of ptywright test: what was expected and seen, and how it came to that. All text is text, never markup.
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const el = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
const ms = (n) => n < 1000 ? `${Math.round(n)} ms` : `${(n / 1000).toFixed(2)} s`;

// cells returns a row as its columns: [text, columns, style], and null behind a wide character.
function cells(row) {
  const out = [];
  for (const [text, cols, style] of data.rows[row] ?? []) {
    if (text.length === cols && /^[\x20-\x7e]*$/.test(text)) for (const c of text) out.push([c, 1, style]);
    else { out.push([text, cols, style]); for (let i = 1; i < cols; i++) out.push(null); }
  }
  return out;
}

// drawRow draws a row; mark says which columns differ, and cls how those look. Where only the look
// differs, that stays to be seen, with a line around it.
function drawRow(row, mark, cls) {
  const e = el('div', 'row');
  const all = cells(row);
  if (mark) while (all.length < mark.end) all.push([' ', 1, 0]);
  let open = null; // a span that goes on: plain characters of one style
  all.forEach((cell, x) => {
    if (!cell) return;
    const [text, cols, style] = cell;
    const marked = !mark?.has(x) ? '' : mark.look?.(x) ? `${cls} around` : cls;
    const plain = text.length === 1 && text >= ' ' && text <= '~';
    if (plain && open && open.style0 === style && open.marked0 === marked) { open.textContent += text; return; }
    const s = el('span', marked + (plain ? '' : ' w'), text);
    if (data.styles[style]) s.style.cssText = data.styles[style];
    if (!plain) s.style.width = `${cols}ch`;
    s.style0 = style; s.marked0 = marked;
    open = plain ? s : null;
    e.append(s);
  });
  return e;
}

// marks returns which columns of a row differ.
function marks(view, y) {
  const here = (view?.changes ?? []).filter(([row]) => row === y);
  if (!here.length) return null;
  return { has: (x) => here.some(([, from, to]) => x >= from && x < to), end: Math.max(...here.map(([, , to]) => to)) };
}

// fit sets the size of the text so that a screen has room.
function fit(screen, cols, room) {
  const px = Math.max(7, Math.min(15, room / ((cols + 2) * 0.605)));
  screen.style.fontSize = `${px}px`;
}

// draw shows a frame.
function draw(frame, view, cls, room) {
  const s = el('div', 'screen');
  frame.rows.forEach((row, y) => s.append(drawRow(row, marks(view, y), cls)));
  s.style.minWidth = `calc(${frame.cols}ch + 12px)`;
  if (frame.cursor) {
    const c = el('div', 'cursor');
    c.style.left = `calc(${frame.cursor[1]}ch + 6px)`;
    c.style.top = `calc(${frame.cursor[0]} * 1.16em + 6px)`;
    s.append(c);
  }
  fit(s, frame.cols, room);
  return s;
}

// --- what was expected, and what was seen

const tabs = {};
let versus = data.views?.[0];
let tab = '';

function stage() { return Math.max(300, $('stage').clientWidth || document.body.clientWidth - 80); }
function seen() { return data[versus.name]; }

if (data.expected && versus) {
  tabs.Diff = () => {
    const s = el('div', 'screen');
    const old = data.expected, now = seen();
    for (let y = 0; y < Math.max(old.rows.length, now.rows.length); y++) {
      const m = marks(versus, y);
      if (!m) { const r = drawRow(now.rows[y] ?? old.rows[y]); r.classList.add('same'); s.append(r); continue; }
      const was = cells(old.rows[y]), is = cells(now.rows[y]);
      const text = (row, x) => row[x] === null ? '' : row[x]?.[0] ?? ' ';
      m.look = (x) => text(was, x) === text(is, x);
      if (y < old.rows.length) { const r = drawRow(old.rows[y], m, 'was'); r.classList.add('old'); s.append(r); }
      if (y < now.rows.length) { const r = drawRow(now.rows[y], m, 'is'); r.classList.add('new'); s.append(r); }
    }
    s.style.minWidth = `calc(${now.cols + 2}ch + 12px)`;
    fit(s, now.cols + 2, stage());
    return s;
  };
  tabs.Expected = () => draw(data.expected, null, '', stage());
  tabs.Actual = () => draw(seen(), null, '', stage());
  tabs.Side = () => {
    const both = el('div', 'side');
    const room = stage() > 900 ? stage() / 2 - 24 : stage();
    for (const [name, frame, cls] of [['expected', data.expected, 'around was'], [versus.name, seen(), 'around is']]) {
      const half = el('div');
      half.append(el('div', 'name', name), draw(frame, versus, cls, room));
      both.append(half);
    }
    return both;
  };
  tabs.Slider = () => {
    const box = el('div'), s = el('div', 'slider'), over = draw(seen(), null, '', stage()), edge = el('div', 'edge');
    over.classList.add('over');
    s.append(draw(data.expected, null, '', stage()), over, edge);
    const range = el('input');
    range.type = 'range'; range.min = 0; range.max = 1000; range.value = 500;
    range.setAttribute('aria-label', `expected on the left, ${versus.name} on the right`);
    const move = () => {
      over.style.clipPath = `inset(0 0 0 ${range.value / 10}%)`;
      edge.style.left = `${range.value / 10}%`;
    };
    range.addEventListener('input', move);
    move();
    const bar = el('div', 'bar');
    bar.append(el('span', '', 'expected'), el('span', 'fill'), el('span', '', versus.name));
    box.append(bar, range, s);
    requestAnimationFrame(() => { for (const e of [bar, range]) e.style.width = `${s.offsetWidth}px`; });
    return box;
  };
} else if (data.actual) {
  tabs.Actual = () => draw(data.actual, null, '', stage());
}

function choose(name) {
  tab = name;
  for (const b of $('tabs').children) b.setAttribute('aria-selected', String(b.textContent === name));
  for (const b of $('versus').querySelectorAll('button')) b.setAttribute('aria-pressed', String(b.view === versus));
  $('stage').replaceChildren(tabs[name]());
  $('words').replaceChildren(...(versus && data.expected ? versus.words.map((w) => el('li', '', w)) : []));
}

if (Object.keys(tabs).length) {
  $('compare').hidden = false;
  for (const name of Object.keys(tabs)) {
    const b = el('button', '', name);
    b.type = 'button';
    b.setAttribute('role', 'tab');
    b.addEventListener('click', () => choose(name));
    $('tabs').append(b);
  }
  if (data.expected && data.views?.length) {
    $('versus').append(el('span', '', 'compared with'));
    for (const v of data.views) {
      const b = el('button', '', v.label);
      b.type = 'button';
      b.view = v;
      b.addEventListener('click', () => { versus = v; choose(tab); });
      $('versus').append(b);
    }
  }
  choose(Object.keys(tabs)[0]);
}

// --- how it came to that

const frames = data.frames;
let at = -1, time = 0, playing = 0;

// shownAt is the frame that was shown at a time.
function shownAt(t) {
  let low = 0, high = frames.length;
  while (low < high) { const mid = (low + high) >> 1; if (frames[mid].at <= t) low = mid + 1; else high = mid; }
  return Math.max(0, low - 1);
}

function go(t) {
  time = Math.max(0, Math.min(data.length, t));
  $('scrub').value = time;
  const n = shownAt(time);
  if (n !== at) {
    at = n;
    $('frame').replaceChildren(draw(frames[n], null, '', Math.max(300, $('frame').clientWidth)));
  }
  let current = -1;
  data.steps.forEach((s, i) => { if (s.from <= time) current = i; });
  [...$('steps').children].forEach((li, i) => {
    li.classList.toggle('now', i === current);
    if (i === current) li.setAttribute('aria-current', 'step'); else li.removeAttribute('aria-current');
  });
  const typed = data.inputs.filter((i) => i.at <= time).at(-1);
  $('now').textContent = `${ms(time)} of ${ms(data.length)}, frame ${n + 1} of ${frames.length}` +
    (typed ? `, last input ${typed.text}` : '');
}

function stop() { cancelAnimationFrame(playing); playing = 0; $('play').textContent = 'Play'; }

function play() {
  if (playing) { stop(); return; }
  if (time >= data.length) go(0);
  let last = performance.now();
  const tick = (now) => {
    go(time + (now - last));
    last = now;
    if (time >= data.length) stop(); else playing = requestAnimationFrame(tick);
  };
  $('play').textContent = 'Pause';
  playing = requestAnimationFrame(tick);
}

function jump(by) {
  stop();
  const n = Math.max(0, Math.min(frames.length - 1, at + by));
  go(frames[n].at);
}

if (frames.length) {
  $('time').hidden = false;
  const scrub = $('scrub');
  scrub.max = Math.max(1, Math.ceil(data.length));
  const left = (t) => `${100 * t / Math.max(1, data.length)}%`;
  for (const s of data.steps) {
    const bar = el('i', `${s.kind} ${s.outcome}`);
    bar.style.left = left(s.from);
    bar.style.width = left(s.to - s.from);
    bar.title = `${s.line}: ${s.text}`;
    bar.addEventListener('click', () => { stop(); go(s.to); });
    $('track').append(bar);
    const li = el('li', s.outcome);
    li.tabIndex = 0;
    li.append(el('span', 'mark', { passed: '✓', failed: '✗', skipped: '–' }[s.outcome] ?? '·'), el('span', 'line', s.line),
      el('span', 'text', s.text), el('span', 'took', ms(s.to - s.from)));
    if (s.note) li.append(el('span', 'note', s.note));
    const show = () => { stop(); go(s.to); };
    li.addEventListener('click', show);
    li.addEventListener('keydown', (e) => { if (e.key === 'Enter') show(); });
    $('steps').append(li);
  }
  for (const i of data.inputs) {
    const b = el('b');
    b.style.left = left(i.at);
    b.title = `${ms(i.at)}: ${i.text}`;
    $('track').append(b);
  }
  if (data.near !== undefined) {
    const d = el('span', 'near');
    d.style.left = left(data.near);
    d.title = data.views?.[0]?.label ?? 'the nearest frame';
    d.addEventListener('click', () => { stop(); go(data.near); });
    $('track').append(d);
  }
  scrub.addEventListener('input', () => { stop(); go(Number(scrub.value)); });
  scrub.addEventListener('keydown', (e) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (by) { e.preventDefault(); jump(by); }
    if (e.key === ' ') { e.preventDefault(); play(); }
  });
  $('before').addEventListener('click', () => jump(-1));
  $('after').addEventListener('click', () => jump(1));
  $('play').addEventListener('click', play);
  const failed = data.steps.find((s) => s.outcome === 'failed');
  go(failed ? failed.to : data.length);
}

// --- the page

const again = $('copy');
if (again) {
  again.hidden = false;
  again.addEventListener('click', async () => {
    const command = $('command');
    try {
      await navigator.clipboard.writeText(command.textContent);
      again.textContent = 'Copied';
    } catch { // a page from a file may not: selected, it can be copied by hand
      const range = document.createRange();
      range.selectNodeContents(command);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
  });
}
const scheme = $('scheme');
scheme.hidden = false;
scheme.addEventListener('click', () => {
  const dark = document.documentElement.style.colorScheme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.documentElement.style.colorScheme = dark === 'dark' ? 'light' : 'dark';
});
let last = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === last) return;
  last = innerWidth;
  if (tab) choose(tab);
  if (frames.length) { at = -1; go(time); }
});
})();
