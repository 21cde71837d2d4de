// A client of the npm SDK that drives ptywright as Terminal MCP: node terminalmcp_client.mjs SDK DIR COMMAND [ARGUMENT...]
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

const call = (name, given) => client.callTool({ name, arguments: given })
const text = async (name, given) => {
  const r = await call(name, given)
  if (r.isError) throw new Error(name + ': ' + r.content[0].text)
  return r.content[0].text
}
// Terminal MCP has no waits: whoever wants to know what came of a command reads until it is there.
const until = async (pattern) => {
  for (;;) {
    const content = await text('getContent', {})
    if (pattern.test(content)) return content
  }
}
const enter = async (line) => {
  await text('type', { text: line })
  await text('sendKey', { key: 'Enter' })
}

const { tools } = await client.listTools()
say('tools', { names: tools.map((t) => t.name), server: client.getServerVersion().name })
await until(/\$ $/)
const recording = JSON.parse(await text('startRecording', { outputDir: dir }))
await enter('python3 -q')
await until(/>>> $/)
await enter('6*7')
say('repl', { screen: await until(/\n42\n>>> $/) })
await text('sendKey', { key: 'Ctrl+D' })
await until(/\$ $/)
await enter('vim -u NONE ' + join(dir, 'npm.txt'))
await until(/npm\.txt/)
await text('type', { text: 'iwritten by npm' })
await until(/written by npm/)
await text('sendKey', { key: 'Escape' })
const picture = (await call('takeScreenshot', { format: 'png' })).content[0]
say('picture', { type: picture.mimeType, magic: Buffer.from(picture.data, 'base64').subarray(1, 4).toString() })
await enter(':wq')
await until(/\$ $/)
say('recording', JSON.parse(await text('stopRecording', { recordingId: recording.recordingId })))
const unknown = await call('zzz', {})
say('unknown', { isError: unknown.isError, text: unknown.content[0].text })
say('prompt', { role: (await client.getPrompt({ name: 'tool-usage' })).messages[0].role })
await client.close()
