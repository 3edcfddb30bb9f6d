import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DEFAULT_WINDOW } from '../../src/pure/documents/reconcile/values.ts'
import fc from 'fast-check'
import { mergeSorted, reconcileFiles, Spool } from '../../src/cli/reconcile-spool.ts'
import { ReadFindings, StatementBook } from '../../src/pure/documents/reconcile/records.ts'
import { totalsJson } from '../../src/pure/documents/reconcile/outcome.ts'
import { given } from '../documents/reconcile-ledgers.ts'
import { booked, camt, detail, pain, transfer } from '../documents/reconcile-messages.ts'
import { reconciled, statement } from '../documents/reconcile-records.ts'
import { runs, SEED } from '../support/counts.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

let desk: Desk
let instructions: string
let told: string
before(async () => {
  desk = await openDesk()
  instructions = await desk.file('a.xml', pain(transfer('E1', '100.00') + transfer('=E2&lt;b&gt;', '20.00') + transfer('E3', '5.50')))
  told = await desk.file(
    'b.xml',
    camt(
      booked({ details: detail('E1') }) + booked({ amount: '15.00', details: detail('=E2&lt;b&gt;') }) + booked({ details: detail('@X') }),
    ),
  )
})
after(() => desk.clear())

const run = (...args: string[]) => desk.run(['reconcile', '--instructions', instructions, '--statement', told, ...args])
const COUNTS = { SETTLED: 1, UNPAID: 1, AMOUNT_MISMATCH: 1, DUPLICATE_PAYMENT: 0 }

test('a summary for machines and for people', async () => {
  const [json, text] = await Promise.all([run(), run('--text')])
  assert.deepEqual([json.code, text.code], [0, 0])
  const { counts, conserved, files, finding_count } = parsed(json.stdout)
  assert.deepEqual([counts, conserved, files, finding_count], [COUNTS, true, [instructions, told], 0])
  assert.match(text.stdout, /^SETTLED +1$/m)
  assert.match(text.stdout, /^unmatched +1$/m)
})

test('JSON lines hold every row, sorted, and the summary last', async () => {
  const { stdout } = await run('--jsonl')
  const lines = stdout.trimEnd().split('\n').map(parsed)
  assert.deepEqual(
    lines.map(({ record, end_to_end_id, verdict }) => [record, end_to_end_id, verdict]),
    [
      ['verdict', '=E2<b>', 'AMOUNT_MISMATCH'],
      ['verdict', 'E1', 'SETTLED'],
      ['verdict', 'E3', 'UNPAID'],
      ['unmatched', '@X', undefined],
      ['summary', undefined, undefined],
    ],
  )
  assert.deepEqual(lines.at(-1)?.['counts'], COUNTS)
})

test('CSV has decimal amounts and runs no formula', async () => {
  const { stdout } = await run('--csv')
  const [head, ...rows] = stdout.trimEnd().split('\r\n')
  const cells = rows.map((row) => Object.fromEntries(row.split(',').map((cell, index) => [head?.split(',')[index], cell])))
  assert.deepEqual(
    cells.map((row) => [row['end_to_end_id'], row['amount'], row['delta']]),
    [
      ["'=E2<b>", '20.00', '-5.00'],
      ['E1', '100.00', '0.00'],
      ['E3', '5.50', '-5.50'],
      ["'@X", '100.00', ''],
    ],
  )
})

test('the page needs nothing beside it, prints, and shows no markup of strangers', async () => {
  const { stdout } = await run('--html')
  assert.ok(stdout.startsWith('<!doctype html>') && stdout.trimEnd().endsWith('</html>'))
  assert.ok(stdout.includes('=E2&lt;b&gt;') && !stdout.includes('<b>=') && !stdout.includes('E2<b>'))
  assert.ok(stdout.includes('@media print') && !/<script|src=|href=|url\(/.test(stdout))
  for (const words of ['1 of 3 instructions are settled', 'Other amount than instructed', '-5.00 EUR', 'Entries without an instruction']) {
    assert.ok(stdout.includes(words), words)
  }
})

test('--out writes all of it into a folder', async () => {
  const folder = join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'out')
  const { code, stdout } = await run('--out', folder)
  assert.equal(code, 0)
  assert.deepEqual(readdirSync(folder).toSorted(), ['report.csv', 'report.html', 'report.jsonl', 'summary.json'])
  assert.equal((parsed(stdout)['written'] as string[]).length, 4)
  const { counts } = parsed(readFileSync(join(folder, 'summary.json'), 'utf8'))
  assert.deepEqual(counts, COUNTS)
})

test('several files of one kind are one side', async () => {
  const more = await desk.file('c.xml', pain(transfer('@X', '100.00')))
  const { stdout } = await run('--instructions', more)
  assert.deepEqual(parsed(stdout)['counts'], { ...COUNTS, SETTLED: 2 })
})

test('what is wrong with the command line or the files', async () => {
  const broken = await desk.file('broken.xml', pain(transfer('E1', '1.001')))
  const ends = await Promise.all([
    desk.run(['reconcile', '--instructions', instructions]),
    desk.run(['reconcile', '--statement', told]),
    run('--csv', '--html'),
    run('--csv', '--out', 'x'),
    desk.run(['reconcile', '--instructions', broken, '--statement', told]),
    desk.run(['reconcile', '--instructions', '/nowhere', '--statement', told]),
    desk.run(['reconcile', '--instructions', instructions, '--statement', '-']),
  ])
  assert.deepEqual(
    ends.map(({ code }) => code),
    [2, 2, 2, 2, 65, 66, 2],
  )
  assert.match(ends[4]?.stderr ?? '', /broken\.xml:2 AMOUNT_FRACTION/)
})

test('judged in parts on disk, every verdict is the same', () => {
  const statements = [statement(), statement({ file: 2 })]
  fc.assert(
    fc.property(given, (one) => {
      const whole = reconciled({ ...one, statements })
      const book = new StatementBook()
      for (const each of statements) book.open(each)
      const spool = new Spool()
      try {
        for (const each of one.entries) {
          spool.entry(each)
          book.add(each)
        }
        for (const each of one.instructions) spool.instruction(each)
        const { repeated, overlaps } = book.findRepeats()
        const { require_settlement_evidence } = one
        const found = spool.reconcile({ require_settlement_evidence, window: DEFAULT_WINDOW, repeated, overlaps })
        assert.deepEqual([...found.verdicts()], whole.verdicts)
        assert.deepEqual(
          [...found.verdictLines()],
          whole.verdicts.map((row) => JSON.stringify(row)),
        )
        assert.deepEqual([...found.unmatched()], whole.unmatched)
        assert.deepEqual([...found.ignored()], whole.ignored)
        assert.deepEqual([found.ambiguous, found.input_defects], [whole.ambiguous, whole.input_defects])
        assert.deepEqual(found.totals.map(totalsJson), whole.totals)
      } finally {
        spool.close()
      }
    }),
    { numRuns: runs(60, 2_000), seed: SEED },
  )
})

test('more records than fit are read again into parts, which are gone afterwards', () => {
  // A place of our own, so that nobody else's leavings are counted.
  const usual = process.env['TMPDIR']
  process.env['TMPDIR'] = join(instructions, '..')
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('assay-reconcile-'))
  const files = [
    { path: instructions, side: 'instructions' as const },
    { path: told, side: 'statement' as const },
  ]
  const rows = [10, 3].map((records_in_memory) => {
    const { report, close } = reconcileFiles(files, new ReadFindings(), {
      require_settlement_evidence: false,
      window: DEFAULT_WINDOW,
      records_in_memory,
    })
    const found = [...report.verdicts()]
    close()
    return found
  })
  assert.equal(rows[0]?.length, 3)
  assert.deepEqual(rows[1], rows[0])
  assert.deepEqual(folders(), [])
  if (usual === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = usual
})

test('sorted lists merge into one', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(50)), { maxLength: 9 }), (lists) => {
      const order = (one: number, other: number) => one - other
      const found = [
        ...mergeSorted(
          lists.map((list) => list.toSorted(order).values()),
          order,
        ),
      ]
      assert.deepEqual(found, lists.flat().toSorted(order))
    }),
    { numRuns: runs(200, 5_000), seed: SEED },
  )
})
