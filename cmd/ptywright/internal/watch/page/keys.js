// What a keyboard, a clipboard and a mouse say, as the wire's actions; and the queue that types them in order.

const named = {
  Enter: 'enter', Escape: 'escape', Tab: 'tab', Backspace: 'backspace', Delete: 'delete', Insert: 'insert', ArrowUp: 'up', ArrowDown: 'down',
  ArrowLeft: 'left', ArrowRight: 'right', Home: 'home', End: 'end', PageUp: 'page_up', PageDown: 'page_down',
};
const keypad = { Decimal: 'decimal', Divide: 'divide', Multiply: 'multiply', Subtract: 'subtract', Add: 'add', Enter: 'enter', Equal: 'equal' };
const mac = /Mac|iP(hone|ad)/.test(navigator.platform);

// keyOf names the key of an event; null leaves it to the browser: text, composition, its own shortcuts.
export function keyOf(e, modes) {
  if (e.isComposing || e.key === 'Process' || e.key === 'Dead' || e.key === 'Unidentified' || e.metaKey) return null;
  const ctrl = e.ctrlKey && !e.getModifierState('AltGraph'), alt = e.altKey && !e.getModifierState('AltGraph');
  const mods = (ctrl ? 'ctrl+' : '') + (alt ? 'alt+' : '');
  const pad = /^Numpad(\w+)$/.exec(e.code)?.[1];
  if (pad && modes?.application_keypad && !ctrl && !alt) {
    if (/^\d$/.test(pad) && /^\d$/.test(e.key)) return `keypad_${pad}`;
    if (keypad[pad]) return `keypad_${keypad[pad]}`;
  }
  const name = named[e.key] ?? (/^F([1-9]|10|1[3-9]|20)$/.test(e.key) ? e.key.toLowerCase() : null); // F11 and F12 are the browser's
  if (name) return mods + (e.shiftKey ? 'shift+' : '') + name;
  if ([...e.key].length !== 1 || !mods || (mac && alt && !ctrl)) return null;
  if (ctrl && e.shiftKey && /^[cvijr]$/i.test(e.key)) return null; // copy, paste, the browser's tools
  const char = e.key === ' ' ? 'space' : ctrl ? e.key.toLowerCase() : e.key;
  return mods + (ctrl && e.shiftKey && /^[a-z]$/.test(char) ? 'shift+' : '') + char;
}

export const maxPaste = 64 << 10; // characters; more is refused by the server

// A Typist sends actions one after the other: the next when the terminal has taken the last. What is typed meanwhile is
// joined, and of the mouse's moves the last is kept.
export class Typist {
  #queue = []; #busy = false;

  constructor(send, failed) { this.send = send; this.failed = failed; }

  push(action) {
    const last = this.#queue.at(-1);
    if (action.type === 'text' && last?.type === 'text' && last.value.length + action.value.length <= 1024) last.value += action.value;
    else if (action.type === 'mouse' && action.value.action === 'move' && last?.type === 'mouse' && last.value.action === 'move') last.value = action.value;
    else if (this.#queue.length >= 256) this.failed(new Error('the program does not take its input: what was typed now is dropped'));
    else this.#queue.push(action);
    if (!this.#busy) this.#run();
  }

  clear() { this.#queue = []; }

  async #run() {
    this.#busy = true;
    try {
      while (this.#queue.length) await this.send(this.#queue.shift());
    } catch (e) {
      this.#queue = []; // what follows was meant for after it
      this.failed(e);
    } finally {
      this.#busy = false;
    }
  }
}

// Keys that a browser or a phone does not have, for the row of buttons.
export const special = [
  ['Esc', 'escape'], ['Tab', 'tab'], ['⇧Tab', 'shift_tab'], ['Enter', 'enter'], ['↑', 'up'], ['↓', 'down'], ['←', 'left'], ['→', 'right'], ['Home', 'home'],
  ['End', 'end'], ['PgUp', 'page_up'], ['PgDn', 'page_down'], ['Ctrl+C', 'ctrl+c'], ['Ctrl+D', 'ctrl+d'], ['Ctrl+Z', 'ctrl+z'], ['Ctrl+L', 'ctrl+l'],
  ['Ctrl+W', 'ctrl+w'], ['Ctrl+T', 'ctrl+t'], ['Ctrl+N', 'ctrl+n'], ['F11', 'f11'], ['F12', 'f12'],
];
