import { ExactSum, TextSet } from './accumulators.ts'
import type { MessageDefinition, RuleContext, Watcher } from './engine.ts'
import { sepaWatchers } from './sepa-rules.ts'
import { agentNameWatcher, headerWatcher, instructionWatcher, StatedTotals } from './shared-rules.ts'
import { dayNumber } from './values.ts'

/** Customer credit transfer initiation. */
export const PAIN: MessageDefinition = {
  kind: 'pain.001',
  overrides: {
    missing: { 'PmtInf/DbtrAcct': 'P_DBTR_ACCT', 'PmtInf/DbtrAcct/Id': 'P_DBTR_ACCT' },
    empty: { 'GrpHdr/MsgId': 'P_MSGID_EMPTY', 'PmtInf/CdtTrfTxInf/PmtId/EndToEndId': 'P_E2E_EMPTY' },
    lexical: { 'PmtInf/PmtMtd': 'P_PMTMTD' },
  },
  watch(context) {
    const payment: Payment = { ...NEW_PAYMENT, ...NEW_TRANSACTION, sum: new ExactSum(), currency: '' }
    return [
      headerWatcher(context, {
        kind: 'pain.001',
        definition: 'P_HDR_MSGDEF',
        message_id: 'P_HDR_BIZMSG',
        service: 'P_HDR_BIZSVC',
        services: /^swift\.cbprplus\.\d\d$/,
      }),
      instructionWatcher(context, TX, 'P_INSTR_CODES'),
      agentNameWatcher(context, 'P_AGENT_NAME_ADDR'),
      groupWatcher(context),
      paymentWatcher(context, payment),
      transactionWatcher(context, payment),
      remittanceWatcher(context, payment),
      ...sepaWatchers(context, 'pain.001'),
    ]
  },
}

const NEW_PAYMENT = {
  transactions: 0,
  /** An amount of the payment could not be read. */
  unreadable: false,
  method: '',
  /** IBAN or other ID; '' when there is none. */
  debtor_account: '',
  has_charge_bearer: false,
  has_type: false,
  has_ultimate_debtor: false,
}

const NEW_TRANSACTION = {
  creditor_account: '',
  creditor_named: false,
  /** Remittance lines and references, joined. */
  remittance: '',
}

/** State of the open payment and its open transaction. */
type Payment = typeof NEW_PAYMENT &
  typeof NEW_TRANSACTION & {
    readonly sum: ExactSum
    /** Currency of the latest amount. */
    currency: string
  }

function groupWatcher(context: RuleContext): Watcher {
  const stated = new StatedTotals(context)
  return {
    text: stated.texts('GrpHdr'),
    close: {
      GrpHdr: () => {
        if (!context.has('CtrlSum')) context.report('P_CTRLSUM_MISSING', { expected: 'CtrlSum' })
      },
      '': () => {
        const { transactions, sum, unreadable, currencies } = context.totals
        const rules = { count: 'P_NBTX_GROUP', sum: 'P_CTRLSUM_GROUP', amounts: 'of all amounts' } as const
        stated.check(rules, transactions, unreadable ? null : sum.total())
        if (stated.sum_position === null || currencies.size <= 1) return
        context.reportAt(stated.sum_position, 'P_CCY_MIXED', { found: [...currencies].slice(0, 8).join(', ') })
      },
    },
  }
}

const FAR_DAYS = 365
const SERVICE_LEVELS = new Set(['SEPA', 'URGP', 'INST'])

/** Rules for a payment: totals, dates, account, agent and booking. */
function paymentWatcher(context: RuleContext, payment: Payment): Watcher {
  const identifications = new TextSet()
  const stated = new StatedTotals(context)
  /** Batch booking; null when it is not stated. */
  let batch: boolean | null = null
  let agent_known = false
  const onDate = (text: string) => checkExecutionDate(context, text)
  const onAccount = (text: string) => void (payment.debtor_account = text)
  const onAgent = () => void (agent_known = true)
  const onServiceLevel = (text: string) => {
    if (!SERVICE_LEVELS.has(text)) context.report('P_SVCLVL', { found: text, expected: 'SEPA, URGP or INST' })
  }
  return {
    open: {
      PmtInf: () => {
        Object.assign(payment, NEW_PAYMENT)
        payment.sum.clear()
        stated.clear()
        batch = null
      },
      'PmtInf/PmtTpInf': () => void (payment.has_type = true),
      'PmtInf/UltmtDbtr': () => void (payment.has_ultimate_debtor = true),
      'PmtInf/ChrgBr': () => void (payment.has_charge_bearer = true),
      'PmtInf/DbtrAgt': () => void (agent_known = false),
      'PmtInf/DbtrAgt/FinInstnId/BIC': onAgent,
      'PmtInf/DbtrAgt/FinInstnId/BICFI': onAgent,
      'PmtInf/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId': onAgent,
      'PmtInf/DbtrAgt/FinInstnId/Othr/Id': onAgent,
    },
    text: {
      ...stated.texts('PmtInf'),
      'PmtInf/PmtInfId': (text) => {
        if (identifications.push(text).add() === 'same') context.report('P_PMTINFID_DUPLICATE', { found: text })
        const { message_id } = context.totals
        if (message_id !== null && message_id !== text) context.report('P_PMTINFID_MSGID', { found: text, expected: message_id })
      },
      'PmtInf/PmtMtd': (text) => void (payment.method = text),
      'PmtInf/BtchBookg': (text) => void (batch = text.trim() === 'true' || text.trim() === '1'),
      'PmtInf/ReqdExctnDt': onDate,
      'PmtInf/ReqdExctnDt/Dt': onDate,
      'PmtInf/ReqdExctnDt/DtTm': onDate,
      'PmtInf/DbtrAcct/Id/IBAN': onAccount,
      'PmtInf/DbtrAcct/Id/Othr/Id': onAccount,
      'PmtInf/ChrgBr': (text) => checkChargeBearer(context, text),
      '**/PmtTpInf/SvcLvl/Cd': onServiceLevel,
      '**/PmtTpInf/SvcLvl/Prtry': onServiceLevel,
    },
    close: {
      'PmtInf/DbtrAcct': () => {
        if (context.mayLack('Id') && !context.has('Id')) context.report('P_DBTR_ACCT', { expected: 'IBAN or Othr' })
      },
      'PmtInf/DbtrAgt': () => {
        if (!agent_known) context.report('P_DBTR_AGENT', { expected: 'BIC, member ID or NOTPROVIDED' })
      },
      PmtInf: () => {
        const { transactions, sum, unreadable } = payment
        context.totals.sum.addSum(sum)
        const rules = { count: 'P_NBTX_PMT', sum: 'P_CTRLSUM_PMT', amounts: 'of the amounts of this payment' } as const
        stated.check(rules, transactions, unreadable ? null : sum.total())
        if (!context.has('BtchBookg')) {
          context.report('P_BTCHBOOKG', { message: 'BtchBookg is not stated: the default of the bank decides how entries are booked.' })
        } else if (batch === true && transactions === 1)
          context.report('P_BTCHBOOKG', { message: 'Batch booking is requested for a single transaction.' })
      },
    },
  }
}

function checkChargeBearer(context: RuleContext, text: string): void {
  if (text !== 'SLEV') context.report('P_CHRGBR_SLEV', { found: text, expected: 'SLEV' })
}

/** Compares with the creation time of the message itself, so that the same message always gets the same answer. */
function checkExecutionDate(context: RuleContext, text: string): void {
  const { created } = context.totals
  const day = dayNumber(text)
  const created_day = created === null ? null : dayNumber(created)
  if (day === null || created_day === null) return
  const details = { found: text.trim(), expected: created?.trim() ?? null }
  if (day < created_day) context.report('P_EXEC_PAST', details)
  else if (day - created_day > FAR_DAYS) context.report('P_EXEC_FAR', details)
}

const TX = 'PmtInf/CdtTrfTxInf'
/** 0.01 and 999,999,999.99 in 10^-5. */
const SEPA_LEAST = 1_000
const SEPA_MOST = 99_999_999_999_000

/** Rules for a transaction: IDs, amount, parties, and elements that must be on one level only. */
function transactionWatcher(context: RuleContext, payment: Payment): Watcher {
  const contents = new TextSet()
  /** The amount in 10^-5; negative when it could not be read. */
  let narrow = 0
  let wide: bigint | null = null
  let currency = ''
  const onAmount = () => {
    narrow = context.amount.units
    wide = context.amount.wide
    currency = context.currency
    addAmount(context, payment)
  }
  const onAccount = (text: string) => void (payment.creditor_account = text)
  const onName = () => void (payment.creditor_named = true)
  return {
    open: {
      [TX]: () => {
        context.totals.transactions++
        payment.transactions++
        Object.assign(payment, NEW_TRANSACTION)
        narrow = -1
        wide = null
      },
      [`${TX}/Cdtr/Nm`]: onName,
      [`${TX}/Cdtr/Id/OrgId/AnyBIC`]: onName,
      [`${TX}/Cdtr/Id/OrgId/BICOrBEI`]: onName,
    },
    text: {
      ...idChecks(context),
      [`${TX}/Amt/InstdAmt`]: onAmount,
      [`${TX}/Amt/EqvtAmt/Amt`]: onAmount,
      [`${TX}/CdtrAcct/Id/IBAN`]: onAccount,
      [`${TX}/CdtrAcct/Id/Othr/Id`]: onAccount,
      [`${TX}/ChrgBr`]: (text) => checkChargeBearer(context, text),
    },
    close: {
      [`${TX}/CdtrAcct`]: () => {
        const known = !context.mayLack('Id') || context.has('Id') || context.has('Prxy')
        if (payment.method === 'TRF' && !known) context.report('P_CDTR_ACCT', { expected: 'Id or Prxy' })
      },
      [`${TX}/PmtId`]: () => {
        if (context.mayLack('UETR') && !context.has('UETR')) context.report('P_UETR_MISSING', { expected: 'UETR' })
      },
      [TX]: () => {
        if (narrow < 0) {
          context.totals.unreadable = true
          payment.unreadable = true
        }
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

function idChecks(context: RuleContext): NonNullable<Watcher['text']> {
  const end_to_end = new TextSet(true)
  const instructions = new TextSet()
  return {
    [`${TX}/PmtId/EndToEndId`]: (text) => {
      const added = text === 'NOTPROVIDED' ? null : end_to_end.push(text).add()
      if (added === null) context.report('P_E2E_NOTPROVIDED', { found: text })
      else if (added === 'same') context.report('P_E2E_DUPLICATE', { found: text })
      else if (added === 'folded') context.report('P_E2E_CASE_COLLISION', { found: text })
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

const RMT = `${TX}/RmtInf`
const REF = `${RMT}/Strd/CdtrRefInf`

/** Rules for remittance information: structured or not, creditor references and their check digits. */
function remittanceWatcher(context: RuleContext, payment: Payment): Watcher {
  let lines = 0
  let type = ''
  let has_qr_reference = false
  const onType = (text: string) => void (type = text)
  const append = (text: string) => void (payment.remittance = payment.remittance === '' ? text : `${payment.remittance}\n${text}`)
  return {
    open: {
      [TX]: () => void (has_qr_reference = false),
      [RMT]: () => void (lines = 0),
      [REF]: () => void (type = ''),
      [`${RMT}/Ustrd`]: () => void lines++,
    },
    text: {
      [`${RMT}/Ustrd`]: append,
      [`${REF}/Tp/CdOrPrtry/Cd`]: onType,
      [`${REF}/Tp/CdOrPrtry/Prtry`]: onType,
      [`${REF}/Ref`]: (text) => {
        append(text)
        has_qr_reference ||= type === 'QRR'
        checkReference(context, type, text)
      },
      [`${RMT}/Strd/RfrdDocInf/Nb`]: append,
    },
    close: {
      [RMT]: () => {
        if (context.has('Strd') && context.has('Ustrd')) context.report('P_RMT_BOTH', { found: 'Ustrd and Strd' })
        if (lines > 1) context.report('P_RMT_LEN', { found: `${lines} lines`, expected: 'one of 140 characters' })
      },
      [TX]: () => {
        const { creditor_account } = payment
        if (QR_IBAN.test(creditor_account) === has_qr_reference) return
        const expected = has_qr_reference ? 'a QR-IBAN for the QR reference' : 'a QR reference for the QR-IBAN'
        context.report('P_QR_IBAN', { found: creditor_account, expected })
      },
    },
  }
}

/** The bank of a QR-IBAN has a number from 30000 to 31999 (Swiss implementation guidelines for the QR-bill, 2.3). */
const QR_IBAN = /^(?:CH|LI)\d\d3[01]\d{3}/

function checkReference(context: RuleContext, type: string, reference: string): void {
  if (type === 'QRR') {
    if (!isQrReference(reference))
      context.report('P_QRR_CHECK', { found: reference, expected: '27 digits, the last one their check digit' })
  } else if ((type === 'SCOR' || type === '') && /^RF\d\d/i.test(reference) && !isCreditorReference(reference)) {
    context.report('P_SCOR_CHECK', { found: reference, expected: 'RF, check digits, at most 21 letters or digits' })
  }
}

/** ISO 11649: RF, two check digits, up to 21 characters; spaces are allowed for reading. */
function isCreditorReference(reference: string): boolean {
  const value = reference.replaceAll(' ', '').toUpperCase()
  if (!/^RF\d\d[A-Z0-9]{1,21}$/.test(value)) return false
  let remainder = 0
  for (const character of value.slice(4) + value.slice(0, 4)) {
    const number = Number.parseInt(character, 36)
    remainder = (remainder * (number > 9 ? 100 : 10) + number) % 97
  }
  return remainder === 1
}

/** Each row of the carry table is the one before, rotated. */
const CARRY = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5] as const

/** Modulo 10 recursive over the first 26 digits gives the 27th. */
function isQrReference(reference: string): boolean {
  if (!/^\d{27}$/.test(reference)) return false
  let carry = 0
  for (const digit of reference.slice(0, 26)) carry = CARRY[(carry + Number.parseInt(digit, 10)) % 10] ?? 0
  return (10 - carry) % 10 === Number.parseInt(reference.slice(26), 10)
}
