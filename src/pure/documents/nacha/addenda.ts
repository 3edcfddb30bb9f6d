import type { Batch } from './batch.ts'
import { CHANGE_CODES, RETURN_CODES } from './codes.ts'
import { keepInfo, type OpenEntry } from './entry.ts'
import type { Findings } from './findings.ts'
import { ADDENDA, cut, cutTrimmed, ENTRY } from './layout.ts'
import { areDigits } from './values.ts'

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
export function lacksInternational(entry: OpenEntry): boolean {
  if (entry.iat_faulty || entry.iat_next > LAST_IAT) return false
  return entry.kind === 'forward' || (entry.kind === 'return' && entry.iat_next > FIRST_IAT)
}
