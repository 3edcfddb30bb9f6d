import { decimalText, equalsSum, ExactSum } from '../decimal.ts'
import { dayNumber } from '../dates.ts'
import { TextSet } from '../text-set.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { compared, differs, type Stated } from './group.ts'

/** What the rules of pain.001 remember of the payment and the transaction that are open. */

interface Payment {
  transactions: number
  readonly sum: ExactSum
  /** An amount of the payment could not be read. */
  unreadable: boolean
  /** Of the latest amount. */
  currency: string
  method: string
  /** IBAN or other identification; '' when there is none. */
  debtor_account: string
  has_charge_bearer: boolean
  has_type: boolean
  has_ultimate_debtor: boolean
  /** Whether its transactions are booked as one; null where that is not said. */
  batch: boolean | null
  /** Of the transaction. */
  creditor_account: string
  creditor_named: boolean
  /** Remittance of the transaction, one after the other. */
  remittance: string
}

export function newPayment(): Payment {
  return {
    transactions: 0,
    sum: new ExactSum(),
    unreadable: false,
    currency: '',
    method: '',
    debtor_account: '',
    has_charge_bearer: false,
    has_type: false,
    has_ultimate_debtor: false,
    batch: null,
    creditor_account: '',
    creditor_named: false,
    remittance: '',
  }
}

/** Another payment begins. */
function clearPayment(payment: Payment): void {
  payment.transactions = 0
  payment.sum.clear()
  payment.unreadable = false
  payment.method = ''
  payment.debtor_account = ''
  payment.has_charge_bearer = false
  payment.has_type = false
  payment.has_ultimate_debtor = false
  payment.batch = null
}

/** Rules on one payment of pain.001: its totals, dates, account, agent and booking. */

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

function checkBearer(context: RuleContext, text: string): void {
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

/** Rules on one transaction of pain.001: identifications, amount, parties, and what must stand on one level only. */

const TX = 'PmtInf/CdtTrfTxInf'
/** 0.01 and 999,999,999.99 in 10^-5. */
const SEPA_LEAST = 1_000
const SEPA_MOST = 99_999_999_999_000

export function transactionWatcher(context: RuleContext, payment: Payment): Watcher {
  const identify = identificationChecks(context)
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

function identificationChecks(context: RuleContext): Record<string, (text: string) => void> {
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

/** Rules on the remittance information of pain.001: structured or not, creditor references and their check digits. */

const RMT = `${TX}/RmtInf`
const REF = `${RMT}/Strd/CdtrRefInf`

export function remittanceWatcher(context: RuleContext, payment: Payment): Watcher {
  let lines = 0
  let type = ''
  let qr_reference = false
  return {
    open: {
      [TX]: () => void (qr_reference = false),
      [RMT]: () => void (lines = 0),
      [REF]: () => void (type = ''),
      [`${RMT}/Ustrd`]: () => void lines++,
    },
    text: {
      [`${RMT}/Ustrd`]: (text) => void (payment.remittance = joined(payment.remittance, text)),
      [`${REF}/Tp/CdOrPrtry/Cd`]: (text) => void (type = text),
      [`${REF}/Tp/CdOrPrtry/Prtry`]: (text) => void (type = text),
      [`${REF}/Ref`]: (text) => {
        payment.remittance = joined(payment.remittance, text)
        qr_reference ||= type === 'QRR'
        checkReference(context, type, text)
      },
      [`${RMT}/Strd/RfrdDocInf/Nb`]: (text) => void (payment.remittance = joined(payment.remittance, text)),
    },
    close: {
      [RMT]: () => {
        if (context.has('Strd') && context.has('Ustrd')) context.report('P_RMT_BOTH', { found: 'Ustrd and Strd' })
        if (lines > 1) context.report('P_RMT_LEN', { found: `${lines} lines`, expected: 'one of 140 characters' })
      },
      [TX]: () => checkAccount(context, payment.creditor_account, qr_reference),
    },
  }
}

/** The bank of a QR-IBAN has a number from 30000 to 31999 (Swiss implementation guidelines for the QR-bill, 2.3). */
const QR_IBAN = /^(?:CH|LI)\d\d3[01]\d{3}/

function checkAccount(context: RuleContext, account: string, qr_reference: boolean): void {
  if (QR_IBAN.test(account) === qr_reference) return
  const expected = qr_reference ? 'a QR-IBAN for the QR reference' : 'a QR reference for the QR-IBAN'
  context.report('P_QR_IBAN', { found: account, expected })
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n${text}`
}

function checkReference(context: RuleContext, type: string, reference: string): void {
  if (type === 'QRR') {
    if (!isQrReference(reference))
      context.report('P_QRR_CHECK', { found: reference, expected: '27 digits, the last one their check digit' })
  } else if ((type === 'SCOR' || type === '') && /^RF\d\d/i.test(reference) && !isCreditorReference(reference)) {
    context.report('P_SCOR_CHECK', { found: reference, expected: 'RF, check digits, at most 21 letters or digits' })
  }
}

/** ISO 11649: RF, two check digits, up to 21 characters; spaces are for people. */
function isCreditorReference(reference: string): boolean {
  const value = reference.replaceAll(' ', '').toUpperCase()
  if (!/^RF\d\d[A-Z0-9]{1,21}$/.test(value)) return false
  let remainder = 0
  for (const character of value.slice(4) + value.slice(0, 4)) {
    const place = Number.parseInt(character, 36)
    remainder = (remainder * (place > 9 ? 100 : 10) + place) % 97
  }
  return remainder === 1
}

/** Each row is the one before, rotated. */
const CARRY = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5] as const

/** Modulo 10 recursive over the first 26 digits gives the 27th. */
function isQrReference(reference: string): boolean {
  if (!/^\d{27}$/.test(reference)) return false
  let carry = 0
  for (const digit of reference.slice(0, 26)) carry = CARRY[(carry + Number.parseInt(digit, 10)) % 10] ?? 0
  return (10 - carry) % 10 === Number.parseInt(reference.slice(26), 10)
}
