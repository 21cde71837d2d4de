// Waits for a program that asks for a password, types it, and reads the screen: what was typed shows nowhere, not even where
// the program prints it. Then the same screen as it really is.
//
//   node secret.mjs

import { Ptywright } from './ptywright.mjs';

const login = String.raw`
stty -echo; printf 'Password: '; read -r password; stty echo
printf '\nlogged in with %s\n' "$password"; read -r _
`;

const pty = new Ptywright();
try {
  const { session } = await pty.call('session.create', { program: 'sh', args: ['-c', login] });

  // secret_input: the program has turned the echo off, so what is typed now is hidden from here on.
  await pty.call('session.wait', { session, matcher: { type: 'contains_text', value: 'Password:' } });
  let shown = await pty.call('session.frame', { session });
  while (!shown.secret_input) shown = await pty.call('session.frame', { session, since: shown.sequence });
  console.log('it asks for a secret');

  const { sequence } = await pty.call('session.input', { session, action: { type: 'text', value: 'open sesame\r' } });
  await pty.call('session.wait', { session, matcher: { type: 'contains_text', value: 'logged in' }, since: sequence });
  for (const redact of [true, false]) {
    console.log((await pty.call('session.snapshot', { session, cells: 'none', redact })).plain_text);
  }
} finally {
  await pty.close();
}
