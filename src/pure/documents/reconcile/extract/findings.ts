import type { NachaCode } from '../../nacha/rules.ts'
import type { XmlFaultCode } from '../../xml/reader.ts'

/** Faults of messages that matter to reconciliation; validation of messages is another matter. */
const READ_RULES = {
  MESSAGE_MISSING: { severity: 'error', says: 'The file holds no message of this kind.' },
  MESSAGE_OTHER: { severity: 'error', says: 'The message is of another kind than this input takes.' },
  FORMAT_OTHER: { severity: 'error', says: 'The file is in another format than this input takes.' },
  ELEMENT_REPEATED: { severity: 'error', says: 'An element stands twice where one value is meant; readers would differ.' },
  VALUE_SPLIT: { severity: 'error', says: 'A comment or instruction stands inside a value; readers would differ.' },
  AMOUNT_MISSING: { severity: 'error', says: 'An amount or its currency is missing.' },
  AMOUNT_UNREADABLE: {
    severity: 'error',
    says: 'An amount is not a decimal number; write digits and a decimal point, for example 604.00.',
  },
  AMOUNT_FRACTION: { severity: 'error', says: 'An amount has digits beyond the minor unit of its currency.' },
  AMOUNT_RANGE: { severity: 'error', says: 'An amount is larger than any amount of money.' },
  DIRECTION_MISSING: { severity: 'error', says: 'An entry is neither credit nor debit.' },
  STATUS_MISSING: { severity: 'warning', says: 'An entry has no status and does not count.' },
  DETAILS_WITHOUT_AMOUNT: {
    severity: 'warning',
    says: 'Details without amounts cannot be told apart; the rest of the entry counts as a whole.',
  },
  DETAILS_MISSING: {
    severity: 'warning',
    says: 'An entry lists fewer transactions than it says it has; the rest of it counts as a whole.',
  },
  DETAILS_CURRENCY: {
    severity: 'warning',
    says: 'Transactions are in another currency than their entry; it counts as a whole, with the amount that was booked.',
  },
  DETAILS_SUM: {
    severity: 'warning',
    says: 'The transactions of an entry do not add up to it, and no charges explain it; the entry settles none of them.',
  },
  DETAILS_UNCLEAR: {
    severity: 'error',
    says: 'The transactions of an entry do not add up to it, and there are too many of them to set the entry aside.',
  },
  DETAIL_AMOUNT: {
    severity: 'warning',
    says: 'The only transaction of an entry has another amount than was booked, and no charges explain it; what was booked counts.',
  },
  NOTHING_TO_READ: { severity: 'warning', says: 'The file holds no instruction, or no entry.' },
  STATEMENT_REPEATED: { severity: 'warning', says: 'A statement came twice; the second one does not count.' },
  STATEMENT_ID_REUSED: { severity: 'warning', says: 'Two statements share account, id and number but not their entries; both count.' },
  STATEMENT_OVERLAP: {
    severity: 'warning',
    says: 'Two statements of one account show the same entries for one day, without references of the bank; they count once, and nothing that rests on them is final.',
  },
  STATEMENT_COPY: { severity: 'info', says: 'The statement is marked as a copy, and no original is here; it counts.' },
} as const satisfies Record<string, { severity: Severity; says: string }>

type Severity = 'error' | 'warning' | 'info'
export type ReadCode = keyof typeof READ_RULES

/** A remark on a file. An error means that no verdict is given at all: a part of the truth would look like the whole. */
export interface ReadFinding {
  code: ReadCode | XmlFaultCode | NachaCode
  severity: Severity
  /** Which of the files given, from 0. */
  file: number
  line: number | null
  message: string
}

const KEPT = 200

/** Findings in the order in which they were made, the first ones kept, all of them counted. */
export class Findings {
  readonly list: ReadFinding[] = []
  errors = 0
  count = 0

  /** With `found`, what stands in the file comes first. */
  add(code: ReadCode, file: number, line: number | null, found: string | null = null): void {
    const { severity, says } = READ_RULES[code]
    this.put({ code, severity, file, line, message: found === null ? says : `Found ${found}. ${says}` })
  }

  /** Forgets all, for another reading of the same files. */
  clear(): void {
    this.list.length = 0
    this.errors = 0
    this.count = 0
  }

  put(finding: ReadFinding): void {
    this.count++
    if (finding.severity === 'error') this.errors++
    if (this.list.length < KEPT) this.list.push(finding)
    // An error says more than a warning that came first.
    else if (finding.severity === 'error' && this.errors === 1) this.list[KEPT - 1] = finding
  }
}
