// Drives Node's prompt through the adapter for prompts: it knows which prompt is whose, proves that a line was submitted, and
// tells the answer. Then a wait that cannot match, to show what such a wait tells.
//
//   node repl.mjs

import { Ptywright, Refused } from './ptywright.mjs';

const pty = new Ptywright();
try {
  const { adapter, session } = await pty.call('adapter.start', { plugin: 'repl', program: 'node', rows: 24, cols: 80 });
  await pty.call('adapter.wait', { adapter });

  const turn = await pty.call('adapter.turn', {
    adapter,
    send: { intent: 'eval', params: { code: '[1, 2, 3].map((n) => n * 14)' } },
  });
  const { dialect, output } = turn.state.metadata;
  console.log(`${dialect} says ${output}`);

  const { state } = await pty.call('adapter.turn', { adapter, send: { intent: 'eval', params: { code: 'nothing' } } });
  console.log(`${state.state}: ${state.metadata.error.message}`);

  try {
    await pty.call('session.wait', { session, matcher: { type: 'title_contains', value: 'node' }, timeout_ms: 100 });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.log(`${error.reason}: ${error.data.matcher.why}`);
  }
} finally {
  await pty.close();
}
