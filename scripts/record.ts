import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { start } from '../src/assembly/start.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { readSettings } from '../src/service/read-settings.ts'
import { PROBLEMS } from '../src/service/problems.ts'

/**
 * Records what the service says: `npm run record -- before.txt`. A step that must not change behaviour has the same record before and
 * after it (`diff before.txt after.txt`). Times, keys, signatures and other values that differ from run to run are replaced by words.
 *
 * Recorded are each tool's description, the answer to its example over REST and MCP, and its refusal of an empty input; the documents that
 * take no parameters; the page of every problem; the help of every command.
 */

const DOCUMENTS = [
  '/',
  '/llms.txt',
  '/llms-full.txt',
  '/openapi.json',
  '/v1/tools',
  '/v1/protocols/openapi.json',
  '/v1/protocols/rules',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/.well-known/mcp.json',
  '/.well-known/server.json',
  '/.well-known/x402.json',
  '/.well-known/x402-errors.json',
  '/.well-known/x402-schema.json',
  '/.well-known/xdr-1.json',
]

/** Values that differ from run to run, longest forms first, and the words that replace them. */
const VOLATILE: [RegExp, string][] = [
  [/http:\/\/127\.0\.0\.1:\d+/g, '<origin>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/0x[0-9a-f]{64,}/gi, '<hash>'],
  [/0x[0-9a-f]{40}/gi, '<address>'],
  [/(view_tag\\*": ?\\*")0x../g, '$1<byte>'],
  [/(gas_used\\*": ?\\*")\d+/g, '$1<gas>'],
  [/(age_s\\*": ?)\d+/g, '$1<age>'],
  [/\b([a-z]{3})_[0-9a-z]{26}\b/g, '$1_<id>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\b(?:17|18)\d{8}(?:\d{3})?\b/g, '<seconds>'],
  [/\b[A-Za-z0-9+/_-]{43,}={0,2}/g, '<encoded>'],
]

function settled(text: string): string {
  return VOLATILE.reduce((so_far, [pattern, word]) => so_far.replace(pattern, word), text)
}

type Answers = { [name: string]: string }

async function told(record: Answers, name: string, url: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, init)
  const body = await response.text()
  record[name] = settled(`${response.status} ${response.headers.get('content-type') ?? ''}\n${lined(body)}`)
  return body
}

/** JSON with a line for each value, so that a difference is one line. */
function lined(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 1)
  } catch {
    return body
  }
}

async function recordTools(record: Answers, url: string): Promise<void> {
  const { tools } = JSON.parse(await told(record, '/v1/tools', `${url}/v1/tools`)) as { tools: { id: string }[] }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (body: unknown) => ({ method: 'POST', headers, body: JSON.stringify(body) })
  for (const { id } of tools) {
    const described = await told(record, `${id}: description`, `${url}/v1/tools/${id}`)
    const { input } = (JSON.parse(described) as { example: { input: unknown } }).example
    await told(record, `${id}: example over REST`, `${url}/v1/tools/${id}/call`, post({ input }))
    const params = { name: id.replaceAll('-', '_'), arguments: input }
    await told(record, `${id}: example over MCP`, `${url}/mcp`, post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    await told(record, `${id}: empty input`, `${url}/v1/tools/${id}/call`, post({ input: {} }))
  }
}

const run = promisify(execFile)

async function recordCommands(record: Answers): Promise<void> {
  for (const name of ['', ...Object.keys(COMMANDS)]) {
    const { stdout } = await run(process.execPath, ['src/cli.ts', ...(name === '' ? [] : [name]), '--help'])
    record[`assay ${name} --help`] = settled(stdout)
  }
}

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the file to write, such as before.txt.')
const data_dir = mkdtempSync(join(tmpdir(), 'assay-record-'))
const read = readSettings({ ASSAY_PORT: '0', ASSAY_DATA_DIR: data_dir, ASSAY_LOG_LEVEL: 'silent', ASSAY_FREE_DAILY: '1000000' })
if (!read.ok) throw new Error(read.message)
const running = await start(read.settings)
try {
  const record: Answers = {}
  for (const path of DOCUMENTS) await told(record, path, running.url + path)
  for (const code of Object.keys(PROBLEMS)) await told(record, `problem ${code}`, `${running.url}/problems/${code}`)
  await recordTools(record, running.url)
  await recordCommands(record)
  const parts = Object.entries(record).map(([name, text]) => `## ${name}\n${text}\n`)
  writeFileSync(file, parts.join('\n'))
  console.log(`${parts.length} answers in ${file}`)
} finally {
  await running.stop()
  rmSync(data_dir, { recursive: true, force: true })
}
