/** Rules on a statement as a whole: account, period, pages, and what its balances and entries make together. */
import { dayNumber } from '../dates.ts'
import { scaled } from '../decimal.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { Chain } from './chain.ts'
import { isTrue } from './codes.ts'
import { cuts, Equations } from './equation.ts'
import { clearStatement, type Page, type Statement } from './statement.ts'

/** A page as it is being read. */
interface OpenPage {
  number: number | null
  last: boolean | null
}

export function statementWatcher(context: RuleContext, statement: Statement): Watcher {
  const equations = new Equations(context)
  const chain = new Chain(context)
  const open: OpenPage = { number: null, last: null }
  const openPage = () => void Object.assign(open, { number: null, last: null })
  const numbered = (text: string) => void (open.number = Number.parseInt(text, 10))
  const lasting = (text: string) => void (open.last = isTrue(text))
  const identified = (text: string) => void (statement.account = text)
  let message_page: Page | null = null
  return {
    open: {
      'GrpHdr/MsgPgntn': openPage,
      'Stmt/StmtPgntn': openPage,
      Stmt: () => clearStatement(statement, message_page),
    },
    text: {
      'GrpHdr/MsgPgntn/PgNb': numbered,
      'GrpHdr/MsgPgntn/LastPgInd': lasting,
      'Stmt/StmtPgntn/PgNb': numbered,
      'Stmt/StmtPgntn/LastPgInd': lasting,
      'Stmt/Id': (text) => {
        statement.id = text
        statement.id_place = context.place()
      },
      'Stmt/ElctrncSeqNb': (text) => {
        statement.sequence = scaled(text.trim(), 0)
        statement.sequence_place = context.place()
      },
      'Stmt/FrToDt/FrDtTm': (text) => void (statement.from_day = dayNumber(text)),
      'Stmt/FrToDt/ToDtTm': (text) => void (statement.to_day = dayNumber(text)),
      'Stmt/CpyDplctInd': (text) => {
        if (text !== 'COPY') context.report('S_COPY_DUPL', { found: text })
      },
      'Stmt/Acct/Id/IBAN': identified,
      'Stmt/Acct/Id/Othr/Id': identified,
      'Stmt/Acct/Ccy': (text) => void (statement.currency = text),
    },
    close: {
      'GrpHdr/MsgPgntn': () => void (message_page = pageOf(context, open)),
      'Stmt/StmtPgntn': () => {
        statement.page = pageOf(context, open)
        statement.own_page = statement.page !== null
      },
      'Stmt/Acct': () => {
        // Where the structure demands it, its absence has been told.
        if (context.version >= 8 && !context.has('Id')) context.report('S_ACCT_ID', { expected: 'IBAN or Othr' })
      },
      Stmt: () => {
        checkEnds(context, statement)
        equations.close(statement)
        chain.close(statement)
      },
      '': () => checkLastPage(context, statement, message_page),
    },
  }
}

function pageOf(context: RuleContext, { number, last }: OpenPage): Page | null {
  if (number === null || last === null) return null
  if (number === 0) context.report('S_PAGINATION', { found: 'page 0', expected: 'pages are counted from 1' })
  return { number: Math.max(1, number), last, place: context.place() }
}

/** A page that goes on elsewhere may carry a balance in between in place of the statement's own. */
function checkEnds(context: RuleContext, statement: Statement): void {
  const { has_opening, has_closing, has_interim } = statement.balances
  const { start, end } = cuts(statement)
  if (!has_opening && !(start && has_interim)) context.report('S_BAL_OPEN', { expected: 'OPBD or PRCD' })
  if (!has_closing && !(end && has_interim)) context.report('S_BAL_CLOSE', { expected: 'CLBD' })
}

/** The last page of the message cannot leave a statement open. */
function checkLastPage(context: RuleContext, { page, own_page }: Statement, message_page: Page | null): void {
  if (page === null || !own_page || page.last || message_page === null || !message_page.last) return
  context.reportAt(page.place, 'S_PAGINATION', {
    found: 'LastPgInd false',
    expected: 'true',
    message: 'The message says that it is the last page, its last statement says that more follow.',
  })
}
