/** How the statements of a message follow each other: identifications, electronic numbers, balances that carry over. */
import { decimalText } from '../decimal.ts'
import type { RuleContext } from '../rule-engine.ts'
import { TextSet } from '../text-set.ts'
import { cuts, openingOf } from './equation.ts'
import type { Balance, Statement } from './statement.ts'

/** Accounts that are followed; a message with more is checked for the first ones only. */
const ACCOUNTS = 10_000

/** The latest statement of an account. */
interface Latest {
  id: string
  sequence: bigint | null
  closing: Balance | null
}

export class Chain {
  private readonly context: RuleContext
  private readonly ids = new TextSet()
  private readonly sequences = new TextSet()
  private readonly accounts = new Map<string, Latest>()

  constructor(context: RuleContext) {
    this.context = context
  }

  close(statement: Statement): void {
    this.checkId(statement)
    const { account, currency } = statement
    if (account === '') return
    const key = `${account} ${currency}`
    const before = this.accounts.get(key) ?? null
    if (before === null && this.accounts.size >= ACCOUNTS) return
    this.checkSequence(statement, before)
    if (before !== null) this.checkCarried(statement, before)
    const closing = cuts(statement).end ? null : statement.balances.closing
    this.accounts.set(key, { id: statement.id, sequence: statement.sequence, closing })
  }

  private checkId({ id, id_place, page, own_page }: Statement): void {
    if (id_place === null) return
    const number = page !== null && own_page ? page.number : 0
    if (this.ids.push(id).pushNumber(number).add() === 'same') this.context.reportAt(id_place, 'S_STMT_ID_DUP', { found: id })
  }

  /** Statements may stand in the order of their numbers or against it. */
  private checkSequence(statement: Statement, before: Latest | null): void {
    const { sequence, sequence_place, account, currency } = statement
    if (sequence === null || sequence_place === null || isSamePaged(statement, before)) return
    const found = sequence.toString()
    if (this.sequences.push(account).push(currency).push(found).add() === 'same') {
      this.context.reportAt(sequence_place, 'S_SEQ_GAP', { found, message: 'Two statements of the account have one number.' })
      return
    }
    if (before === null || before.sequence === null) return
    const step = sequence - before.sequence
    if (step !== 1n && step !== -1n)
      this.context.reportAt(sequence_place, 'S_SEQ_GAP', { found, expected: (before.sequence + 1n).toString() })
  }

  /** Only where the one follows the other, by number or, without numbers, by date. */
  private checkCarried(statement: Statement, { id, sequence, closing }: Latest): void {
    const opening = cuts(statement).start ? null : openingOf(statement)
    if (opening === null || closing === null || opening.currency !== closing.currency || id === statement.id) return
    if (sequence !== null && statement.sequence !== null && statement.sequence !== sequence + 1n) return
    if (opening.day !== null && closing.day !== null && opening.day < closing.day) return
    if (opening.amount === closing.amount) return
    this.context.reportAt(opening.place, 'S_BAL_CHAIN', { found: decimalText(opening.amount, 2), expected: decimalText(closing.amount, 2) })
  }
}

/** Another page of the same statement keeps its number. */
function isSamePaged({ id, own_page }: Statement, before: Latest | null): boolean {
  return own_page && before !== null && before.id === id
}
