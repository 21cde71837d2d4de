// The connection to ptywright watch: one WebSocket. The token is the first message, and everything that comes is an answer.

export class Refused extends Error {
  constructor(reason, message) { super(message); this.reason = reason; }
}

export class Wire {
  #socket; #last = 0; #asked = new Map();

  // open logs in and resolves with the server's hello. ended is called once, when the connection is no more.
  open(token, ended) {
    return new Promise((resolve, reject) => {
      const socket = this.#socket = new WebSocket(`ws://${location.host}/live`);
      let hello = null;
      socket.onopen = () => socket.send(JSON.stringify({ token }));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (!hello) { resolve(hello = message); return; }
        const call = this.#asked.get(message.id);
        if (!call) return;
        this.#asked.delete(message.id);
        if (message.error) call.reject(new Refused(message.error.reason, message.error.message));
        else call.resolve(message.result);
      };
      socket.onclose = ({ code, reason }) => {
        const lost = new Refused(code === 1008 ? 'not_let_in' : 'lost', reason || 'the connection to ptywright watch is lost');
        for (const call of this.#asked.values()) call.reject(lost);
        this.#asked.clear();
        if (hello) ended(lost); else reject(lost);
      };
    });
  }

  close() { this.#socket?.close(); }

  // call asks. When signal is aborted, the request is cancelled there and rejected here.
  call(method, params = {}, signal = null) {
    return new Promise((resolve, reject) => {
      const gone = () => new Refused('cancelled', 'it was cancelled');
      if (signal?.aborted) { reject(gone()); return; }
      if (this.#socket?.readyState !== WebSocket.OPEN) { reject(new Refused('lost', 'there is no connection')); return; }
      const id = ++this.#last;
      const abort = () => {
        if (!this.#asked.delete(id)) return;
        if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ cancel: id }));
        reject(gone());
      };
      const done = (f) => (x) => { signal?.removeEventListener('abort', abort); f(x); };
      this.#asked.set(id, { resolve: done(resolve), reject: done(reject) });
      signal?.addEventListener('abort', abort, { once: true });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
