/** Rules on one payment of pain.001: its totals, dates, account, agent and booking. */
import { dayNumber } from '../dates.ts'
import { decimalText, equalsSum } from '../decimal.ts'
import { TextSet } from '../text-set.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { compared, differs, type Stated } from './group.ts'
import { clearPayment, type Payment } from './payment.ts'

const FAR_DAYS = 365
const SERVICE_LEVELS = new Set(['SEPA', 'URGP', 'INST'])

export function paymentWatcher(context: RuleContext, payment: Payment): Watcher {
  const identifications = new TextSet()
  let count: Stated | null = null
  let sum: Stated | null = null
  let agent_known = false
  const executed = (text: string) => checkExecution(context, text)
  const debtor = (text: string) => void (payment.debtor_account = text)
  const agent = () => void (agent_known = true)
  const serviceLevel = (text: string) => {
    if (!SERVICE_LEVELS.has(text)) context.report('P_SVCLVL', { found: text, expected: 'SEPA, URGP or INST' })
  }
  return {
    open: {
      PmtInf: () => {
        clearPayment(payment)
        count = null
        sum = null
      },
      'PmtInf/PmtTpInf': () => void (payment.has_type = true),
      'PmtInf/UltmtDbtr': () => void (payment.has_ultimate_debtor = true),
      'PmtInf/ChrgBr': () => void (payment.has_charge_bearer = true),
      'PmtInf/DbtrAgt': () => void (agent_known = false),
      'PmtInf/DbtrAgt/FinInstnId/BIC': agent,
      'PmtInf/DbtrAgt/FinInstnId/BICFI': agent,
      'PmtInf/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId': agent,
      'PmtInf/DbtrAgt/FinInstnId/Othr/Id': agent,
    },
    text: {
      'PmtInf/PmtInfId': (text) => {
        if (identifications.push(text).add() === 'same') context.report('P_PMTINFID_DUPLICATE', { found: text })
        const { message_id } = context.totals
        if (message_id !== null && message_id !== text) context.report('P_PMTINFID_MSGID', { found: text, expected: message_id })
      },
      'PmtInf/PmtMtd': (text) => void (payment.method = text),
      'PmtInf/BtchBookg': (text) => void (payment.batch = text.trim() === 'true' || text.trim() === '1'),
      'PmtInf/NbOfTxs': (text) => void (count = { text, place: context.place() }),
      'PmtInf/CtrlSum': (text) => void (sum = { text, place: context.place() }),
      'PmtInf/ReqdExctnDt': executed,
      'PmtInf/ReqdExctnDt/Dt': executed,
      'PmtInf/ReqdExctnDt/DtTm': executed,
      'PmtInf/DbtrAcct/Id/IBAN': debtor,
      'PmtInf/DbtrAcct/Id/Othr/Id': debtor,
      'PmtInf/ChrgBr': (text) => checkBearer(context, text),
      '**/PmtTpInf/SvcLvl/Cd': serviceLevel,
      '**/PmtTpInf/SvcLvl/Prtry': serviceLevel,
    },
    close: {
      'PmtInf/DbtrAcct': () => {
        // Before the account's identification became optional, the structure demands it.
        if (context.version >= 10 && !context.has('Id')) context.report('P_DBTR_ACCT', { expected: 'IBAN or Othr' })
      },
      'PmtInf/DbtrAgt': () => {
        if (!agent_known) context.report('P_DBTR_AGENT', { expected: 'BIC, member identification or NOTPROVIDED' })
      },
      PmtInf: () => {
        context.totals.sum.addSum(payment.sum)
        checkTotals(context, payment, count, sum)
        checkBooking(context, payment)
      },
    },
  }
}

export function checkBearer(context: RuleContext, text: string): void {
  if (text !== 'SLEV') context.report('P_CHRGBR_SLEV', { found: text, expected: 'SLEV' })
}

function checkTotals(context: RuleContext, payment: Payment, count: Stated | null, sum: Stated | null): void {
  if (count !== null && differs(count, payment.transactions)) {
    context.reportAt(count.place, 'P_NBTX_PMT', { found: count.text, expected: String(payment.transactions) })
  }
  if (sum !== null && !payment.unreadable && !equalsSum(sum.text, payment.sum.total())) {
    context.reportAt(sum.place, 'P_CTRLSUM_PMT', compared(sum.text, decimalText(payment.sum.total(), 2), 'of the amounts of this payment'))
  }
}

function checkBooking(context: RuleContext, { batch, transactions }: Payment): void {
  if (!context.has('BtchBookg')) {
    context.report('P_BTCHBOOKG', { message: 'BtchBookg is not stated: the bank’s default decides how entries look.' })
  } else if (batch === true && transactions === 1)
    context.report('P_BTCHBOOKG', { message: 'Batch booking is asked for a single transaction.' })
}

/** Against the time in the message itself: the same message always gets the same answer. */
function checkExecution(context: RuleContext, text: string): void {
  const day = dayNumber(text)
  const made = context.totals.created === null ? null : dayNumber(context.totals.created)
  if (day === null || made === null) return
  const details = { found: text.trim(), expected: context.totals.created?.trim() ?? null }
  if (day < made) context.report('P_EXEC_PAST', details)
  else if (day - made > FAR_DAYS) context.report('P_EXEC_FAR', details)
}
