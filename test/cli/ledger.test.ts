import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { csvLine, PAYMENT_FIELDS, paymentRow } from '../../src/cli/ledger.ts'
import type { ClaimRequest } from '../../src/ports/payments.ts'
import type { Store } from '../../src/ports/store.ts'
import type { PaymentState } from '../../src/pure/payments/states.ts'
import { EPOCH, found, keptInvoice, keyOf, paymentIn, request } from '../support/store-payments.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'
import { openSealed } from '../support/store-drivers.ts'

const PAY_TO = `0x${'2b'.repeat(20)}`
const LIVE = { ASSAY_MODE: 'live', ASSAY_RPC_URLS: 'http://127.0.0.1:9', ASSAY_PAY_TO: PAY_TO, ASSAY_GAS_KEY_FILE: '/nowhere/gas.key' }

let desk: Desk
before(async () => {
  desk = await openDesk()
  const store = await openSealed(join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'assay.sqlite'))
  await store.identity({ mode: 'live', chain_id: 8453, pay_to: PAY_TO })
  await fill(store)
  await store.close()
})
after(() => desk.clear())

const run = (...args: string[]) => desk.run(['ledger', ...args], { settings: LIVE })

/** Two days with their first and last millisecond, and a third day that has one page and one row. */
const PAYMENTS: [PaymentState, string, Partial<ClaimRequest>][] = [
  ['settled', '2026-03-01T00:00:00.000Z', { value_minor: 5_000n }],
  ['settled', '2026-03-01T23:59:59.999Z', { value_minor: 5_625n }],
  ['refused', '2026-03-01T12:00:00.000Z', { value_minor: 5_000n }],
  ['settled', '2026-03-02T00:00:00.000Z', { value_minor: 50_000n, subject: 'batch-validate', price_class: 'batch' }],
  ['unknown', '2026-03-02T01:00:00.000Z', { value_minor: 7_000n }],
  ['settled', '2026-03-02T02:00:00.000Z', { value_minor: 9_000_000_000_000_000n, purpose: 'invoice', subject: 'inv-secret-id' }],
]
const LAST_DAY_MS = Date.parse('2026-03-03T10:00:00.000Z')
const LAST_DAY_ROWS = 501

async function fill(store: Store): Promise<void> {
  await keptInvoice(store, 9_000_000_000_000_000n, 'inv-secret-id')
  for (const [state, at, changes] of PAYMENTS)
    await paymentIn(store, state, { now_ms: Date.parse(at), balance_minor: 10n ** 16n, ...changes })
  const claims = Array.from({ length: LAST_DAY_ROWS }, (_, index) => request({ now_ms: LAST_DAY_MS + (index % 7), value_minor: 5_000n }))
  await Promise.all(claims.map((claim) => store.payments.claim(claim)))
}

test('sums by day, tool and state are exact, and the totals are theirs', async () => {
  const { code, stdout } = await run()
  assert.equal(code, 0)
  const { sums, totals, pay_to } = parsed(stdout) as { sums: Record<string, unknown>[]; totals: unknown; pay_to: string }
  assert.equal(pay_to, PAY_TO)
  assert.deepEqual(
    sums.map((sum) => Object.values(sum)),
    [
      ['2026-03-01', 'iban-check', 'refused', 1, '0.005', '5000', 'eip155:8453', 'USDC'],
      ['2026-03-01', 'iban-check', 'settled', 2, '0.010625', '10625', 'eip155:8453', 'USDC'],
      ['2026-03-02', 'batch-validate', 'settled', 1, '0.05', '50000', 'eip155:8453', 'USDC'],
      ['2026-03-02', 'iban-check', 'unknown', 1, '0.007', '7000', 'eip155:8453', 'USDC'],
      ['2026-03-02', 'invoice', 'settled', 1, '9000000000', '9000000000000000', 'eip155:8453', 'USDC'],
      // 501 times 0.005.
      ['2026-03-03', 'iban-check', 'claimed', 501, '2.505', '2505000', 'eip155:8453', 'USDC'],
    ],
  )
  // 0.010625 + 0.05 + 9,000,000,000, which no float holds.
  assert.deepEqual(totals, [
    { state: 'claimed', count: 501, amount_usdc: '2.505', amount_minor: '2505000', currency: 'USDC' },
    { state: 'settled', count: 4, amount_usdc: '9000000000.060625', amount_minor: '9000000000060625', currency: 'USDC' },
    { state: 'refused', count: 1, amount_usdc: '0.005', amount_minor: '5000', currency: 'USDC' },
    { state: 'unknown', count: 1, amount_usdc: '0.007', amount_minor: '7000', currency: 'USDC' },
  ])
})

test('people get a table with flush numbers and totals, spreadsheets get CSV', async () => {
  const [table, csv] = await Promise.all([
    run('--format', 'table', '--to', '2026-03-01'),
    run('sums', '--format', 'csv', '--tool', 'iban_check'),
  ])
  assert.deepEqual(table.stdout.trimEnd().split('\n'), [
    'day         tool        state    count      USDC',
    '2026-03-01  iban-check  refused      1     0.005',
    '2026-03-01  iban-check  settled      2  0.010625',
    'total                   settled      2  0.010625',
    'total                   refused      1     0.005',
  ])
  assert.equal(
    csv.stdout,
    [
      'day,tool,state,count,amount_usdc,amount_minor,network,currency',
      '2026-03-01,iban-check,refused,1,0.005,5000,eip155:8453,USDC',
      '2026-03-01,iban-check,settled,2,0.010625,10625,eip155:8453,USDC',
      '2026-03-02,iban-check,unknown,1,0.007,7000,eip155:8453,USDC',
      '2026-03-03,iban-check,claimed,501,2.505,2505000,eip155:8453,USDC',
      '',
    ].join('\r\n'),
  )
})

test('days are whole and both are in; tool and state narrow further', async () => {
  const counts = async (...args: string[]) => {
    const { code, stdout } = await run('list', ...args)
    assert.equal(code, 0)
    return stdout.split('\n').length - 1
  }
  assert.deepEqual(
    await Promise.all([
      counts('--from', '2026-03-01', '--to', '2026-03-01'),
      counts('--to', '2026-03-02'),
      counts('--from', '2026-03-02'),
      counts('--from', '2026-03-04'),
      counts('--state', 'settled'),
      counts('--tool', 'invoice'),
      counts('--tool', 'iban-check', '--state', 'settled', '--to', '2026-03-01'),
    ]),
    [3, 6, 504, 0, 4, 1, 2],
  )
})

test('the list is one object a line, page after page, and never names an invoice or a signature', async () => {
  const { stdout } = await run('list', '--format', 'json')
  const rows = stdout.trimEnd().split('\n').map(parsed)
  assert.equal(rows.length, PAYMENTS.length + LAST_DAY_ROWS)
  assert.equal(new Set(rows.map(({ nonce }) => nonce)).size, rows.length)
  const created = rows.map(({ created_at }) => String(created_at))
  assert.deepEqual(created, created.toSorted())
  const sum = rows.reduce((all, { amount_minor }) => all + BigInt(String(amount_minor)), 0n)
  assert.equal(sum, 5_000n + 5_625n + 5_000n + 50_000n + 7_000n + 9_000_000_000_000_000n + 2_505_000n)
  assert.ok(!stdout.includes('inv-secret-id') && !stdout.includes('33'.repeat(65)))
  assert.deepEqual(Object.keys(rows[0] ?? {}), [...PAYMENT_FIELDS])
})

test('the same list as CSV: a header, CR LF, as many cells everywhere', async () => {
  const { stdout } = await run('list', '--format', 'csv', '--to', '2026-03-02')
  const lines = stdout.split('\r\n')
  assert.equal(lines.pop(), '')
  assert.equal(lines.length, 1 + PAYMENTS.length)
  assert.ok(lines.every((line) => line.split(',').length === PAYMENT_FIELDS.length))
  assert.deepEqual(lines[0]?.split(',').slice(0, 5), ['created_at', 'tool', 'state', 'amount_usdc', 'amount_minor'])
  assert.deepEqual(lines[1]?.split(',').slice(0, 5), ['2026-03-01T00:00:00.000Z', 'iban-check', 'settled', '0.005', '5000'])
  const people = await run('list', '--text', '--to', '2026-03-01')
  assert.match(people.stdout, /2026-03-01T12:00:00\.000Z {2}refused +0\.005 {2}iban-check .*because refused\n/)
  assert.match(people.stdout, /settled, not final/)
})

test('a cell is quoted as RFC 4180 says, and never a formula', () => {
  assert.equal(csvLine(['a,b', 'say "x"', 'two\nlines', null, 7, true]), '"a,b","say ""x""","two\nlines",,7,true')
  assert.equal(csvLine(['=1+1', '+1', '-1', '@a', '\tb', '=cmd|"/c calc"!A1']), `'=1+1,'+1,'-1,'@a,'\tb,"'=cmd|""/c calc""!A1"`)
})

test('a row has exactly the fields that are announced', async () => {
  const store = await openSealed(join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'one.sqlite'))
  const claim = await paymentIn(store, 'settled')
  await store.payments.apply_transitions([{ ...keyOf(claim), to: 'unknown', reason: '=evil', transaction: null }], EPOCH, 1)
  const row = paymentRow(await found(store, claim), 84_532)
  assert.deepEqual(Object.keys(row), [...PAYMENT_FIELDS])
  await store.close()
})

test('wrong words and days are refused before anything is opened', async () => {
  const wrong: [string[], RegExp][] = [
    [['lst'], /Unknown action "lst"\. Did you mean "list"\?/],
    [['--from', '2026-02-30'], /--from takes a day/],
    [['--to', '1 March'], /--to takes a day/],
    [['--from', '2026-03-02', '--to', '2026-03-01'], /later day/],
    [['--state', 'setled'], /Unknown state "setled"\. Did you mean "settled"\?/],
    [['--tool', "x' or 1=1"], /--tool takes/],
    [['--format', 'xml'], /table, csv, json/],
    [['prove', '--from', '2026-03-01'], /whole ledger/],
    [['prove', '--format', 'csv'], /table or JSON/],
  ]
  const ended = await Promise.all(wrong.map(([args]) => run(...args)))
  ended.forEach(({ code, stdout, stderr }, index) => {
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, wrong[index]?.[1] ?? /never/)
  })
})

test('no store, another deployment, a chain that is not there: each ends with its own number', async () => {
  const other = { ...LIVE, ASSAY_PAY_TO: `0x${'3c'.repeat(20)}` }
  const folder = desk.settings['ASSAY_DATA_DIR'] ?? ''
  const [none, stranger, sandbox, silent] = await Promise.all([
    desk.run(['ledger'], { settings: { ...LIVE, ASSAY_STORE: join(folder, 'none.sqlite') } }),
    desk.run(['ledger'], { settings: other }),
    desk.run(['ledger']),
    run('prove'),
  ])
  assert.deepEqual([none.code, stranger.code, sandbox.code, silent.code], [66, 78, 78, 69])
  assert.deepEqual([none.stdout, stranger.stdout, sandbox.stdout, silent.stdout], ['', '', '', ''])
  assert.match(stranger.stderr, /belongs to another deployment \(live, chain 8453, pay-to 0x2b/)
  assert.match(sandbox.stderr, /secret of this deployment is missing/)
  assert.ok(!silent.stderr.includes('127.0.0.1'))
})

test('in the sandbox the proof asks the chain that the record names, and starts none', async () => {
  const own = await openDesk()
  try {
    const folder = own.settings['ASSAY_DATA_DIR'] ?? ''
    await own.run(['call', 'iban-check', '{"iban":"GB82"}'])
    await (await openSealed(join(folder, 'assay.sqlite'))).close()
    const without = await own.run(['ledger', 'prove'])
    assert.deepEqual([without.code, without.stdout], [69, ''])
    assert.match(without.stderr, /sandbox chain does not run/)
    mkdirSync(join(folder, 'sandbox'), { recursive: true })
    writeFileSync(join(folder, 'sandbox', 'anvil.json'), JSON.stringify({ pid: 1, rpc_url: 'http://127.0.0.1:9', chain_id: 84532 }))
    const silent = await own.run(['ledger', 'prove'])
    assert.equal(silent.code, 69)
    assert.match(silent.stderr, /chain cannot be read/)
  } finally {
    await own.clear()
  }
})
