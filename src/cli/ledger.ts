import type { LedgerQuery } from '../ports/payments.ts'
import { PAYMENT_STATES, type PaymentState } from '../pure/payments/states.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { paint, printable, say, wantsJson } from './terminal.ts'
import { unknownName } from './unknown-name.ts'
import { pagesOf } from '../service/payments/prove-ledger.ts'
import { amounts, csvLine, PAYMENT_FIELDS, PAYMENT_HEAD, paymentLine, paymentRow, SUM_FIELDS, sumRow, totalsOf } from './ledger-rows.ts'
import { type LedgerDesk, withLedger } from './ledger-store.ts'
import { LineWriter } from './line-writer.ts'
import { markMode, settingsHere } from './settings.ts'

const DAY_MS = 86_400_000
const FORMATS = ['table', 'csv', 'json'] as const
export type LedgerFormat = (typeof FORMATS)[number]

export type LedgerFilter = Pick<LedgerQuery, 'from_ms' | 'to_ms' | 'tool' | 'state'>

/** What --from, --to, --tool and --state ask for; days are UTC, whole, and by the creation of the payment. Throws a CliError. */
export function filterOf(invocation: Invocation): LedgerFilter {
  const from_ms = dayOf(invocation, 'from')
  const last_ms = dayOf(invocation, 'to')
  const tool = toolOf(invocation.text('tool'))
  const state = stateOf(invocation.text('state'))
  if (from_ms !== null && last_ms !== null && from_ms > last_ms) throw new CliError('usage', '--from is a later day than --to.')
  return {
    ...(from_ms === null ? {} : { from_ms }),
    ...(last_ms === null ? {} : { to_ms: last_ms + DAY_MS }),
    ...(tool === null ? {} : { tool }),
    ...(state === null ? {} : { state }),
  }
}

/** The format that is named; else a table for people and JSON for machines. Throws a CliError. */
export function formatOf(invocation: Invocation): LedgerFormat {
  const given = invocation.text('format')
  if (given === null) return wantsJson(invocation) ? 'json' : 'table'
  const found = FORMATS.find((format) => format === given)
  if (found === undefined) throw new CliError('usage', `--format takes ${FORMATS.join(', ')}.`)
  return found
}

/** The first millisecond of the day; null where none is named. */
function dayOf(invocation: Invocation, name: 'from' | 'to'): number | null {
  const text = invocation.text(name)
  if (text === null) return null
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  // Date.parse takes the 30th of February for the 2nd of March in some engines.
  const real = Number.isFinite(ms) && ms >= 0 && new Date(ms).toISOString().startsWith(text)
  if (!real) throw new CliError('usage', `--${name} takes a day since 1970 as YYYY-MM-DD, in UTC.`)
  return ms
}

/** Tools that are gone may still have payments, so that any id will do. */
function toolOf(text: string | null): string | null {
  if (text === null) return null
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) throw new CliError('usage', '--tool takes the id of a tool, or invoice.')
  return text.replaceAll('_', '-')
}

function stateOf(text: string | null): PaymentState | null {
  if (text === null) return null
  const found = PAYMENT_STATES.find((state) => state === text)
  if (found !== undefined) return found
  throw unknownName('state', text, PAYMENT_STATES, `The states are ${PAYMENT_STATES.join(', ')}.`)
}

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
