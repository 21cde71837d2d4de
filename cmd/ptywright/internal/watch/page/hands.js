// Keyboard, clipboard and mouse of the session that is shown, for whoever has taken it over.

import { Typist, keyOf, maxPaste } from './keys.js';
import { confirm, toast } from './ui.js';

const buttons = ['left', 'middle', 'right'];
// What a click on a control, and the Tab key, need of the keyboard.
const controls = ['Enter', ' ', 'Tab'];
// Lines of a wheel's step, where the browser counts in lines or pages: at most so many cursor keys.
const mostSteps = 50;

export class Hands {
  #pressed = null; #composing = false; #moved = ''; #wheel = 0;

  // term is the session's view.
  constructor(term) {
    this.term = term;
    this.typist = new Typist(
      (action) => term.call('input', { action }),
      (e) => { if (e.reason !== 'cancelled') toast(e.message); },
    );
    this.#keys(term.input);
    this.#mouse(term.screen.el);
  }

  type(action) {
    const { term } = this;
    if (!term.mine) return;
    term.now();
    this.typist.push(action);
  }

  paste(text) {
    const { term } = this;
    if (!text || !term.mine) return;
    if (text.length > maxPaste) { toast(`The paste has ${text.length} characters: at most ${maxPaste} are taken at once.`); return; }
    if (term.modes.bracketed_paste) { this.type({ type: 'bracketed_paste', value: text }); return; }
    const typed = text.replace(/\r?\n/g, '\r');
    const send = () => this.type({ type: 'paste', value: typed });
    if (!/\r./.test(typed)) { send(); return; }
    confirm('Paste several lines?', 'The program takes each as if Enter was pressed after it.', text.slice(0, 2000), 'Paste').then((yes) => { if (yes) send(); term.focus(); });
  }

  #keys(input) {
    input.addEventListener('keydown', (e) => { if (this.term.mine) this.#press(e); });
    // The keyboard belongs to the session also where a click has left the focus elsewhere.
    document.addEventListener('keydown', (e) => this.#route(e), true);
    const typed = () => {
      if (this.#composing || !input.value) return;
      this.type({ type: 'text', value: input.value.replace(/\r?\n/g, '\r') });
      input.value = '';
    };
    input.addEventListener('input', typed);
    input.addEventListener('compositionstart', () => { this.#composing = true; input.classList.add('composing'); });
    input.addEventListener('compositionend', () => { this.#composing = false; input.classList.remove('composing'); typed(); });
    input.addEventListener('paste', (e) => { e.preventDefault(); this.paste(e.clipboardData.getData('text/plain')); });
  }

  #press(e) {
    e.stopPropagation();
    if (e.key === 'Enter' && e.ctrlKey && e.shiftKey) { e.preventDefault(); this.term.toggle(); return; }
    const key = keyOf(e, this.term.modes);
    if (!key) return;
    e.preventDefault();
    this.type({ type: 'key', value: key });
  }

  #route(e) {
    const { term } = this;
    if (!term.shown || document.querySelector('dialog[open]')) return;
    const name = e.key.toLowerCase();
    if (e.ctrlKey && e.shiftKey && !e.altKey && (name === 'c' || name === 'f')) {
      e.preventDefault();
      e.stopPropagation();
      if (name === 'c') term.selection.copy(); else term.search.open();
      return;
    }
    const editing = e.target.matches?.('input, textarea, select');
    if (!term.mine) {
      if (e.key === 'Escape' && !editing && term.selection.range) { term.selection.clear(); e.stopPropagation(); }
      return;
    }
    if (editing || term.past.active || ['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock'].includes(e.key)) return;
    if (e.target.closest?.('a, button, [role=link]') && controls.includes(e.key)) return;
    if (!keyOf(e, term.modes) && (e.metaKey || e.ctrlKey || [...e.key].length !== 1)) return; // the browser's
    term.input.focus({ preventScroll: true }); // which gets the text of this key, too
    this.#press(e);
  }

  // Mouse

  takesMouse() { return this.term.mine && this.term.modes.mouse !== 'none'; }

  // arrows says that the wheel moves the program, as terminals have it on the alternate screen.
  #arrows() {
    const { mine, modes } = this.term;
    return mine && modes.mouse === 'none' && modes.alternate_screen && modes.alternate_scroll;
  }

  #mouse(el) {
    const { screen } = this.term;
    const mods = (e) => ['alt', 'ctrl'].filter((m) => e[`${m}Key`]);
    const say = (e, button, action) => this.type({ type: 'mouse', value: { ...screen.at(e.clientX, e.clientY), button, action, mods: mods(e) } });
    // With shift text is selected, as in terminals. A finger moves the page, and taps.
    const theirs = (e) => this.takesMouse() && !e.shiftKey && e.pointerType !== 'touch';
    el.addEventListener('pointerdown', (e) => {
      if (!theirs(e) || e.button > 2) return;
      e.stopPropagation(); // nothing is selected
      el.setPointerCapture(e.pointerId);
      this.#pressed = { button: buttons[e.button] };
      say(e, buttons[e.button], 'press');
    });
    // It is mousedown that moves the focus, and that begins a selection.
    el.addEventListener('mousedown', (e) => {
      if (!this.takesMouse()) return;
      if (!e.shiftKey) { e.preventDefault(); this.term.focus(); }
      else if (this.term.selection.begin(e.clientX, e.clientY, e.detail)) e.preventDefault();
    });
    el.addEventListener('pointerup', (e) => {
      if (!this.#pressed) return;
      const { button } = this.#pressed;
      this.#pressed = null;
      if (this.takesMouse()) say(e, button, 'release');
    });
    el.addEventListener('click', (e) => {
      if (e.pointerType !== 'touch' || !this.takesMouse()) return;
      say(e, 'left', 'press');
      say(e, 'left', 'release');
    });
    el.addEventListener('pointermove', (e) => {
      if (!this.takesMouse() || e.pointerType === 'touch' || e.shiftKey && !this.#pressed) return;
      const mode = this.term.modes.mouse;
      if (mode !== 'any' && !(mode === 'drag' && this.#pressed)) return;
      const at = JSON.stringify(screen.at(e.clientX, e.clientY));
      if (this.#moved === at) return;
      this.#moved = at;
      say(e, this.#pressed?.button ?? 'none', 'move');
    });
    el.addEventListener('wheel', (e) => {
      if (e.ctrlKey && !this.takesMouse() || !theirs(e) && !(this.#arrows() && !e.shiftKey)) return;
      e.preventDefault();
      e.stopPropagation();
      const up = e.deltaY < 0;
      if (this.takesMouse()) {
        say(e, Math.abs(e.deltaX) > Math.abs(e.deltaY) ? (e.deltaX < 0 ? 'wheel_left' : 'wheel_right') : up ? 'wheel_up' : 'wheel_down', 'press');
        return;
      }
      const each = [screen.cell.height, 1, 1 / screen.size.rows][e.deltaMode];
      this.#wheel += e.deltaY / each;
      const steps = Math.trunc(this.#wheel);
      this.#wheel -= steps;
      for (let n = Math.min(mostSteps, Math.abs(steps)); n > 0; n--) say(e, up ? 'wheel_up' : 'wheel_down', 'press');
    }, { passive: false });
    el.addEventListener('contextmenu', (e) => { if (theirs(e)) e.preventDefault(); });
    this.term.stage.addEventListener('pointerup', () => {
      if (this.term.mine && getSelection().isCollapsed) this.term.input.focus({ preventScroll: true });
    });
  }
}
