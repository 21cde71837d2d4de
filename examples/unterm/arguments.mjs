// The command lines of the examples, and what they say when something goes wrong: one line.

import { parseArgs } from "node:util"

/**
 * Reads the command line: options, each with a value, up to the first word or --, and then at least so many words. Everything
 * from the first word on is taken as it is: a command has options of its own.
 */
export function parse(usage, names, least) {
  const args = process.argv.slice(2)
  const options = { help: { type: "boolean", short: "h" }, ...Object.fromEntries(names.map((n) => [n, { type: "string" }])) }
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true })
  const end = tokens.find((t) => t.kind !== "option")?.index ?? args.length
  let given
  try {
    given = parseArgs({ args: args.slice(0, end), options }).values
  } catch (err) {
    die(`${err.message}\nusage: ${usage}`, 2)
  }
  if (given.help) {
    console.log(`usage: ${usage}`)
    process.exit()
  }
  const rest = args.slice(end).filter((word, i) => i > 0 || word !== "--")
  if (rest.length < least) die(`usage: ${usage}`, 2)
  return { options: given, rest }
}

/** The words of a command, without a -- before them, as one line. */
export function commandLine(words) {
  return words.slice(words[0] === "--" ? 1 : 0).join(" ")
}

/** Ends the program with a message for people. */
export function die(message, code = 1) {
  console.error(message)
  process.exit(code)
}

// What nobody has caught is told in one line, but for mistakes in a program.
process.on("uncaughtException", (err) => die(err instanceof TypeError || err instanceof ReferenceError ? err.stack : err.message))
