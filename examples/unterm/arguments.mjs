// The command lines of the examples: options with a value, which may be given more than once, and then words.

import { parseArgs } from "node:util"

/** Reads the command line: the last value of each option, all values of each, and the words behind them. */
export function parse(names) {
  const { values, positionals } = parseArgs({
    options: Object.fromEntries(names.map((n) => [n, { type: "string", multiple: true }])),
    allowPositionals: true,
  })
  return { options: Object.fromEntries(Object.entries(values).map(([n, v]) => [n, v.at(-1)])), all: values, rest: positionals }
}

/** Ends the program with a message for people. */
export function die(message) {
  console.error(message)
  process.exit(1)
}
