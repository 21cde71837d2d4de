// What is selected in the session that is shown: it holds still while the program writes on, and is
// copied as the program's lines, without what only fills the screen.

import { copy, toast } from './ui.js';

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

// caret returns the place in the text under a point.
function caret(x, y) {
  const at = document.caretPositionFromPoint?.(x, y);
  if (at) return [at.offsetNode, at.offset];
  const range = document.caretRangeFromPoint?.(x, y); // WebKit
  return range && [range.startContainer, range.startOffset];
}

export class Selection {
  #pressed = false; #waiting = []; #notice;

  // root has rows. notice is shown while something new is held back.
  constructor(root, notice) {
    this.root = root;
    this.#notice = notice;
    const look = () => this.#look();
    document.addEventListener('selectionchange', look);
    root.addEventListener('pointerdown', (e) => { if (e.button === 0) this.#pressed = true; });
    for (const end of ['pointerup', 'pointercancel', 'dragend', 'blur']) {
      window.addEventListener(end, () => { this.#pressed = false; look(); });
    }
    document.addEventListener('copy', (e) => {
      const text = this.text();
      if (!text) return;
      e.clipboardData.setData('text/plain', text);
      e.preventDefault();
    });
  }

  // range is what is selected of the rows; null: nothing.
  get range() {
    const s = getSelection();
    if (s.isCollapsed || !s.rangeCount) return null;
    const range = s.getRangeAt(0);
    return range.intersectsNode(this.root) && this.root.contains(range.commonAncestorContainer) ? range : null;
  }

  // held resolves when what is shown may change: nothing is selected, or about to be.
  async held() {
    while (this.#pressed || this.range) {
      this.#notice.hidden = !this.range;
      await new Promise((resolve) => this.#waiting.push(resolve));
    }
    this.#notice.hidden = true;
  }

  #look() {
    if (!this.#pressed && !this.range) for (const go of this.#waiting.splice(0)) go();
  }

  clear() { if (this.range) getSelection().removeAllRanges(); }

  // begin puts the beginning of a selection under a point, where shift would go on from the last one. The
  // second of several clicks selects the word there, the third the row; it returns whether it has.
  begin(x, y, clicks) {
    const at = caret(x, y), selection = getSelection();
    if (!at) return false;
    const [node, offset] = at;
    selection.collapse(node, offset);
    const row = node.parentElement?.closest('.row');
    if (clicks < 2 || !row || node.nodeType !== Node.TEXT_NODE) return false;
    if (clicks > 2) { selection.selectAllChildren(row); return true; }
    const word = words.segment(node.data).containing(Math.min(offset, node.length - 1));
    if (word) selection.setBaseAndExtent(node, word.index, node, word.index + word.segment.length);
    return Boolean(word);
  }

  // text is what is selected: a line for each that the program has written, however many rows it takes.
  text() {
    const range = this.range;
    if (!range) return '';
    let out = '', wrapped = true;
    for (const row of this.root.querySelectorAll('.row')) {
      if (!range.intersectsNode(row)) continue;
      const part = document.createRange();
      part.selectNodeContents(row);
      if (row.contains(range.startContainer)) part.setStart(range.startContainer, range.startOffset);
      if (row.contains(range.endContainer)) part.setEnd(range.endContainer, range.endOffset);
      const text = part.toString();
      out += (wrapped ? '' : '\n') + (row.wrapped ? text : text.trimEnd());
      wrapped = row.wrapped;
    }
    return out;
  }

  copy() {
    const text = this.text();
    if (text) copy(text); else toast('Nothing is selected');
  }
}
