/** Invoices of a running service from the command line: created, signed and listed by the key of the merchant. */
import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { statementOf } from '../support/invoice-statements.ts'
import { until } from '../support/until.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

let desk: Desk
let app: TestApp
before(async () => {
  desk = await openDesk()
  app = await startTestApp()
})
after(async () => {
  await app.stop()
  await desk.clear()
})

async function merchant(): Promise<{ address: string; file: string }> {
  const key = generatePrivateKey()
  const file = await desk.file(`${key.slice(2, 10)}.key`, key)
  await chmod(file, 0o600)
  return { address: privateKeyToAccount(key).address.toLowerCase(), file }
}

test('an invoice is created and signed with one command, or signed later, and the merchant lists both', async () => {
  const { address, file } = await merchant()
  const at = ['--url', app.url]
  const key = [...at, '--key-file', file]
  const created = await desk.run(['invoice', 'create', ...key, '--amount', '49.00', '--client-name', 'Example Ltd', '--memo', 'May'])
  assert.equal(created.code, 0, created.stderr)
  const first = parsed(created.stdout)
  assert.deepEqual([first['merchant'], first['merchant_verified'], first['amount_minor']], [address, true, '49000000'])
  const unsigned = await desk.run(['invoice', 'create', ...at, '--merchant', address, '--amount', '7'])
  const second = parsed(unsigned.stdout)
  assert.deepEqual([unsigned.code, second['merchant_verified']], [0, false])
  const signed = await desk.run(['invoice', 'sign', String(second['invoice_id']), ...key])
  assert.equal(signed.code, 0, signed.stderr)
  assert.equal(parsed(signed.stdout)['merchant_verified'], true)
  const listed = parsed((await desk.run(['invoice', 'list', ...key])).stdout) as { invoices: { invoice_id: string }[]; complete: boolean }
  assert.deepEqual(
    listed.invoices.map(({ invoice_id }) => invoice_id),
    [second['invoice_id'], first['invoice_id']],
  )
  assert.equal(listed.complete, true)
  const shown = await desk.run(['invoice', 'list', ...key, '--text'])
  assert.match(shown.stdout, /ISSUED +49 USDC/)
})

test('an invoice with bank details is signed with them, and a statement of the bank closes it', async () => {
  const { file } = await merchant()
  const key = ['--url', app.url, '--key-file', file]
  const bank = [
    '--bank-iban',
    'DE89 3704 0044 0532 0130 00',
    '--bank-bic',
    'COBADEFFXXX',
    '--bank-name',
    'Example GmbH',
    '--bank-amount',
    '45',
  ]
  const created = await desk.run(['invoice', 'create', ...key, '--amount', '49', ...bank])
  assert.equal(created.code, 0, created.stderr)
  const invoice = parsed(created.stdout)
  assert.equal(invoice['merchant_verified'], true)
  const { reference } = invoice['bank_coordinates'] as { reference: string }
  const write = (name: string, amount: string) =>
    desk.file(name, statementOf([{ amount, reference, currency: 'EUR', name: 'N1' }], { iban: 'DE89370400440532013000' }))
  const confirm = async (path: string, ...more: string[]) => desk.run(['invoice', 'confirm', ...key, '--statement', path, ...more])
  const under = await confirm(await write('under.xml', '44.99'))
  assert.deepEqual([under.code, (parsed(under.stdout)['invoices'] as { outcome: string }[])[0]?.outcome], [1, 'under'], under.stderr)
  const path = await write('exact.xml', '45.00')
  const exact = await confirm(path)
  assert.deepEqual([exact.code, (parsed(exact.stdout)['invoices'] as { outcome: string }[])[0]?.outcome], [0, 'closed'], exact.stderr)
  const again = await confirm(path, '--text')
  assert.equal(again.code, 0)
  assert.match(again.stdout, /This entry paid the invoice before/)
  const mistyped = await desk.run(['invoice', 'create', ...key, '--amount', '49', ...bank.with(1, 'DE88 3704 0044 0532 0130 00')])
  assert.deepEqual([mistyped.code, /\/bank\/iban/.test(mistyped.stderr)], [65, true], mistyped.stderr)
  assert.equal((await confirm('/nonexistent.xml')).code, 66)
})

test('what is wrong is said, with its field', async () => {
  const [one, other] = await Promise.all([merchant(), merchant()])
  const at = ['--url', app.url]
  const made = parsed((await desk.run(['invoice', 'create', ...at, '--merchant', one.address, '--amount', '7'])).stdout)
  const cases: [string[], number, RegExp][] = [
    [['create', ...at, '--amount', '7'], 2, /--key-file/],
    [['create', ...at, '--key-file', one.file], 2, /--amount/],
    [['create', ...at, '--key-file', one.file, '--amount', '0.0000001'], 65, /amount/],
    [['sign', 'inv_x', ...at, '--key-file', one.file], 2, /inv_/],
    [['sign', `inv_${'0'.repeat(26)}`, ...at, '--key-file', one.file], 65, /./],
    [['sign', String(made['invoice_id']), ...at, '--key-file', other.file], 2, /of the merchant/],
    [['list', ...at], 2, /--key-file/],
    [['list', '--key-file', one.file], 2, /--url/],
    [['list', '--key-file', one.file, '--url', 'http://127.0.0.1:1'], 69, /does not answer/],
    [['lst'], 2, /Did you mean "list"/],
  ]
  for (const [args, code, words] of cases) {
    const ended = await desk.run(['invoice', ...args])
    assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`)
    assert.match(ended.stderr, words)
  }
})

test('a service that asks for another signature gets none', async () => {
  const { file } = await merchant()
  const asked: string[] = []
  /** Passes everything on, but shows a transfer of USDC instead of the statement about the invoice. */
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      asked.push(`${request.url ?? ''} ${body}`)
      const answer = await fetch(app.url + (request.url ?? ''), { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const changed = (await answer.text()).replaceAll('InvoiceIssue', 'TransferWithAuthorization').replaceAll('InvoiceList', 'Transfer')
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(changed)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const at = ['--url', `http://127.0.0.1:${address.port}`, '--key-file', file]
  try {
    for (const args of [['create', '--amount', '7'], ['list']]) {
      const ended = await desk.run(['invoice', ...args, ...at])
      assert.deepEqual([ended.code, /Nothing was signed/.test(ended.stderr)], [1, true], ended.stderr)
    }
    assert.ok(asked.length === 2 && asked.every((one) => !one.includes('signature')))
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('the log of the service: its checkpoint, and the proof of a receipt', async () => {
  const at = ['--url', app.url]
  const call = await fetch(`${app.url}/v1/tools/iban-check/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: { iban: 'GB82WEST12345698765432' } }),
  })
  const answer = await desk.file('answer.json', await call.text())
  // Receipts are appended every two seconds.
  await until('the receipt is in the log', async () => (await (await fetch(`${app.url}/log/checkpoint`)).text()).split('\n')[1] !== '0')
  const checkpoint = await desk.run(['log', 'checkpoint', ...at])
  assert.equal(checkpoint.code, 0, checkpoint.stderr)
  assert.ok(Number(parsed(checkpoint.stdout)['size']) >= 1)
  const proof = await desk.run(['log', 'proof', answer, ...at])
  assert.equal(proof.code, 0, proof.stderr)
  const keys = await desk.file('keys.json', await (await fetch(`${app.url}/.well-known/xdr-1.json`)).text())
  const saved = await desk.file('proof.txt', String(parsed(proof.stdout)['proof']))
  const verified = await desk.run(['verify', answer, '--keys', keys, '--log', saved])
  assert.equal(verified.code, 0, verified.stderr)
  const other = await desk.run(['call', 'iban-check', '{"iban":"GB82WEST12345698765432"}'])
  const unknown = await desk.run(['log', 'proof', await desk.file('other.json', other.stdout), ...at])
  assert.deepEqual([unknown.code, /no proof/.test(unknown.stderr)], [69, true])
})
