import { lacksInternational } from './addenda.ts'
import type { Batch } from './batch.ts'
import { IAT_OPTIONAL } from './classes.ts'
import { amountPlace, type OpenEntry } from './entry.ts'
import type { Findings } from './findings.ts'
import { ADDENDA, cut, ENTRY, ENTRY_VARIANT, type Place } from './layout.ts'
import type { NachaCode } from './rules.ts'
import { states } from './sums.ts'
import type { Traces } from './traces.ts'
import { areDigits, routingCheckDigit } from './values.ts'

/** A return and what it was answered with; a notice; an international return with all addenda of the original. */
const RETURN_ADDENDA_MAX = 3
const INTERNATIONAL_EXTRA = 12

type Demand = (holds: boolean, code: NachaCode, place: Place, expected: string) => void

/** Judges an entry whose addenda are all read. */
export function judgeEntry(entry: OpenEntry, batch: Batch, traces: Traces, findings: Findings): void {
  const { record, line } = entry
  const demand: Demand = (holds, code, place, expected) => {
    if (!holds) findings.add(code, { line, place, found: cut(record, place), expected })
  }
  judgeKind(entry, batch, demand)
  judgeDirection(entry, batch, demand)
  const check_digit = routingCheckDigit(entry.rdfi)
  demand(cut(record, ENTRY.check_digit) === check_digit, 'N_RDFI_CHECK', ENTRY.routing, check_digit ?? '9 digits')
  judgeAmount(entry, batch, demand)
  judgeName(entry, batch, demand)
  judgeAddenda(entry, batch, demand)
  if (batch.rules?.advice === true) return
  judgeTrace(entry, batch, traces, demand)
}

function judgeKind(entry: OpenEntry, batch: Batch, demand: Demand): void {
  const { kind, use } = entry
  const advice = batch.rules?.advice === true
  const fits = use !== null && (use === 'advice') === advice && !(use === 'return' && kind === 'forward')
  demand(
    fits,
    'N_TXCODE',
    ENTRY.transaction_code,
    advice ? '81-88' : kind === 'forward' ? 'a code for forward entries' : 'a transaction code',
  )
  const noc_class = batch.sec === 'COR' || batch.rules === null
  if (batch.kind === null && (kind !== 'noc' || noc_class)) batch.kind = kind
  const mixed = batch.kind !== kind || (kind === 'noc' && !noc_class)
  demand(!mixed, 'N_CATEGORY', ENTRY.addenda_flag, `${batch.kind ?? 'forward or return'} entries`)
}

function judgeDirection({ kind, direction }: OpenEntry, { service_class, rules, description }: Batch, demand: Demand): void {
  if (direction === null) return
  const by_service = service_class === '220' ? 'credit' : service_class === '225' ? 'debit' : null
  // A reversal goes the other way than the class allows, and a return keeps the code of its original.
  const by_class = kind === 'forward' && !/^REVERS/i.test(description) ? (rules?.direction ?? null) : null
  const against = [by_service, by_class].find((one) => one !== null && one !== direction)
  demand(against === undefined, 'N_CLASS_DIR', ENTRY.transaction_code, `a ${against}`)
}

function judgeAmount({ kind, use, amount_minor }: OpenEntry, batch: Batch, demand: Demand): void {
  const place = amountPlace(batch)
  if (amount_minor === null) return demand(false, 'N_AMOUNT', place, `${place.to - place.from + 1} digits`)
  const must_be_zero = kind === 'noc' || use === 'prenote' || use === 'zero_dollar' || batch.rules?.zero === true
  // A prenote or an acknowledgment comes back with the code of any return.
  const may_be_zero = must_be_zero || kind === 'return' || use === 'advice' || batch.rules === null
  demand(amount_minor > 0n || may_be_zero, 'N_AMOUNT_ZERO', place, 'above zero')
  demand(amount_minor === 0n || !must_be_zero, 'N_PRENOTE_NONZERO', place, 'zero')
}

function judgeName(entry: OpenEntry, { rules, sec }: Batch, demand: Demand): void {
  if (entry.kind !== 'forward' || rules === null) return
  const { name } = rules
  if (name !== null) demand(cut(entry.record, name).trim() !== '', 'N_NAME', name, 'a name')
  const named = sec !== 'IAT' || entry.iat_next === 10 || entry.iat_name !== ''
  demand(named, 'N_NAME', ADDENDA.iat_name, 'a name in addenda 10')
}

function judgeAddenda(entry: OpenEntry, batch: Batch, demand: Demand): void {
  const { record, addenda } = entry
  const { rules } = batch
  demand(cut(record, ENTRY.addenda_flag) === (addenda > 0 ? '1' : '0'), 'N_ADDENDA_FLAG', ENTRY.addenda_flag, addenda > 0 ? '1' : '0')
  const max = addendaMax(entry, batch)
  demand(addenda <= max, 'N_ADDENDA_MAX', ENTRY.addenda_flag, `at most ${max}, not ${addenda}`)
  if (batch.sec === 'IAT') {
    demand(!lacksInternational(entry), 'N_IAT_ADDENDA', ENTRY_VARIANT.iat_addenda, `addenda ${entry.iat_next}`)
    const { '17': infos, '18': banks } = entry.numbered
    demand(infos <= IAT_OPTIONAL['17'] && banks <= IAT_OPTIONAL['18'], 'N_ADDENDA_MAX', ENTRY_VARIANT.iat_addenda, '2 of type 17, 5 of 18')
  }
  if (entry.kind !== 'forward' || rules === null || addenda > max) return
  if (rules.addenda_demanded) demand(addenda === rules.addenda_max, 'N_ADDENDA_COUNT', ENTRY.addenda_flag, `${rules.addenda_max}`)
  const place = rules.addenda_count
  if (place !== null) demand(states(cut(record, place), BigInt(addenda)), 'N_ADDENDA_COUNT', place, `${addenda}`.padStart(4, '0'))
}

function addendaMax({ kind }: OpenEntry, { rules, international }: Batch): number {
  if (rules === null) return 9_999
  if (kind === 'forward') return rules.addenda_max
  return (kind === 'return' ? RETURN_ADDENDA_MAX : 1) + (international ? INTERNATIONAL_EXTRA : 0)
}

function judgeTrace({ trace }: OpenEntry, batch: Batch, traces: Traces, demand: Demand): void {
  demand(trace.slice(0, 8) === batch.odfi, 'N_TRACE_ODFI', ENTRY.trace_odfi, batch.odfi)
  if (!areDigits(trace)) return demand(false, 'N_TRACE_ASC', ENTRY.trace, '15 digits')
  const repeats = traces.repeats(trace) || trace === batch.last_trace
  demand(!repeats, 'N_TRACE_DUP', ENTRY.trace, 'a number of its own')
  demand(repeats || trace > batch.last_trace, 'N_TRACE_ASC', ENTRY.trace, `above ${batch.last_trace}`)
  batch.last_trace = trace
}
