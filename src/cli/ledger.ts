import { pagesOf } from '../service/payments/prove-ledger.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { filterOf, formatOf, type LedgerFilter, type LedgerFormat } from './ledger-query.ts'
import { amounts, csvLine, paymentLine, paymentRow, PAYMENT_FIELDS, PAYMENT_HEAD, SUM_FIELDS, sumRow, totalsOf } from './ledger-rows.ts'
import { withLedger, type LedgerDesk } from './ledger-store.ts'
import { LineWriter } from './line-writer.ts'
import { markMode, settingsHere } from './settings.ts'
import { paint, printable, say } from './terminal.ts'
import { unknownName } from './unknown-name.ts'

const ACTIONS = ['sums', 'list', 'prove'] as const
/** Rows that are read at once. */
const PAGE_ROWS = 500

/** `assay ledger [sums | list | prove]`: the payments of this deployment, added up, row by row, or proved by the chain. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word = 'sums'] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (action === undefined) throw unknownName('action', word, ACTIONS, 'The actions are sums, list and prove.')
  const format = formatOf(invocation)
  const filter = filterOf(invocation)
  if (action === 'prove' && Object.keys(filter).length > 0) {
    throw new CliError('usage', 'prove takes the whole ledger: --from, --to, --tool and --state go with sums and list.')
  }
  if (action === 'prove' && format === 'csv') throw new CliError('usage', 'prove writes a table or JSON.')
  const settings = settingsHere()
  markMode(settings)
  return withLedger(settings, async (desk) => {
    if (action === 'sums') await showSums(desk, filter, format)
    else if (action === 'list') await showList(desk, filter, format)
    else return (await import('./ledger-prove.ts')).prove(settings, desk, format === 'json')
    return 'ok'
  })
}

async function showSums({ store, identity }: LedgerDesk, filter: LedgerFilter, format: LedgerFormat): Promise<void> {
  const sums = await store.payments.ledger_sums(filter)
  const totals = totalsOf(sums)
  const rows = sums.map(sumRow)
  switch (format) {
    case 'csv':
      return say([csvLine(SUM_FIELDS), ...rows.map((row) => csvLine(SUM_FIELDS.map((name) => row[name])))].join('\r\n') + '\r')
    case 'json': {
      const all = totals.map(({ state, count, value_minor }) => ({ state, count, ...amounts(value_minor) }))
      return say(JSON.stringify({ ...identity, sums: rows, totals: all }))
    }
    case 'table': {
      if (rows.length === 0) return say('No payments.')
      const lines = rows.map(({ day, tool, state, count, amount_usdc }) => [day, tool, state, String(count), amount_usdc])
      const last = totals.map(({ state, count, value_minor }) => ['total', '', state, String(count), amounts(value_minor).amount_usdc])
      return say(aligned([['day', 'tool', 'state', 'count', 'USDC'], ...lines, ...last]).join('\n'))
    }
  }
}

/** Lines of cells under each other; count and amount, the last two, stand flush right. */
function aligned(rows: string[][]): string[] {
  const columns = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const cell = (text: string, column: number) =>
    column < columns - 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  return rows.map((row) => printable(row.map(cell).join('  ')))
}

/** Page after page, so that a ledger of any length needs the memory of one. */
async function showList({ store }: LedgerDesk, filter: LedgerFilter, format: LedgerFormat): Promise<void> {
  const writer = new LineWriter()
  const write = async (line: string) => void (await writer.write(line))
  if (format === 'csv') await write(`${csvLine(PAYMENT_FIELDS)}\r`)
  if (format === 'table') await write(paint('strong', PAYMENT_HEAD))
  for await (const page of pagesOf(store.payments, { ...filter, limit: PAGE_ROWS })) {
    for (const payment of page) {
      if (format === 'table') await write(paymentLine(payment))
      else {
        const row = paymentRow(payment)
        await write(format === 'json' ? JSON.stringify(row) : `${csvLine(PAYMENT_FIELDS.map((name) => row[name]))}\r`)
      }
    }
    // What a page came to is shown before the next one is read.
    await writer.flush()
  }
  await writer.flush()
}
