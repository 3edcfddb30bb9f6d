import { descriptionExpected, entryClass, type EntryClass } from './codes.ts'
import type { Findings } from './findings.ts'
import { ADV_BATCH_CONTROL, BATCH_CONTROL, BATCH_HEADER, cut, cutTrimmed, type Place } from './layout.ts'
import type { NachaFileHeader, NachaKind } from './types.ts'
import { compareTotals, sumsOf, type Sums } from './sums.ts'
import { areDigits, dayOf, isDayOfYear } from './values.ts'

/** A batch under way: what its header says and what its entries have added up to so far. */
export interface Batch {
  line: number
  record: string
  number: string
  service_class: string
  company_id: string
  company_name: string
  description: string
  sec: string
  rules: EntryClass | null
  odfi: string
  effective_date: string | null
  settlement_julian: string | null
  international: boolean
  sums: Sums
  last_trace: string
  /** What the batch holds, as its first entry or its class has it. */
  kind: NachaKind | null
  has_credits: boolean
  has_debits: boolean
  /** The greatest credit, in cents. */
  max_credit_minor: bigint
}

const SERVICE_CLASSES = new Set(['200', '220', '225', '280'])
/** Classes whose effective date means nothing. */
const UNDATED = new Set(['ACK', 'ADV', 'ATX', 'DNE', 'ENR'])

/** Reads and judges a record of type 5; `last_number` is the number of the batch before it. */
export function openBatch(record: string, line: number, last_number: string, findings: Findings): Batch {
  const sec = cut(record, BATCH_HEADER.sec)
  const julian = cut(record, BATCH_HEADER.settlement_julian)
  const batch: Batch = {
    line,
    record,
    number: cut(record, BATCH_HEADER.batch_number),
    service_class: cut(record, BATCH_HEADER.service_class),
    company_id: cutTrimmed(record, BATCH_HEADER.company_id),
    // International headers have no company name; in notices of change the columns say IATCOR.
    company_name: sec === 'IAT' ? '' : cutTrimmed(record, BATCH_HEADER.company_name),
    description: cutTrimmed(record, BATCH_HEADER.description),
    sec,
    rules: entryClass(sec),
    odfi: cut(record, BATCH_HEADER.odfi),
    effective_date: dayOf(cut(record, BATCH_HEADER.effective_date)),
    settlement_julian: isDayOfYear(julian) ? julian : null,
    international: sec === 'IAT' || (sec === 'COR' && cutTrimmed(record, BATCH_HEADER.company_name) === 'IATCOR'),
    sums: sumsOf(),
    last_trace: '',
    kind: sec === 'COR' ? 'noc' : null,
    has_credits: false,
    has_debits: false,
    max_credit_minor: 0n,
  }
  judgeHeader(batch, last_number, findings)
  return batch
}

function judgeHeader(
  { record, line, service_class, rules, settlement_julian, number }: Batch,
  last_number: string,
  findings: Findings,
): void {
  const demand = (holds: boolean, code: Parameters<Findings['add']>[0], place: Place, expected: string) => {
    if (!holds) findings.add(code, { line, place, found: cut(record, place), expected })
  }
  const class_fits = rules === null || (service_class === '280') === rules.advice
  const class_expected = rules?.advice === true ? '280' : '200, 220 or 225'
  demand(SERVICE_CLASSES.has(service_class) && class_fits, 'N_SERVICE_CLASS', BATCH_HEADER.service_class, class_expected)
  demand(rules !== null, 'N_SEC', BATCH_HEADER.sec, 'a standard entry class')
  const blank = cutTrimmed(record, BATCH_HEADER.settlement_julian) === ''
  demand(blank || settlement_julian !== null, 'N_JULIAN', BATCH_HEADER.settlement_julian, 'blank or 001-366')
  const ascends = areDigits(number) && number > last_number
  demand(ascends, 'N_BATCH_SEQ', BATCH_HEADER.batch_number, last_number === '' ? '7 digits' : `above ${last_number}`)
}

/** What can be judged only when all entries of the batch have been seen. */
export function judgeWholeBatch(batch: Batch, file: NachaFileHeader | null, findings: Findings): void {
  const { line, record } = batch
  const dated = dateExpected(batch, file)
  const date_place = BATCH_HEADER.effective_date
  if (dated !== null) findings.add('N_EFFDATE', { line, place: date_place, found: cut(record, date_place), expected: dated })
  const description = descriptionExpected(batch, file?.creation_date ?? null)
  const place = BATCH_HEADER.description
  if (description !== null) findings.add('N_DESC', { line, place, found: cut(record, place).trimEnd(), expected: description })
}

/** Returns and notices carry the date of the original, or none. Null when nothing is wrong. */
function dateExpected({ record, kind, sec, effective_date }: Batch, file: NachaFileHeader | null): string | null {
  const text = cut(record, BATCH_HEADER.effective_date)
  const forward = kind === 'forward' && !UNDATED.has(sec)
  if (effective_date === null) return !forward && /^(?: {6}|0{6})$/.test(text) ? null : 'YYMMDD'
  const created = file?.creation_date ?? null
  return forward && created !== null && effective_date < created ? `${created} or later` : null
}

/** Holds a record of type 8 against the batch that it closes. */
export function judgeBatchControl(batch: Batch, record: string, line: number, findings: Findings): void {
  const pairs: [Place, string][] = [
    [BATCH_CONTROL.service_class, batch.service_class],
    [BATCH_CONTROL.odfi, batch.odfi],
    [BATCH_CONTROL.batch_number, batch.number],
  ]
  const company_id = cutTrimmed(record, BATCH_CONTROL.company_id)
  // The control of an advice has other fields here, and many leave the id out of international ones.
  const unnamed = batch.rules?.advice === true || (batch.international && company_id === '')
  if (!unnamed) pairs.push([BATCH_CONTROL.company_id, batch.company_id])
  for (const [place, expected] of pairs) {
    if (cutTrimmed(record, place) !== expected.trim()) {
      findings.add('N_BATCH_PAIR', { line, place, found: cut(record, place), expected })
    }
  }
  const places = batch.rules?.advice === true ? { ...BATCH_CONTROL, ...ADV_BATCH_CONTROL } : BATCH_CONTROL
  compareTotals('N_B', places, batch.sums, { record, line }, findings)
}
