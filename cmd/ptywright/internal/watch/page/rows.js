// Rows of a terminal as elements, of a screen or its scrollback: in each a span for a stretch of one
// style. All text is text, never markup.

const font = '"DejaVu Sans Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", "Noto Sans Mono", monospace';
const ruler = document.createElement('canvas').getContext('2d');
const measured = new Map();

// metrics returns the size of a cell at a font size, in pixels. The height is rounded down: lines and blocks of neighbouring
// rows have to meet.
export function metrics(px) {
  let m = measured.get(px);
  if (!m) {
    ruler.font = `${px}px ${font}`;
    const box = ruler.measureText('M'.repeat(100));
    const height = (box.fontBoundingBoxAscent ?? px * 0.93) + (box.fontBoundingBoxDescent ?? px * 0.24);
    measured.set(px, m = { width: box.width / 100, height: Math.max(1, Math.floor(height)) });
  }
  return m;
}

// color makes the wire's colour the style sheet's.
function color(c, otherwise) {
  if (!c || c === 'default') return otherwise;
  const rgb = /^rgb:(\d+):(\d+):(\d+)$/.exec(c);
  if (rgb) return `rgb(${rgb[1]},${rgb[2]},${rgb[3]})`;
  const n = Number(/^idx:(\d+)$/.exec(c)?.[1] ?? NaN);
  if (!(n >= 0 && n < 256)) return otherwise;
  if (n < 16) return `var(--c${n})`;
  if (n > 231) return `rgb(${[0, 0, 0].fill(8 + 10 * (n - 232))})`;
  const level = (i) => (i ? 55 + 40 * i : 0);
  return `rgb(${level(Math.floor((n - 16) / 36))},${level(Math.floor((n - 16) / 6) % 6)},${level((n - 16) % 6)})`;
}

const lines = { single: 'solid', double: 'double', curly: 'wavy', dotted: 'dotted', dashed: 'dashed' };

// css is the style of a stretch; '' when it is the default.
function css(s) {
  let out = '';
  let fg = color(s.foreground, ''), bg = color(s.background, '');
  if (s.inverse) [fg, bg] = [bg || 'var(--bg)', fg || 'var(--fg)'];
  if (s.dim) fg = `color-mix(in srgb, ${fg || 'var(--fg)'} 60%, ${bg || 'var(--bg)'})`;
  if (s.hidden) fg = 'transparent';
  if (fg) out += `color:${fg};`;
  if (bg) out += `background:${bg};`;
  if (s.bold) out += 'font-weight:700;';
  if (s.italic) out += 'font-style:italic;';
  const under = s.underline_style ?? (s.underline ? 'single' : '');
  const deco = [under && 'underline', s.strike && 'line-through'].filter(Boolean);
  if (deco.length) {
    out += `text-decoration:${deco.join(' ')} ${lines[under] ?? 'solid'};`;
    const line = color(s.underline_color, '');
    if (line) out += `text-decoration-color:${line};`;
  }
  return out;
}

// plain are characters that the fonts above draw as wide as their cells.
const ascii = /^[\x20-\x7e]*$/;
const plain = /^[\x20-\x7e\u00a0-\u02ff\u0370-\u03ff\u0400-\u04ff\u2010-\u2027\u2190-\u21ff\u2500-\u25a1]*$/;

// pieces are what a row consists of: each a text, and everything else about it as a key. Text that a
// font may draw at another width, or in another order, is one piece a character, in a box of its own.
function pieces(runs) {
  const out = [];
  for (const r of runs) {
    let style = css(r.style);
    if (r.style.blink) style += 'animation:blink 1.2s steps(2) infinite;';
    const { link = '', overline = false } = r.style;
    const put = (text, cols, own = false) => {
      out.push({ text, cols, own, style, link, overline, key: `${cols} ${own} ${overline} ${style}${link}` });
    };
    if (ascii.test(r.text)) put(r.text, 0);
    else if (r.cluster) put(r.text, r.cols, true);
    else if (plain.test(r.text)) put(r.text, r.cols);
    else {
      const chars = [...r.text], each = r.cols / chars.length;
      for (const c of chars) put(c, each, true);
    }
  }
  return out;
}

// node makes the element of a piece. links says that its link is for the keyboard, too.
function node(p, links) {
  const text = document.createTextNode(p.text);
  if (!p.style && !p.link && !p.overline && !p.cols) return text;
  const e = document.createElement('span');
  e.append(text);
  if (p.style) e.style.cssText = p.style;
  if (p.cols) { e.className = 'fixed'; e.style.width = `calc(var(--cw) * ${p.cols})`; }
  if (p.own) e.classList.add('own');
  if (p.overline) e.classList.add('over');
  if (p.link) {
    e.classList.add('link');
    e.link = p.link;
    if (links) { e.tabIndex = 0; e.setAttribute('role', 'link'); }
  }
  return e;
}

// row makes an empty row.
export function row() {
  const e = document.createElement('div');
  e.className = 'row';
  e.pieces = [];
  return e;
}

// fill draws a line into a row, and touches only what is another than before.
export function fill(row, { runs = [], wrapped = false }, links = false) {
  const has = row.pieces, want = pieces(runs);
  row.wrapped = wrapped;
  row.pieces = want;
  want.forEach((p, i) => {
    const old = has[i];
    if (old?.key !== p.key) {
      p.node = node(p, links);
      if (old) old.node.replaceWith(p.node); else row.append(p.node);
      return;
    }
    p.node = old.node;
    if (old.text !== p.text) (p.node.firstChild ?? p.node).data = p.text;
  });
  for (const old of has.slice(want.length)) old.node.remove();
}

// sized gives rows of an element the size of a text in pixels, and returns that of a cell.
export function sized(el, px) {
  const cell = metrics(px);
  el.style.fontSize = `${px}px`;
  el.style.setProperty('--cw', `${cell.width}px`);
  el.style.setProperty('--ch', `${cell.height}px`);
  return cell;
}

// fitting returns the largest size of text, from least to most pixels, at which so many rows and columns
// have room.
export function fitting(rows, cols, wide, tall, least, most, step) {
  let px = most;
  while (px > least && (metrics(px).width * cols > wide || metrics(px).height * rows > tall)) px -= step;
  return px;
}
