/** Rules on one transaction of pain.001: identifications, amount, parties, and what must stand on one level only. */
import { TextSet } from '../text-set.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { checkBearer } from './payment-watcher.ts'
import type { Payment } from './payment.ts'

const TX = 'PmtInf/CdtTrfTxInf'
/** 0.01 and 999,999,999.99 in 10^-5. */
const SEPA_LEAST = 1_000
const SEPA_MOST = 99_999_999_999_000

export function transactionWatcher(context: RuleContext, payment: Payment): Watcher {
  const identify = identifications(context)
  const contents = new TextSet()
  /** The amount of the transaction; `narrow` is negative when none could be read. */
  let narrow = 0
  let wide: bigint | null = null
  let currency = ''
  const amount = () => {
    narrow = context.amount.units
    wide = context.amount.wide
    currency = context.currency
    addAmount(context, payment)
  }
  const creditor = (text: string) => void (payment.creditor_account = text)
  const named = () => void (payment.creditor_named = true)
  return {
    open: {
      [TX]: () => {
        context.totals.transactions++
        payment.transactions++
        payment.creditor_account = ''
        payment.creditor_named = false
        payment.remittance = ''
        narrow = -1
        wide = null
      },
      [`${TX}/Cdtr/Nm`]: named,
      [`${TX}/Cdtr/Id/OrgId/AnyBIC`]: named,
      [`${TX}/Cdtr/Id/OrgId/BICOrBEI`]: named,
    },
    text: {
      ...identify,
      [`${TX}/Amt/InstdAmt`]: amount,
      [`${TX}/Amt/EqvtAmt/Amt`]: amount,
      [`${TX}/CdtrAcct/Id/IBAN`]: creditor,
      [`${TX}/CdtrAcct/Id/Othr/Id`]: creditor,
      [`${TX}/ChrgBr`]: (text) => checkBearer(context, text),
    },
    close: {
      [`${TX}/CdtrAcct`]: () => {
        const known = context.version < 10 || context.has('Id') || context.has('Prxy')
        if (payment.method === 'TRF' && !known) context.report('P_CDTR_ACCT', { expected: 'Id or Prxy' })
      },
      [`${TX}/PmtId`]: () => {
        if (context.version >= 9 && !context.has('UETR')) context.report('P_UETR_MISSING', { expected: 'UETR' })
      },
      [TX]: () => {
        if (narrow < 0) unreadable(context, payment)
        checkParties(context, payment)
        checkLevels(context, payment)
        if (context.totals.transactions === 2) context.report('P_CBPR_SINGLE', { expected: 'one transaction' })
        contents.push(payment.creditor_account).push(currency).push(payment.remittance).pushNumber(Math.max(0, narrow))
        if (wide !== null) contents.push(wide.toString())
        if (contents.add() === 'same' && narrow >= 0) context.report('P_TX_DUPLICATE_CONTENT', { found: payment.creditor_account })
      },
    },
  }
}

function unreadable(context: RuleContext, payment: Payment): void {
  context.totals.unreadable = true
  payment.unreadable = true
}

function identifications(context: RuleContext): Record<string, (text: string) => void> {
  const end_to_end = new TextSet(true)
  const instructions = new TextSet()
  return {
    [`${TX}/PmtId/EndToEndId`]: (text) => {
      if (text === 'NOTPROVIDED') context.report('P_E2E_NOTPROVIDED', { found: text })
      else {
        const added = end_to_end.push(text).add()
        if (added === 'same') context.report('P_E2E_DUPLICATE', { found: text })
        else if (added === 'folded') context.report('P_E2E_CASE_COLLISION', { found: text })
      }
    },
    [`${TX}/PmtId/InstrId`]: (text) => {
      if (instructions.push(text).add() === 'same') context.report('P_INSTRID_DUPLICATE', { found: text })
    },
  }
}

function addAmount(context: RuleContext, payment: Payment): void {
  const { amount, currency, totals } = context
  payment.sum.add(amount)
  if (currency !== payment.currency) {
    payment.currency = currency
    if (currency.length === 3) totals.currencies.add(currency)
  }
  if (amount.isZero()) context.report('P_AMT_ZERO', { found: '0' })
  else if (amount.wide !== null || amount.units < SEPA_LEAST || amount.units > SEPA_MOST) {
    context.report('P_AMT_RANGE', { expected: '0.01 to 999999999.99' })
  }
  if (currency !== 'EUR' && currency !== '') context.report('P_CCY_EUR', { found: currency, expected: 'EUR' })
}

function checkParties(context: RuleContext, { method, creditor_account, creditor_named, debtor_account }: Payment): void {
  const has_account = context.has('CdtrAcct')
  if (method === 'TRF' && !has_account) context.report('P_CDTR_ACCT', { expected: 'CdtrAcct' })
  if (method === 'CHK' && has_account) context.report('P_CHK_AGENT', { found: creditor_account })
  if (!creditor_named) context.report('P_CDTR_NAME', { expected: 'Cdtr/Nm' })
  if (creditor_account !== '' && creditor_account === debtor_account) context.report('P_SELF_PAYMENT', { found: creditor_account })
}

function checkLevels(context: RuleContext, payment: Payment): void {
  if (payment.has_charge_bearer && context.has('ChrgBr')) context.report('P_CHRGBR_LEVEL', { found: 'ChrgBr' })
  if (payment.has_type && context.has('PmtTpInf')) context.report('P_PMTTP_LEVEL', { found: 'PmtTpInf' })
  if (payment.has_ultimate_debtor && context.has('UltmtDbtr')) context.report('P_ULTMTDBTR_LEVEL', { found: 'UltmtDbtr' })
}
