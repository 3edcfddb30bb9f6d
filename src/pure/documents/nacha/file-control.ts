import type { Findings } from './findings.ts'
import { ADV_FILE_CONTROL, cut, FILE_CONTROL } from './layout.ts'
import { compareTotals, states, type Sums } from './sums.ts'

const BLOCKING_FACTOR = 10

/** What was met in the file. */
export interface Counted {
  batches: number
  /** All records from the file header to the file control. */
  records: number
  fillers: number
  /** A file of advices has wider totals. */
  advices: boolean
  /** No record had to be skipped. */
  known: boolean
}

/** Holds a record of type 9 against the whole file. */
export function judgeFileControl(control: { record: string; line: number }, sums: Sums, counted: Counted, findings: Findings): void {
  const { record, line } = control
  const { batches, records, fillers, known, advices } = counted
  if (known) {
    const place = FILE_CONTROL.batches
    const found = cut(record, place)
    if (!states(found, BigInt(batches))) findings.add('N_F_BATCHES', { line, place, found, expected: `${batches}`.padStart(6, '0') })
    compareTotals('N_F', advices ? { ...FILE_CONTROL, ...ADV_FILE_CONTROL } : FILE_CONTROL, sums, control, findings)
  }
  const blocks = Math.ceil(records / BLOCKING_FACTOR)
  // Some add whole blocks of filler and count them.
  const with_filler = Math.ceil((records + fillers) / BLOCKING_FACTOR)
  const place = FILE_CONTROL.blocks
  const found = cut(record, place)
  if (states(found, BigInt(blocks)) || states(found, BigInt(with_filler))) return
  findings.add('N_F_BLOCKS', { line, place, found, expected: `${blocks}`.padStart(6, '0') })
}

export function judgePadding({ records, fillers }: Counted, line: number, findings: Findings): void {
  const over = (records + fillers) % BLOCKING_FACTOR
  if (over === 0) return
  findings.add('N_PADDING', {
    line,
    place: null,
    found: `${records + fillers} lines`,
    expected: `${BLOCKING_FACTOR - over} lines of filler more`,
  })
}
