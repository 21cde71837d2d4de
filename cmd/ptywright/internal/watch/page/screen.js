// A terminal's screen as elements: a row each, in it a span for each stretch of one style. All text is text, never markup.

const font = '"DejaVu Sans Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", "Noto Sans Mono", monospace';
// margin is what a stage has around a screen, in pixels: its padding, and that of the paper.
export const margin = 48;

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

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const plain = /^[\x20-\x7e\u00a0-\u02ff\u0370-\u03ff\u0400-\u04ff\u2010-\u2027\u2190-\u21ff\u2500-\u25a1]*$/;
const wide = /[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6]|[\u{1f004}\u{1f0cf}\u{1f18e}\u{1f191}-\u{1f19a}\u{1f200}-\u{1f320}\u{1f32d}-\u{1f335}\u{1f337}-\u{1f37c}\u{1f37e}-\u{1f393}\u{1f3a0}-\u{1f3ca}\u{1f3cf}-\u{1f3d3}\u{1f3e0}-\u{1f3f0}\u{1f3f4}\u{1f3f8}-\u{1f43e}\u{1f440}\u{1f442}-\u{1f4fc}\u{1f4ff}-\u{1f53d}\u{1f54b}-\u{1f567}\u{1f57a}\u{1f595}\u{1f596}\u{1f5a4}\u{1f5fb}-\u{1f64f}\u{1f680}-\u{1f6c5}\u{1f6cc}\u{1f6d0}-\u{1f6d7}\u{1f6dc}-\u{1f6df}\u{1f6eb}-\u{1f6fc}\u{1f7e0}-\u{1f7eb}\u{1f90c}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]/u;

// pieces cuts a text that a font may draw at other widths into characters with the columns that they have.
function pieces(text, cols) {
  const all = [];
  let sum = 0;
  for (const { segment } of graphemes.segment(text)) {
    let n = 0;
    for (const c of segment) if (wide.test(c)) n += 2;
    all.push([segment, n ||= 1]);
    sum += n;
  }
  if (sum !== cols && all.length === cols) return all.map(([c]) => [c, 1]);
  if (sum !== cols && all.length * 2 === cols) return all.map(([c]) => [c, 2]);
  return all;
}

export class Screen {
  #rows = []; #cursor; #cell = { width: 8, height: 16 }; #last = null;

  // links says that the screen's links are for the keyboard, too.
  constructor(links = false) {
    this.links = links;
    this.el = document.createElement('div');
    this.el.className = 'screen';
    this.el.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && e.target.link) { e.preventDefault(); e.target.click(); }
    });
    this.#cursor = document.createElement('div');
    this.#cursor.className = 'cursor';
    this.#cursor.setAttribute('aria-hidden', 'true');
    this.el.append(this.#cursor);
    this.size = { rows: 24, cols: 80 };
  }

  // zoom sets the size of the text, in pixels.
  zoom(px) {
    this.#cell = metrics(px);
    this.el.style.fontSize = `${px}px`;
    this.el.style.setProperty('--cw', `${this.#cell.width}px`);
    this.el.style.setProperty('--ch', `${this.#cell.height}px`);
    this.#extent();
    for (const row of this.#rows) for (const e of row.children) if (e.cols) e.style.width = `${e.cols * this.#cell.width}px`;
    if (this.#last) this.#place(this.#last);
  }

  get cell() { return this.#cell; }

  #extent() {
    this.el.style.width = `${this.size.cols * this.#cell.width}px`;
    this.el.style.height = `${this.size.rows * this.#cell.height}px`;
  }

  // clear takes away what is shown: it was another session's.
  clear() {
    for (const row of this.#rows) row.remove();
    this.#rows = [];
    this.#last = null;
    this.#cursor.hidden = true;
    this.el.classList.remove('reverse');
  }

  // draw shows a frame: all rows of it, or those that have changed.
  draw(frame) {
    if (frame.full) {
      this.size = frame.size;
      for (const row of this.#rows) row.remove();
      this.#rows = Array.from({ length: frame.size.rows }, () => {
        const row = document.createElement('div');
        row.className = 'row';
        return row;
      });
      this.el.append(...this.#rows);
      this.#extent();
    }
    for (const { row, runs } of frame.rows) this.#rows[row]?.replaceChildren(...this.#spans(runs));
    this.el.classList.toggle('reverse', frame.modes.reverse_video);
    this.#last = frame.cursor;
    this.#place(frame.cursor);
  }

  #place({ row, col, visible, style }) {
    const c = this.#cursor;
    c.hidden = !visible;
    c.style.transform = `translate(${col * this.#cell.width}px, ${row * this.#cell.height}px)`;
    c.dataset.shape = style === 3 || style === 4 ? 'underline' : style > 4 ? 'bar' : 'block';
    c.classList.toggle('blink', style % 2 === 1);
  }

  #spans(runs) {
    const out = [];
    const span = (text, cols, style, link, over) => {
      if (!style && !link && !over && cols === 0) { out.push(text); return; }
      const e = document.createElement('span');
      e.textContent = text;
      if (style) e.style.cssText = style;
      if (cols) { e.cols = cols; e.className = 'fixed'; e.style.width = `${cols * this.#cell.width}px`; }
      if (over) e.classList.add('over');
      if (link) {
        e.classList.add('link');
        e.link = link;
        if (this.links) { e.tabIndex = 0; e.setAttribute('role', 'link'); }
      }
      out.push(e);
    };
    for (const r of runs) {
      let style = css(r.style);
      if (r.style.blink) style += 'animation:blink 1.2s steps(2) infinite;';
      const { link, overline } = r.style;
      if (/^[\x20-\x7e]*$/.test(r.text)) span(r.text, style || link || overline ? r.cols : 0, style, link, overline);
      else if (plain.test(r.text) && r.text.length === r.cols) span(r.text, r.cols, style, link, overline);
      else for (const [c, n] of pieces(r.text, r.cols)) span(c, n, style, link, overline);
    }
    return out;
  }

  // at returns the cell under a point of the window; outside it is the nearest.
  at(x, y) {
    const box = this.el.getBoundingClientRect();
    const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
    return {
      row: clamp(Math.floor((y - box.top) / this.#cell.height), this.size.rows),
      col: clamp(Math.floor((x - box.left) / this.#cell.width), this.size.cols),
    };
  }

  // text is what is shown, for who cannot see it.
  text() { return this.#rows.map((r) => r.textContent.trimEnd()).join('\n').trimEnd(); }
}
