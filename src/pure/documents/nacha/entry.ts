import type { Batch } from './batch.ts'
import {
  CHANGE_CODES,
  IAT_OPTIONAL,
  likelyDirection,
  referencesIn,
  RETURN_CODES,
  returnKind,
  transactionCode,
  type TransactionUse,
} from './codes.ts'
import { ADDENDA, cut, cutTrimmed, ENTRY, ENTRY_VARIANT, type Place } from './layout.ts'
import type { NachaDirection, NachaEntry, NachaKind } from './types.ts'
import { areDigits, routingCheckDigit } from './values.ts'
import type { Findings } from './findings.ts'
import type { NachaCode } from './rules.ts'
import { states } from './sums.ts'

/** More addenda than this are counted but not kept; no class has more. */
const MAX_KEPT_INFOS = 9_999

/** An entry whose addenda may still be coming. */
export interface OpenEntry {
  line: number
  record: string
  kind: NachaKind
  code: string
  use: TransactionUse | null
  direction: NachaDirection | null
  amount_minor: bigint | null
  rdfi: string
  trace: string
  addenda: number
  /** How many of type 05, 17 and 18 came. */
  numbered: Record<'05' | '17' | '18', number>
  /** The one of the seven international addenda that should come next; 17 when all came. */
  iat_next: number
  iat_faulty: boolean
  iat_name: string
  /** Payment information, 80 columns each. */
  infos: string[]
  /** The last addenda 98 and 99. */
  change: string | null
  returned: string | null
}

export function openEntry(record: string, line: number, batch: Batch): OpenEntry {
  const code = cut(record, ENTRY.transaction_code)
  const amount = cut(record, amountPlace(batch))
  return {
    line,
    record,
    kind: 'forward',
    code,
    use: transactionCode(code)?.use ?? null,
    direction: likelyDirection(code),
    amount_minor: areDigits(amount) ? BigInt(amount) : null,
    rdfi: cut(record, ENTRY.rdfi),
    trace: cut(record, ENTRY.trace),
    addenda: 0,
    numbered: { '05': 0, '17': 0, '18': 0 },
    iat_next: 10,
    iat_faulty: false,
    iat_name: '',
    infos: [],
    change: null,
    returned: null,
  }
}

function amountPlace(batch: Batch): Place {
  return batch.rules?.advice === true ? ENTRY_VARIANT.adv_amount : ENTRY.amount
}

function keepInfo(entry: OpenEntry, record: string): void {
  if (entry.infos.length < MAX_KEPT_INFOS) entry.infos.push(cut(record, ADDENDA.payment_info))
}

/** Where account, id and name of the receiver stand; null for what the class has not. */
function places({ sec, rules }: Batch): { account: Place; id: Place | null; name: Place | null } {
  if (sec === 'IAT') return { account: ENTRY_VARIANT.iat_account, id: null, name: null }
  if (sec === 'CIE') return { account: ENTRY.account, id: ENTRY_VARIANT.cie_id, name: ENTRY_VARIANT.cie_name }
  if (rules?.advice === true) return { account: ENTRY_VARIANT.adv_account, id: null, name: ENTRY.name }
  const name = rules?.addenda_count === ENTRY_VARIANT.exchange_addenda ? ENTRY_VARIANT.exchange_name : ENTRY.name
  return { account: ENTRY.account, id: ENTRY.individual_id, name }
}

/** The entry as the caller gets it. */
export function entryRead(entry: OpenEntry, batch: Batch): NachaEntry {
  const { record, change, returned } = entry
  const { account, id, name } = places(batch)
  return {
    line: entry.line,
    batch_line: batch.line,
    batch_number: batch.number,
    service_class: batch.service_class,
    company_id: batch.company_id,
    company_name: batch.company_name,
    description: batch.description,
    sec: batch.sec,
    kind: entry.kind,
    direction: entry.direction,
    transaction_code: entry.code,
    amount_minor: entry.amount_minor,
    prenote: entry.use === 'prenote',
    trace: entry.trace.trim(),
    individual_id: id === null ? '' : cutTrimmed(record, id),
    name: name === null ? entry.iat_name : cutTrimmed(record, name),
    rdfi: cut(record, ENTRY.routing),
    odfi: batch.odfi,
    account: cutTrimmed(record, account),
    effective_date: batch.effective_date,
    settlement_julian: batch.settlement_julian,
    payment_infos: entry.infos.map((info) => info.trimEnd()),
    references: referencesIn(entry.infos),
    ...originalRead(change, returned, batch.international),
  }
}

type OriginalFields = 'return_code' | 'return_kind' | 'change_code' | 'corrected_data' | 'original_trace' | 'original_rdfi'

function originalRead(change: string | null, returned: string | null, international: boolean): Pick<NachaEntry, OriginalFields> {
  const last = returned ?? change
  return {
    return_code: returned === null ? null : cut(returned, ADDENDA.code),
    return_kind: returned === null ? null : returnKind(cut(returned, ADDENDA.code)),
    change_code: change === null ? null : cut(change, ADDENDA.code),
    corrected_data: change === null ? null : cutTrimmed(change, international ? ADDENDA.iat_corrected_data : ADDENDA.corrected_data),
    original_trace: last === null ? null : cutTrimmed(last, ADDENDA.original_trace),
    original_rdfi: last === null ? null : cutTrimmed(last, ADDENDA.original_rdfi),
  }
}

const FIRST_IAT = 10
const LAST_IAT = 16

/** Takes a record of type 7 into its entry and judges what it says by itself. */
export function addAddenda(entry: OpenEntry, batch: Batch, record: string, line: number, findings: Findings): void {
  entry.addenda++
  const type = cut(record, ADDENDA.type)
  const trace = cut(record, ADDENDA.entry_sequence)
  const expected = cut(entry.record, ENTRY.sequence)
  if (trace !== expected) findings.add('N_ADDENDA_TRACE', { line, place: ADDENDA.entry_sequence, found: trace, expected })
  if (type === '98' || type === '99') takeOriginal(entry, type, record, line, findings)
  else if (!isOfClass(type, batch)) {
    findings.add('N_ADDENDA_TYPE', { line, place: ADDENDA.type, found: type, expected: batch.rules?.addenda ?? 'none' })
  } else if (batch.international) takeInternational(entry, type, record, line, findings)
  if (type === '05' || type === '17' || type === '18') takeNumbered(entry, type, record, line, findings)
}

/** A class without addenda has its own rule, N_ADDENDA_MAX; an unknown class is judged nowhere. */
function isOfClass(type: string, { rules, international }: Batch): boolean {
  if (rules === null) return true
  if (international) return /^1[0-8]$/.test(type)
  return type === (rules.addenda ?? '05')
}

/** 98: a notice of change. 99: a return. Both name the entry that they are about. */
function takeOriginal(entry: OpenEntry, type: '98' | '99', record: string, line: number, findings: Findings): void {
  const found = cut(record, ADDENDA.code)
  if (type === '98') {
    entry.kind = 'noc'
    entry.change = record
    if (!CHANGE_CODES.has(found)) findings.add('N_NOC_CODE', { line, place: ADDENDA.code, found, expected: 'C01-C14 or C61-C69' })
  } else {
    entry.kind = 'return'
    entry.returned = record
    if (!RETURN_CODES.has(found)) findings.add('N_RETURN_CODE', { line, place: ADDENDA.code, found, expected: 'R01-R85' })
  }
  const trace = cut(record, ADDENDA.original_trace)
  if (areDigits(trace)) return
  findings.add('N_RETURN_TRACE', { line, place: ADDENDA.original_trace, found: trace, expected: '15 digits' })
}

function takeNumbered(entry: OpenEntry, type: '05' | '17' | '18', record: string, line: number, findings: Findings): void {
  if (type !== '18') keepInfo(entry, record)
  const found = cut(record, ADDENDA.sequence)
  const expected = `${++entry.numbered[type]}`.padStart(4, '0')
  if (found !== expected) findings.add('N_ADDENDA_SEQ', { line, place: ADDENDA.sequence, found, expected })
}

/** 10 to 16 in this order, then 17 and 18; one finding an entry. */
function takeInternational(entry: OpenEntry, type: string, record: string, line: number, findings: Findings): void {
  if (type === `${FIRST_IAT}`) entry.iat_name = cutTrimmed(record, ADDENDA.iat_name)
  const expected = `${entry.iat_next}`
  const in_order = entry.iat_next > LAST_IAT ? type > `${LAST_IAT}` : type === expected
  if (in_order && entry.iat_next <= LAST_IAT) entry.iat_next++
  if (in_order || entry.iat_faulty) return
  entry.iat_faulty = true
  findings.add('N_IAT_ADDENDA', { line, place: ADDENDA.type, found: type, expected: entry.iat_next > LAST_IAT ? '17 or 18' : expected })
}

/** Whether an international entry ended before its seven addenda came. A return may leave all of them out. */
function lacksInternational(entry: OpenEntry): boolean {
  if (entry.iat_faulty || entry.iat_next > LAST_IAT) return false
  return entry.kind === 'forward' || (entry.kind === 'return' && entry.iat_next > FIRST_IAT)
}

/** Remembers trace numbers up to a bound, and says when it no longer does. */
export class Traces {
  readonly #seen = new Set<string>()
  readonly #max: number
  complete = true

  constructor(max: number) {
    this.#max = max
  }

  /** Whether the trace number was met before. Past the bound new ones are still compared with those that are remembered. */
  repeats(trace: string): boolean {
    // The letter keeps the engine from hashing digits without its secret seed: senders could choose numbers that collide.
    const key = `t${trace}`
    if (this.#seen.has(key)) return true
    if (this.#seen.size < this.#max) this.#seen.add(key)
    else this.complete = false
    return false
  }
}

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
