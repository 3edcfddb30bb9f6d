import type { LedgerQuery } from '../ports/payments.ts'
import { PAYMENT_STATES, type PaymentState } from '../pure/payments/states.ts'
import type { Invocation } from './arguments.ts'
import { CliError } from './exit-codes.ts'
import { wantsJson } from './terminal.ts'
import { unknownName } from './unknown-name.ts'

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
