import {
  type BankCode,
  bankCodeTexts,
  clearBankCode,
  type Direction,
  directionByCode,
  directionOf,
  isReturned,
  isReturnReason,
  isTrue,
  newBankCode,
} from './codes.ts'
import { dayNumber } from '../dates.ts'
import { decimalText } from '../decimal.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { signed, type Statement } from './statement.ts'
import type { Summary } from './summary.ts'
import { TextSet } from '../text-set.ts'

/** What the rules of camt.053 remember of the entry, and of the transaction in it, that are open. */

interface Entry {
  /** In 10^-5; null when it could not be read. */
  amount: bigint | null
  currency: string
  direction: Direction
  reversal: boolean
  /** Its code; '' when it is proprietary or could not be read. */
  status: string
  readonly code: BankCode
  /** Transactions told in detail, and how many of them bring the reason of a return. */
  transactions: number
  returns: number
  /** Signed sum of their amounts; null once one is missing or in another currency. */
  sum: bigint | null
  /** Signed charges inside the amount, of the entry and of its transactions: they may stand between the two. */
  charges: bigint
  detail_charges: bigint
  /** Interest, or charges in another currency, stand there as well, so that no difference can be judged. */
  unclear: boolean
  /** Groups of details, and the signed totals that their batches state; null once one of several does not. */
  groups: number
  batch_sum: bigint | null
}

export function newEntry(): Entry {
  return {
    amount: null,
    currency: '',
    direction: '',
    reversal: false,
    status: '',
    code: newBankCode(),
    transactions: 0,
    returns: 0,
    sum: 0n,
    charges: 0n,
    detail_charges: 0n,
    unclear: false,
    groups: 0,
    batch_sum: 0n,
  }
}

function clearEntry(entry: Entry): void {
  entry.amount = null
  entry.currency = ''
  entry.direction = ''
  entry.reversal = false
  entry.status = ''
  clearBankCode(entry.code)
  entry.transactions = 0
  entry.returns = 0
  entry.sum = 0n
  entry.charges = 0n
  entry.detail_charges = 0n
  entry.unclear = false
  entry.groups = 0
  entry.batch_sum = 0n
}

/** Rules on one entry: amount, status, dates, bank transaction code. */

const CODE = 'Stmt/Ntry/BkTxCd'

export function entryWatcher(context: RuleContext, statement: Statement, entry: Entry, summary: Summary): Watcher {
  const status = (text: string) => {
    entry.status = text
    if (text !== 'BOOK') context.report('S_STS_PENDING', { found: text, expected: 'BOOK' })
  }
  const booked = (text: string) => checkBooked(context, statement, entry, text)
  return {
    open: {
      'Stmt/Ntry': () => {
        context.totals.transactions++
        clearEntry(entry)
      },
    },
    text: {
      'Stmt/Ntry/Amt': () => takeAmount(context, statement, entry),
      'Stmt/Ntry/CdtDbtInd': (text) => void (entry.direction = directionOf(text)),
      'Stmt/Ntry/RvslInd': (text) => {
        entry.reversal = isTrue(text)
        if (entry.reversal) context.report('S_RVSL', { found: entry.direction })
      },
      'Stmt/Ntry/Sts': status,
      'Stmt/Ntry/Sts/Cd': status,
      'Stmt/Ntry/Sts/Prtry': (text) => context.report('S_STS_PRTRY', { found: text }),
      'Stmt/Ntry/BookgDt/Dt': booked,
      'Stmt/Ntry/BookgDt/DtTm': booked,
      ...bankCodeTexts(CODE, entry.code),
    },
    close: {
      [CODE]: () => {
        if (!context.has('Domn') && !context.has('Prtry')) context.report('S_BKTXCD_MISSING', { expected: 'Domn or Prtry' })
      },
      'Stmt/Ntry': () => {
        checkDates(context, entry)
        checkCode(context, entry)
        checkDetails(context, entry)
        countEntry(context, statement, entry, summary)
      },
    },
  }
}

function takeAmount(context: RuleContext, statement: Statement, entry: Entry): void {
  const { amount, currency, totals } = context
  entry.amount = amount.total()
  entry.currency = currency
  totals.sum.add(amount)
  if (currency !== '') totals.currencies.add(currency)
  if (amount.isZero()) context.report('S_ENTRY_ZERO', { found: '0' })
  if (statement.currency !== '' && currency !== '' && currency !== statement.currency) {
    context.report('S_ENTRY_CCY', { found: currency, expected: statement.currency })
  }
}

function checkBooked(context: RuleContext, { from_day, to_day }: Statement, { status }: Entry, text: string): void {
  const day = dayNumber(text)
  if (day === null || status !== 'BOOK') return
  const outside = (from_day !== null && day < from_day) || (to_day !== null && day > to_day)
  if (outside) context.report('S_BOOKDT_RANGE', { found: text.trim(), expected: 'a day of FrToDt' })
}

function checkDates(context: RuleContext, { status }: Entry): void {
  if (status === 'BOOK' && !context.has('BookgDt')) context.report('S_BOOKDT_MISSING', { expected: 'BookgDt' })
}

function checkCode(context: RuleContext, { code, direction, reversal, returns }: Entry): void {
  if (!context.has('BkTxCd')) context.report('S_BKTXCD_MISSING', { expected: 'BkTxCd' })
  const expected = directionByCode(code)
  if (expected !== '' && direction !== '' && direction !== expected && !reversal) {
    context.report('S_BKTXCD_DIR', { found: `${code.family} ${direction}`, expected })
  }
  if (isReturned(code) && returns === 0) context.report('S_RTR_REASON', { found: code.sub_family, expected: 'RtrInf' })
}

function checkDetails(context: RuleContext, entry: Entry): void {
  const { amount, direction, charges, detail_charges, unclear, transactions, sum, groups, batch_sum, reversal } = entry
  if (amount === null || direction === '' || unclear) return
  const expected = signed(direction, amount)
  const between = [0n, charges, detail_charges, charges + detail_charges]
  const differs = (found: bigint) => {
    // Banks differ in the direction that they write at the transactions of a reversal.
    const own = reversal ? [found, -found] : [found]
    return !own.some((one) => between.some((charged) => one - charged === expected))
  }
  if (transactions > 0 && sum !== null && differs(sum)) context.report('S_ENTRY_SUM', compared(sum, expected))
  if (groups > 0 && batch_sum !== null && differs(batch_sum)) context.report('S_BTCH_TOTAL', compared(batch_sum, expected))
}

function compared(found: bigint, expected: bigint): { found: string; expected: string } {
  return { found: decimalText(found, 2), expected: decimalText(expected, 2) }
}

/** Adds the entry to what its statement makes. */
function countEntry(context: RuleContext, statement: Statement, entry: Entry, summary: Summary): void {
  const { amount, currency, direction, status, reversal } = entry
  if (amount === null) context.totals.unreadable = true
  statement.entry_currency ||= currency
  if (amount === null || direction === '' || status === '' || currency !== statement.entry_currency) statement.undecided = true
  const booked = status === 'BOOK'
  const known = amount ?? 0n
  statement.all.add(direction, known)
  if (booked) statement.booked.add(direction, known)
  if (booked && reversal) statement.reversed.add(direction, known)
  summary.add(entry.code, direction, known, booked)
}

/** Rules on the details of an entry: batches, transactions, references, charges, returns. */

const GROUP = 'Stmt/Ntry/NtryDtls'
const TX = `${GROUP}/TxDtls`

interface Group {
  batch: boolean
  /** As it is stated; '' when it is not. */
  count: string
  total: bigint | null
  currency: string
  direction: Direction
  transactions: number
}

interface Transaction {
  amount: bigint | null
  currency: string
  direction: Direction
  readonly code: BankCode
}

const NO_GROUP: Group = { batch: false, count: '', total: null, currency: '', direction: '', transactions: 0 }

export function groupWatcher(context: RuleContext, entry: Entry): Watcher {
  const group: Group = { ...NO_GROUP }
  return {
    open: {
      [GROUP]: () => {
        Object.assign(group, NO_GROUP)
        entry.groups++
      },
      [`${GROUP}/Btch`]: () => void (group.batch = true),
      [TX]: () => void group.transactions++,
    },
    text: {
      [`${GROUP}/Btch/NbOfTxs`]: (text) => void (group.count = text),
      [`${GROUP}/Btch/TtlAmt`]: () => {
        group.total = context.amount.total()
        group.currency = context.currency
      },
      [`${GROUP}/Btch/CdtDbtInd`]: (text) => void (group.direction = directionOf(text)),
    },
    close: {
      [GROUP]: () => {
        entry.batch_sum = added(entry.batch_sum, entry, group.total, group.currency, group.direction)
        // Some transactions are told and others are not: their sum says nothing.
        if (group.transactions === 0) entry.sum = null
        if (group.batch) checkBatch(context, group)
      },
    },
  }
}

function checkBatch(context: RuleContext, { count, transactions }: Group): void {
  if (transactions === 0) context.report('S_BATCH_NO_DETAILS', { found: count === '' ? null : count })
  else if (count !== '' && BigInt(count) !== BigInt(transactions)) {
    context.report('S_BTCH_COUNT', { found: count, expected: String(transactions) })
  }
}

/** Null once an amount is missing or in another currency than the entry; without a direction it has that of the entry. */
function added(before: bigint | null, entry: Entry, amount: bigint | null, currency: string, direction: Direction): bigint | null {
  if (before === null || amount === null || currency !== entry.currency) return null
  return before + signed(direction === '' ? entry.direction : direction, amount)
}

export function transactionWatcher(context: RuleContext, entry: Entry): Watcher {
  const open: Transaction = { amount: null, currency: '', direction: '', code: newBankCode() }
  const take = () => {
    open.amount = context.amount.total()
    open.currency = context.currency
  }
  return {
    open: {
      [TX]: () => {
        open.amount = null
        open.direction = ''
        clearBankCode(open.code)
        entry.transactions++
      },
      [`${TX}/RtrInf`]: () => void entry.returns++,
    },
    text: {
      [`${TX}/Amt`]: take,
      [`${TX}/CdtDbtInd`]: (text) => void (open.direction = directionOf(text)),
      [`${TX}/AmtDtls/TxAmt/Amt`]: () => {
        if (open.amount === null) take()
      },
      [`${TX}/Refs/EndToEndId`]: (text) => {
        if (text === 'NOTPROVIDED') context.report('S_E2E_NOTPROVIDED', { found: text })
      },
      [`${TX}/RtrInf/Rsn/Cd`]: (text) => {
        if (!isReturnReason(text)) context.report('S_RTR_REASON', { found: text, expected: 'a reason code such as AC04' })
      },
      ...bankCodeTexts(`${TX}/BkTxCd`, open.code),
    },
    close: {
      [`${TX}/RtrInf`]: () => {
        if (!context.has('Rsn')) context.report('S_RTR_REASON', { expected: 'Rsn' })
      },
      [TX]: () => {
        entry.sum = added(entry.sum, entry, open.amount, open.currency, open.direction)
        if (isReturned(open.code) && !isReturned(entry.code) && !context.has('RtrInf')) {
          context.report('S_RTR_REASON', { found: open.code.sub_family, expected: 'RtrInf' })
        }
      },
    },
  }
}

/** One charge: a record of versions from 04 on, an element of version 02. */
interface Charge {
  amount: bigint
  currency: string
  direction: Direction
  included: boolean
}

const NO_CHARGE: Charge = { amount: 0n, currency: '', direction: '', included: true }

export function chargeWatcher(context: RuleContext, entry: Entry): Watcher {
  const charge: Charge = { ...NO_CHARGE }
  let total: Charge = NO_CHARGE
  let in_details = false
  let records = 0
  const clear = () => void Object.assign(charge, NO_CHARGE)
  const taken = (): Charge => ({ ...NO_CHARGE, amount: context.amount.total(), currency: context.currency })
  const take = () => void Object.assign(charge, { amount: context.amount.total(), currency: context.currency })
  const unclear = () => void (entry.unclear = true)
  const direct = (text: string) => void (charge.direction = directionOf(text))
  const add = (one: Charge) => addCharge(entry, one, in_details)
  return {
    open: {
      '**/Chrgs': () => {
        clear()
        total = NO_CHARGE
        records = 0
      },
      [TX]: () => void (in_details = true),
      'Stmt/Ntry/Intrst': unclear,
      [`${TX}/Intrst`]: unclear,
      ':ChargeRecord': () => {
        clear()
        records++
      },
    },
    text: {
      '**/Chrgs/TtlChrgsAndTaxAmt': () => void (total = taken()),
      ':OldCharges/Amt': take,
      ':OldCharges/CdtDbtInd': direct,
      ':ChargeRecord/Amt': take,
      ':ChargeRecord/CdtDbtInd': direct,
      ':ChargeRecord/ChrgInclInd': (text) => {
        charge.included = isTrue(text)
        if (charge.included && charge.amount !== 0n) context.report('S_CHRG_INCLUDED', { found: text.trim() })
      },
    },
    close: {
      // One whose amount could not be read has been reported.
      ':ChargeRecord': () => (charge.currency === '' ? unclear() : add(charge)),
      '**/Chrgs': () => {
        if (records === 0) add(charge.amount === 0n ? total : charge)
      },
      [TX]: () => void (in_details = false),
    },
  }
}

/** Charges that are not inside the amount stand between nothing; those in another currency cannot be compared. */
function addCharge(entry: Entry, { amount, currency, direction, included }: Charge, in_details: boolean): void {
  if (amount === 0n || !included) return
  if (currency !== entry.currency) {
    entry.unclear = true
    return
  }
  const signed_charge = direction === 'CRDT' ? -amount : amount
  if (in_details) entry.detail_charges += signed_charge
  else entry.charges += signed_charge
}

/**
 * Entries that stand twice: by the bank's reference within an account; where there is none, by their content within a statement. An entry
 * with a reference of its own is another entry, however alike the rest is.
 */

/** References that name nothing. */
const NO_REFERENCE = new Set(['NOTPROVIDED', 'NONREF'])
/** Transactions of an entry whose details are compared; of longer ones their number and sum must do. */
const COMPARED = 8

/** Of the entry, and of the transactions in it, what tells one from another. */
const OWN = ['NtryRef', 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm', 'AddtlNtryInf'].concat(
  ['Domn/Cd', 'Domn/Fmly/Cd', 'Domn/Fmly/SubFmlyCd', 'Prtry/Cd'].map((name) => `BkTxCd/${name}`),
)
const REFERENCES = ['MsgId', 'AcctSvcrRef', 'PmtInfId', 'InstrId', 'EndToEndId', 'UETR', 'TxId', 'MndtId', 'ChqNb', 'ClrSysRef']
const PARTIES = ['Nm', 'Pty/Nm'].flatMap((name) => [`Dbtr/${name}`, `Cdtr/${name}`])
const ACCOUNTS = ['IBAN', 'Othr/Id'].flatMap((name) => [`DbtrAcct/Id/${name}`, `CdtrAcct/Id/${name}`])
const REMITTANCE = ['RmtInf/Ustrd', 'RmtInf/Strd/CdtrRefInf/Ref', 'RmtInf/Strd/RfrdDocInf/Nb', 'AddtlTxInf']
const INNER = [...REFERENCES.map((name) => `Refs/${name}`), ...PARTIES.concat(ACCOUNTS).map((name) => `RltdPties/${name}`), ...REMITTANCE]

export function repeatWatcher(context: RuleContext, statement: Statement, entry: Entry): Watcher {
  const references = new TextSet()
  const contents = new TextSet()
  /** Of the open entry, unless the bank's reference names it. */
  const parts: string[] = []
  let referenced = false
  const text: Record<string, (text: string) => void> = {}
  const keep = (path: string, mark: string) => {
    text[path] = (value) => {
      if (!referenced && entry.transactions <= COMPARED) parts.push(mark, value)
    }
  }
  OWN.forEach((name, index) => keep(`Stmt/Ntry/${name}`, `o${index}`))
  INNER.forEach((name, index) => keep(`Stmt/Ntry/NtryDtls/TxDtls/${name}`, `i${index}`))
  return {
    open: {
      'Stmt/Ntry': () => {
        parts.length = 0
        referenced = false
      },
    },
    text: {
      ...text,
      'Stmt/Ntry/AcctSvcrRef': (value) => {
        if (NO_REFERENCE.has(value)) return
        referenced = true
        const { account, ordinal } = statement
        const owner = account === '' ? `#${ordinal}` : account
        if (references.push(owner).push(value).add() === 'same') context.report('S_ACCTSVCRREF_DUP', { found: value })
      },
    },
    close: {
      'Stmt/Ntry': () => {
        const { amount, currency, direction, status, transactions, sum } = entry
        if (referenced || amount === null) return
        for (const part of parts) contents.push(part)
        contents.pushNumber(statement.ordinal).pushNumber(transactions).push(`${amount} ${sum}`).push(currency).push(direction).push(status)
        if (contents.add() === 'same') context.report('S_ENTRY_DUP')
      },
    },
  }
}
