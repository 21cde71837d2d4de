// A client of the npm SDK that drives ptywright: node mcp_client.mjs SDK DIR COMMAND [ARGUMENT...]
// It prints one line of JSON a step; the test judges them. Exit code 0: every call was answered.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [sdk, dir, command, ...args] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(sdk, 'dist', 'esm', 'client', file)).href)
const { Client } = await load('index.js')
const { StdioClientTransport } = await load('stdio.js')

const client = new Client({ name: 'npm-test', version: '1' }, { capabilities: {} })
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }))
const say = (step, value) => console.log(JSON.stringify({ step, ...value }))

const { tools } = await client.listTools() // from here on the SDK holds results against their schemas
say('tools', { names: tools.map((t) => t.name) })

const call = async (name, given) => {
  const r = await client.callTool({ name, arguments: given })
  if (r.isError) throw new Error(name + ': ' + r.content[0].text)
  return r
}

let session = (await call('start', { program: 'python3', args: ['-q'] })).structuredContent.session
const cast = join(dir, 'npm.cast')
await call('record', { action: 'start', session, path: cast })
let r = await call('send', { session, text: '6*7', submit: true, wait_for: { regex: '(?m)^42$' } })
say('repl', { matched: r.structuredContent.outcome.matched, screen: r.structuredContent.screen })
r = await call('screenshot', { session })
say('picture', { type: r.content.at(-1).mimeType, magic: Buffer.from(r.content.at(-1).data, 'base64').subarray(1, 4).toString() })
r = await call('record', { action: 'stop', session })
say('recording', r.structuredContent.recordings[0])
await call('stop', { session })

session = (await call('start', { program: 'vim', args: ['-u', 'NONE', '-c', 'set showmode', join(dir, 'npm.txt')], wait_for: { text: 'npm.txt' } })).structuredContent.session
await call('wait', { session, stable_ms: 300 }) // it throws away what comes while it starts
await call('send', { session, keys: ['i'], wait_for: { text: 'INSERT' } })
await call('send', { session, text: 'written by npm', wait_for: { text: 'by npm' } })
r = await call('send', { session, keys: ['escape', ':', 'w', 'q', 'enter'], wait_for: { exited: true } })
say('vim', { matched: r.structuredContent.outcome.matched, exit: r.structuredContent.exit })

let progress = 0
r = await client.callTool({ name: 'wait', arguments: { session, text: 'never' } }, undefined, { onprogress: () => progress++ })
say('ended', { reason: r.structuredContent.reason })
const { contents } = await client.readResource({ uri: `ptywright://sessions/${session}/screen` })
say('resource', { type: contents[0].mimeType })
await client.close()
