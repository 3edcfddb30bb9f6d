/** `assay mcp`: the official client over standard input and output, against tools that run here and tools of a service. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asMembers } from '../support/documents.ts'
import { MCP_VERSIONS } from '../support/mcp.ts'
import { fund, held } from '../support/paying.ts'
import { openDesk, spawnCli, type Desk } from './run-cli.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const CHECK_MINOR = 5_000n

let desk: Desk
let app: TestApp
before(async () => {
  desk = await openDesk()
  app = await startTestApp({ free_daily: 0 })
})
after(async () => {
  // A client that a failure left behind would keep its process.
  await Promise.all(clients.map((client) => client.close()))
  await app.stop()
  await desk.clear()
})

const clients: Client[] = []

async function connect(args: readonly string[], version = '2025-11-25'): Promise<Client> {
  const { mode, known } = MCP_VERSIONS[version] ?? { mode: 'auto' as const, known: [version] }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, supportedProtocolVersions: known })
  clients.push(client)
  const env = { PATH: process.env['PATH'] ?? '', ...desk.settings }
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp', ...args], env, stderr: 'ignore' }))
  return client
}

function answerOf(result: CallToolResult): Record<string, unknown> {
  assert.notEqual(result.isError, true, JSON.stringify(result.content))
  const [first] = result.content
  assert.ok(first?.type === 'text')
  return asMembers(result.structuredContent)
}

function textOf(result: CallToolResult): string {
  const [first] = result.content
  return first?.type === 'text' ? first.text : ''
}

function problemOf(result: CallToolResult): Record<string, unknown> {
  assert.equal(result.isError, true)
  const [first] = result.content
  assert.ok(first?.type === 'text')
  return asMembers(JSON.parse(first.text))
}

for (const version of ['2025-11-25', '2026-07-28']) {
  test(`${version}: the tools run here, and their receipts verify`, async () => {
    const client = await connect([], version)
    assert.match(client.getInstructions() ?? '', /SANDBOX.*run on this machine/)
    const { tools } = await client.listTools()
    assert.ok(tools.length > 60 && tools.every(({ outputSchema }) => outputSchema !== undefined))
    const answer = answerOf(await client.callTool({ name: 'iban-check', arguments: IBAN }))
    const verdict = verifyReceipt(asMembers(answer['receipt']))
    assert.equal(verdict.valid, true)
    assert.equal(answer['allowance'], null)
    const linked = answerOf(
      await client.callTool({ name: 'iban_check', arguments: IBAN, _meta: { 'assay/prev-receipt-hash': verdict.digest ?? '' } }),
    )
    assert.equal(asMembers(linked['chain'])['prev_receipt_hash'], verdict.digest)
    assert.equal(problemOf(await client.callTool({ name: 'iban-check', arguments: { ibam: 'x' } }))['code'], 'INPUT_SCHEMA_INVALID')
    await assert.rejects(client.callTool({ name: 'iban-chek', arguments: IBAN }), /No such tool/)
    await assert.rejects(client.callTool({ name: 'luhn-check', arguments: { number: 2 ** 60 } }), /beyond 2\^53/)
    await client.close()
  })
}

test('a family, and the small form', async () => {
  const family = await connect(['--family', 'goods'])
  assert.deepEqual(
    (await family.listTools()).tools.map(({ name }) => name),
    ['ean13-check', 'isbn-check'],
  )
  await family.close()
  const small = await connect(['--small'])
  assert.equal((await small.listTools()).tools.length, 12)
  const found = asMembers((await small.callTool({ name: 'find_tool', arguments: { query: 'iban', limit: 1 } })).structuredContent)
  assert.equal((found['tools'] as { tool: string }[])[0]?.tool, 'iban-check')
  const answer = answerOf(await small.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: IBAN } }))
  assert.equal(asMembers(answer['receipt'])['tool'], 'iban-check')
  await small.close()
})

test('standard output holds frames alone, and the end of the input ends the command', async () => {
  const child = spawnCli(['mcp'], { settings: desk.settings })
  const read = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (chunk: Buffer) => (read[name] += chunk.toString()))
  const line = once(child.stdout ?? child, 'data')
  child.stdin?.write('not json\n{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25",')
  child.stdin?.write('"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}\n')
  await line
  child.stdin?.end()
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0)
  const frames = read.stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>)
  assert.ok(frames.every((frame) => frame['jsonrpc'] === '2.0'))
  assert.ok(frames.some((frame) => frame['id'] === 7 && frame['result'] !== undefined))
  assert.match(read.stderr, /SANDBOX/)
})

test('calls of a service are paid within the caps', async () => {
  const { sandbox } = app.running.app.deps
  assert.ok(sandbox !== null)
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await fund(sandbox.rpc_url, sandbox.usdc, address, 1_000_000n)
  const file = await desk.file('payer.key', `${key}\n`)
  await chmod(file, 0o600)
  const paying = ['--url', app.url, '--payer-key-file', file, '--max-usdc', '0.006', '--session-usdc', '0.012']
  const client = await connect(paying)
  assert.ok((await client.listTools()).tools.length > 60)
  const reply = await client.callTool({ name: 'iban-check', arguments: IBAN })
  const answer = answerOf(reply)
  const receipt = asMembers(answer['receipt'])
  // The text is the brief form, as the service itself answers; another level of detail is the JSON.
  assert.match(textOf(reply), /^valid: [^{]*\nPaid 0\.005/)
  assert.ok(textOf(reply).includes(String(receipt['output_hash'])))
  assert.deepEqual([receipt['tier'], receipt['payer'], receipt['amount']], ['paid', address.toLowerCase(), String(CHECK_MINOR)])
  assert.equal(asMembers(answer['settlement'])['payer'], address.toLowerCase())
  // A pack costs more than one call may.
  const dear = problemOf(await client.callTool({ name: 'pre-disbursement-guard', arguments: { iban: IBAN.iban } }))
  assert.equal(dear['charged'], false)
  const full = { name: 'iban_check', arguments: { iban: 'DE89 3704 0044 0532 0130 00' }, _meta: { 'assay/detail': 'full' } }
  const whole = await client.callTool(full)
  assert.deepEqual(JSON.parse(textOf(whole)), answerOf(whole))
  const spent = problemOf(await client.callTool({ name: 'isbn-check', arguments: { isbn: '978-0-306-40615-7' } }))
  assert.deepEqual([spent['code'], spent['charged']], ['ABOVE_SESSION_CAP', false])
  assert.equal(await held(sandbox.rpc_url, sandbox.usdc, address), 1_000_000n - 2n * CHECK_MINOR)
  await client.close()
  const small = await connect([...paying, '--small'])
  const found = asMembers((await small.callTool({ name: 'find_tool', arguments: { query: 'book number' } })).structuredContent)
  assert.ok((found['tools'] as unknown[]).length > 0)
  const paid = answerOf(await small.callTool({ name: 'call_tool', arguments: { tool: 'iban-check', input: IBAN } }))
  assert.equal(asMembers(paid['receipt'])['tier'], 'paid')
  await small.close()
})

test('without a payer only free calls are made', async () => {
  const client = await connect(['--url', app.url])
  const refused = problemOf(await client.callTool({ name: 'iban-check', arguments: IBAN }))
  assert.deepEqual([refused['code'], refused['charged']], ['PAYMENT_REQUIRED', false])
  await client.close()
})

test('what the command line does not allow, it says before it serves', async () => {
  const open = await desk.file('open.key', generatePrivateKey())
  await chmod(open, 0o644)
  const other = await desk.file('no.key', 'hello')
  await chmod(other, 0o600)
  const caps = ['--max-usdc', '0.01', '--session-usdc', '1']
  for (const [args, code, words] of [
    [['--max-usdc', '1'], 2, /goes with --url/],
    [['--family', 'banks'], 2, /Families are bank/],
    [['--url', app.url, '--payer-key-file', open], 2, /both caps/],
    [['--url', app.url, '--payer-key-file', open, ...caps], 78, /open to others/],
    [['--url', app.url, '--payer-key-file', other, ...caps], 78, /does not hold a private key/],
    [['--url', app.url, '--family', 'banks'], 69, /lists no tools/],
    [['--url', 'http://127.0.0.1:1'], 69, /does not answer/],
  ] as const) {
    const ended = await desk.run(['mcp', ...args])
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.stderr, words)
    assert.equal(ended.stdout, '')
  }
})
