// The jobs of the side-by-side table, in node-pty with @xterm/headless: node jobs.mjs JOB ARGUMENTS.
// NODE_PEERS_DIR is the folder that holds node_modules. What a job finds out it prints as one line
// of JSON. The lines between two marks are what the table counts.
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(process.env.NODE_PEERS_DIR ?? ".", "x.js"));
const pty = require("node-pty");
const { Terminal } = require("@xterm/headless");

// [node-pty shell vim ready fzf
class Session {
  constructor(program, ...args) {
    this.term = new Terminal({ rows: 24, cols: 80, scrollback: 10000, allowProposedApi: true });
    this.raw = "";
    this.waits = [];
    this.pty = pty.spawn(program, args, { name: "xterm-256color", rows: 24, cols: 80, env: process.env });
    this.pty.onData((data) => {
      this.raw += data;
      this.term.write(data, () => this.look());
    });
    this.exited = new Promise((done) => this.pty.onExit(done));
  }
  screen() {
    const buffer = this.term.buffer.active;
    return Array.from({ length: this.term.rows }, (_, y) => buffer.getLine(buffer.viewportY + y).translateToString(true)).join("\n");
  }
  look() {
    this.waits = this.waits.filter(({ find, done }) => {
      const found = find(this);
      if (found) done(found);
      return !found;
    });
  }
  wait(find) {
    return new Promise((done, late) => {
      const timer = setTimeout(() => late(new Error(`timed out on:\n${this.screen()}`)), 60000);
      this.waits.push({ find, done: (found) => (clearTimeout(timer), done(found)) });
      this.look();
    });
  }
  close() {
    if (this.pty) this.pty.kill("SIGKILL");
  }
}
// ]

const jobs = {
  async shell(commands) {
    // [node-pty shell
    const sh = new Session("bash", "--norc", "--noprofile");
    sh.pty.write("PS1=; PS2=; stty -echo; bind 'set enable-bracketed-paste off'; echo re''ady\n");
    await sh.wait((s) => s.raw.includes("ready\r\n"));
    const out = [];
    for (const [i, command] of commands.entries()) {
      const from = sh.raw.length;
      sh.pty.write(`${command}\nprintf '<%s:%d>\\n' "$?" ${i}\n`);
      const end = new RegExp(`<(\\d+):${i}>\\r\\n`);
      const found = await sh.wait((s) => s.raw.slice(from).match(end));
      out.push([found.input.slice(0, found.index).replaceAll("\r\n", "\n"), Number(found[1])]);
    }
    sh.close();
    return out;
    // ]
  },
  async vim(file) {
    // [node-pty vim
    const vim = new Session("vim", "-u", "NONE", "-n", file);
    await vim.wait((s) => s.screen().includes("~"));
    vim.pty.write("Ohello\x1b");
    await vim.wait((s) => s.screen().startsWith("hello"));
    vim.pty.write(":wq\r");
    await vim.exited;
    // ]
    return null;
  },
  async ready(program) {
    // [node-pty ready
    const server = new Session(...program);
    const found = await server.wait((s) => s.raw.match(/listening on (\d+)\r/)); // the line is whole
    server.close();
    return Number(found[1]);
    // ]
  },
  async fzf(program) {
    // [node-pty fzf
    const fzf = new Session(...program);
    await fzf.wait((s) => s.screen().includes("3/3"));
    fzf.pty.write("ban");
    await fzf.wait((s) => s.screen().includes("1/3"));
    fzf.pty.write("\r");
    const found = await fzf.wait((s) => s.screen().match(/chosen (\w+)/));
    fzf.close();
    return found[1];
    // ]
  },
};

const [job, argument] = process.argv.slice(2);
console.log(JSON.stringify((await jobs[job](JSON.parse(argument))) ?? null));
process.exit(0);
