import type { Findings } from './findings.ts'
import { cut, cutTrimmed, FILE_HEADER, type Place } from './layout.ts'
import type { NachaFileHeader } from './types.ts'
import { areDigits, dayOf, isRouting, isTimeOfDay } from './values.ts'

/** Reads and judges a record of type 1. */
export function readFileHeader(record: string, line: number, findings: Findings): NachaFileHeader {
  const time = cut(record, FILE_HEADER.time)
  const read: NachaFileHeader = {
    immediate_destination: cutTrimmed(record, FILE_HEADER.destination),
    immediate_origin: cutTrimmed(record, FILE_HEADER.origin),
    creation_date: dayOf(cut(record, FILE_HEADER.date)),
    creation_time: isTimeOfDay(time) ? time : null,
    modifier: cut(record, FILE_HEADER.modifier),
    destination_name: cutTrimmed(record, FILE_HEADER.destination_name),
    origin_name: cutTrimmed(record, FILE_HEADER.origin_name),
  }
  const demand = (holds: boolean, code: Parameters<Findings['add']>[0], place: Place, expected: string) => {
    if (!holds) findings.add(code, { line, place, found: cut(record, place), expected })
  }
  demand(cut(record, FILE_HEADER.priority) === '01', 'N_PRIORITY', FILE_HEADER.priority, '01')
  demand(isDestination(cut(record, FILE_HEADER.destination)), 'N_DEST_ROUTING', FILE_HEADER.destination, 'blank and 9 digits')
  demand(isOrigin(cut(record, FILE_HEADER.origin)), 'N_ORIGIN', FILE_HEADER.origin, 'routing number or 10 characters')
  demand(read.creation_date !== null, 'N_DATE', FILE_HEADER.date, 'YYMMDD')
  demand(time.trim() === '' || read.creation_time !== null, 'N_TIME', FILE_HEADER.time, 'HHMM or blank')
  demand(/^[A-Z0-9]$/.test(read.modifier), 'N_MODIFIER', FILE_HEADER.modifier, 'A-Z or 0-9')
  demand(cut(record, FILE_HEADER.constants) === '094101', 'N_HEADER_CONST', FILE_HEADER.constants, '094101')
  return read
}

/** Some operators' systems fill the first column with a zero; that says the same. */
function isDestination(field: string): boolean {
  return /^[ 0]/.test(field) && isRouting(field.slice(1))
}

function isOrigin(field: string): boolean {
  return isDestination(field) || (/^[A-Z0-9]{10}$/.test(field) && !(field.startsWith('0') && areDigits(field)))
}
