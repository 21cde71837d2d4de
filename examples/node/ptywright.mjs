// A client of ptywright's native wire: a server of its own as a child, JSON-RPC 2.0 over its pipes, one message a line.
// What comes with Node only; docs/wire.md has the methods.
//
//   const pty = new Ptywright();
//   const { session } = await pty.call('session.create', { program: 'python3', args: ['-q'] });
//   await pty.call('session.wait', { session, matcher: { type: 'contains_text', value: '>>>' } });
//   await pty.close();

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The server answered with an error. `reason` is a word of docs/wire.md (timeout, unknown_session, ...); `data` is what it has
 * to show for it: of a wait that timed out the last screen, and what each part of the matcher lacked. */
export class Refused extends Error {
  constructor(method, error) {
    super(`${method}: ${error.message}`);
    this.code = error.code;
    this.data = error.data ?? {};
    this.reason = this.data.reason;
  }
}

/** One server and the connection to it. Any number of calls may be under way; answers are matched by their ids. */
export class Ptywright {
  #server;
  #ended; // a promise of the server's exit code
  #over = false;
  #pending = new Map();
  #id = 0;

  /** `program` is the path of ptywright, by default $PTYWRIGHT, else the one on the PATH. `notify(method, params)` is called
   * for notifications. */
  constructor({ program = process.env.PTYWRIGHT ?? 'ptywright', notify = () => {} } = {}) {
    this.#server = spawn(program, ['serve', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#server.stdin.on('error', () => {}); // a server that has gone ends the calls below
    this.#ended = new Promise((resolve) => {
      const end = (why, code) => {
        this.#over = true;
        for (const { method, reject } of this.#pending.values()) reject(new Error(`${method}: ${why}`));
        this.#pending.clear();
        resolve(code);
      };
      this.#server.on('error', (error) => end(error.message, null));
      this.#server.on('close', (code) => end('the server has ended', code));
    });
    createInterface({ input: this.#server.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method) return notify(message.method, message.params);
      const { method, resolve, reject } = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error) reject(new Refused(method, message.error));
      else resolve(message.result);
    });
  }

  /** Sends a request: a promise of its result, or of a Refused. How long a wait takes is its own timeout_ms. */
  call(method, params = {}) {
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(new Error(`${method}: the server has ended`));
      const id = ++this.#id;
      this.#pending.set(id, { method, resolve, reject });
      this.#server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n');
    });
  }

  /** Ends the server and all that runs in it: a promise of its exit code. What was asked before is answered first. */
  close() {
    this.#server.stdin.end();
    return this.#ended;
  }
}
