import { decimalText, TextSet } from './accumulators.ts'
import {
  type BankCode,
  bankCodeTexts,
  type CreditDebit,
  isTrue,
  NO_BANK_CODE,
  readDirection,
  signedAmount,
  type StatementState,
  type StatementSummary,
} from './camt053-statement.ts'
import type { RuleContext, Watcher } from './engine.ts'
import { dayNumber } from './values.ts'

class EntryState {
  /** In 10^-5; null when unreadable. */
  amount: bigint | null = null
  currency = ''
  direction: CreditDebit = ''
  reversal = false
  /** Status code; '' when it is proprietary or unreadable. */
  status = ''
  /** Number of detailed transactions, and of those with a return reason. */
  transactions = 0
  returns = 0
  /** Signed sum of their amounts; null once one is missing or in another currency. */
  sum: bigint | null = 0n
  /** Signed charges inside the amount, of the entry and of its transactions: each may be the difference between the two. */
  charges = 0n
  detail_charges = 0n
  /** There is also interest, or charges in another currency, so that no difference can be checked. */
  unclear = false
  /** Number of groups of details, and the signed sum of their batch totals; null once a total is missing. */
  groups = 0
  batch_sum: bigint | null = 0n
}

const NEW_ENTRY: Readonly<EntryState> = new EntryState()

const ENTRY = 'Stmt/Ntry'
const CODE = `${ENTRY}/BkTxCd`
const GROUP = `${ENTRY}/NtryDtls`
const TX = `${GROUP}/TxDtls`

/** The watchers of entries, which share the state of the open entry. */
export function entryWatchers(context: RuleContext, statement: StatementState, summary: StatementSummary): readonly Watcher[] {
  const entry = new EntryState()
  const code: BankCode = { ...NO_BANK_CODE }
  return [
    chargeWatcher(context, entry),
    entryWatcher(context, statement, entry, code, summary),
    groupWatcher(context, entry),
    transactionWatcher(context, entry, code),
    duplicateWatcher(context, statement, entry),
  ]
}

/** Rules for an entry: amount, status, dates, bank transaction code. */
function entryWatcher(
  context: RuleContext,
  statement: StatementState,
  entry: EntryState,
  code: BankCode,
  summary: StatementSummary,
): Watcher {
  const onStatus = (text: string) => {
    entry.status = text
    if (text !== 'BOOK') context.report('S_STS_PENDING', { found: text, expected: 'BOOK' })
  }
  const onBookingDate = (text: string) => {
    const { from_day, to_day } = statement
    const day = dayNumber(text)
    if (day === null || entry.status !== 'BOOK') return
    const outside = (from_day !== null && day < from_day) || (to_day !== null && day > to_day)
    if (outside) context.report('S_BOOKDT_RANGE', { found: text.trim(), expected: 'a day of FrToDt' })
  }
  return {
    open: {
      [ENTRY]: () => {
        context.totals.transactions++
        Object.assign(entry, NEW_ENTRY)
        Object.assign(code, NO_BANK_CODE)
      },
    },
    text: {
      [`${ENTRY}/Amt`]: () => readEntryAmount(context, statement, entry),
      [`${ENTRY}/CdtDbtInd`]: (text) => void (entry.direction = readDirection(text)),
      [`${ENTRY}/RvslInd`]: (text) => {
        entry.reversal = isTrue(text)
        if (entry.reversal) context.report('S_RVSL', { found: entry.direction })
      },
      [`${ENTRY}/Sts`]: onStatus,
      [`${ENTRY}/Sts/Cd`]: onStatus,
      [`${ENTRY}/Sts/Prtry`]: (text) => context.report('S_STS_PRTRY', { found: text }),
      [`${ENTRY}/BookgDt/Dt`]: onBookingDate,
      [`${ENTRY}/BookgDt/DtTm`]: onBookingDate,
      ...bankCodeTexts(CODE, code),
    },
    close: {
      [CODE]: () => {
        if (!context.has('Domn') && !context.has('Prtry')) context.report('S_BKTXCD_MISSING', { expected: 'Domn or Prtry' })
      },
      [ENTRY]: () => {
        if (entry.status === 'BOOK' && !context.has('BookgDt')) context.report('S_BOOKDT_MISSING', { expected: 'BookgDt' })
        checkCode(context, entry, code)
        checkDetails(context, entry)
        countEntry(context, statement, entry)
        summary.addEntry(code, entry.direction, entry.amount ?? 0n, entry.status === 'BOOK')
      },
    },
  }
}

function readEntryAmount(context: RuleContext, statement: StatementState, entry: EntryState): void {
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

/** Direction of the families of the payments domain: received or issued transfers and debits. */
const FAMILY_DIRECTIONS: ReadonlyMap<string, CreditDebit> = new Map([
  ['RCDT', 'CRDT'],
  ['RRCT', 'CRDT'],
  ['IDDT', 'CRDT'],
  ['ICDT', 'DBIT'],
  ['IRCT', 'DBIT'],
  ['RDDT', 'DBIT'],
])
/** Sub-families of payments that the other side returned. */
const RETURNED = new Set('RRTN UPDD UPCQ UPCT'.split(' '))
/** Sub-families in either direction: returns, reversals, charges, interest, taxes, adjustments. */
const EITHER_DIRECTION = new Set('RRTN UPDD UPCQ UPCT RPCR PRDD RCDD CHRG COME COMI COMM COMT CAJT DAJT FEES INTR RIMB TAXE'.split(' '))
const RETURN_REASONS = new Set(
  (
    'AC01 AC02 AC03 AC04 AC05 AC06 AC07 AC13 AC14 AC15 AC16 AC17 AG01 AG02 AG03 AG07 AGNT AM01 AM02 AM03 AM04 AM05 AM06 AM07 AM09 ' +
    'AM10 ARDT BE01 BE04 BE05 BE06 BE07 BE08 BE10 BE11 BE16 BE17 CN01 CNOR CNPC CURR CUST CUTA DN01 DNOR DS28 DT01 DT02 DT04 DUPL ' +
    'ED01 ED03 ED05 EMVL ERIN FF01 FF03 FF04 FF05 FF06 FF07 FOCR FR01 FRAD FRTR G004 INDM MD01 MD02 MD05 MD06 MD07 MS02 MS03 NARR ' +
    'NERI NOAS NOCM NOOR PINL RC01 RC03 RC04 RC07 RC08 RC11 RF01 RR01 RR02 RR03 RR04 RR05 RR06 RR07 RR08 RR09 RR10 RR11 RR12 RUTA ' +
    'SL01 SL02 SL03 SL11 SL12 SL13 SL14 SP01 SP02 SVNR TECH TM01 TRAC UPAY'
  ).split(' '),
)

function checkCode(context: RuleContext, { direction, reversal, returns }: EntryState, code: BankCode): void {
  const expected = requiredDirection(code)
  if (expected !== '' && direction !== '' && direction !== expected && !reversal) {
    context.report('S_BKTXCD_DIR', { found: `${code.family} ${direction}`, expected })
  }
  if (isReturned(code) && returns === 0) context.report('S_RTR_REASON', { found: code.sub_family, expected: 'RtrInf' })
}

function isReturned({ sub_family }: BankCode): boolean {
  return RETURNED.has(sub_family)
}

/** The direction that the code requires of an entry; '' when it requires none. */
function requiredDirection({ domain, family, sub_family }: BankCode): CreditDebit {
  if (domain !== 'PMNT' || EITHER_DIRECTION.has(sub_family)) return ''
  return FAMILY_DIRECTIONS.get(family) ?? ''
}

/** Compares the entry with its transactions and batches; charges may explain the difference. */
function checkDetails(context: RuleContext, entry: EntryState): void {
  const { amount, direction, charges, detail_charges, unclear, transactions, sum, groups, batch_sum, reversal } = entry
  if (amount === null || direction === '' || unclear) return
  const total = signedAmount(direction, amount)
  const differences = [0n, charges, detail_charges, charges + detail_charges]
  const compare = (code: 'S_ENTRY_SUM' | 'S_BTCH_TOTAL', found: bigint) => {
    // Banks differ in the direction of the transactions of a reversal.
    const either = reversal ? [found, -found] : [found]
    if (either.some((one) => differences.some((difference) => one - difference === total))) return
    context.report(code, { found: decimalText(found, 2), expected: decimalText(total, 2) })
  }
  if (transactions > 0 && sum !== null) compare('S_ENTRY_SUM', sum)
  if (groups > 0 && batch_sum !== null) compare('S_BTCH_TOTAL', batch_sum)
}

/** Adds the entry to the totals of its statement. */
function countEntry(context: RuleContext, statement: StatementState, entry: EntryState): void {
  const { amount, currency, direction, status, reversal } = entry
  if (amount === null) context.totals.unreadable = true
  statement.entry_currency ||= currency
  if (amount === null || direction === '' || status === '' || currency !== statement.entry_currency) statement.undecided = true
  statement.all.add(direction, amount ?? 0n)
  if (status !== 'BOOK') return
  statement.booked.add(direction, amount ?? 0n)
  if (reversal) statement.reversed.add(direction, amount ?? 0n)
}

class DetailGroup {
  batch = false
  /** As stated; '' when it is not. */
  count = ''
  total: bigint | null = null
  currency = ''
  direction: CreditDebit = ''
  transactions = 0
}

const NEW_GROUP: Readonly<DetailGroup> = new DetailGroup()

function groupWatcher(context: RuleContext, entry: EntryState): Watcher {
  const group = new DetailGroup()
  return {
    open: {
      [GROUP]: () => {
        Object.assign(group, NEW_GROUP)
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
      [`${GROUP}/Btch/CdtDbtInd`]: (text) => void (group.direction = readDirection(text)),
    },
    close: {
      [GROUP]: () => {
        const { batch, count, transactions, total, currency, direction } = group
        entry.batch_sum = addSigned(entry.batch_sum, entry, total, currency, direction)
        // Not all transactions are detailed, so that their sum is unknown.
        if (transactions === 0) entry.sum = null
        if (!batch) return
        if (transactions === 0) context.report('S_BATCH_NO_DETAILS', { found: count === '' ? null : count })
        else if (count !== '' && BigInt(count) !== BigInt(transactions)) {
          context.report('S_BTCH_COUNT', { found: count, expected: String(transactions) })
        }
      },
    },
  }
}

/** Null once an amount is missing or in another currency than the entry. The default direction is that of the entry. */
function addSigned(sum: bigint | null, entry: EntryState, amount: bigint | null, currency: string, direction: CreditDebit): bigint | null {
  if (sum === null || amount === null || currency !== entry.currency) return null
  return sum + signedAmount(direction === '' ? entry.direction : direction, amount)
}

/** Rules for the transactions of an entry: references and returns. */
function transactionWatcher(context: RuleContext, entry: EntryState, entry_code: BankCode): Watcher {
  const code: BankCode = { ...NO_BANK_CODE }
  let amount: bigint | null = null
  let currency = ''
  let direction: CreditDebit = ''
  const onAmount = () => {
    amount = context.amount.total()
    currency = context.currency
  }
  return {
    open: {
      [TX]: () => {
        amount = null
        direction = ''
        Object.assign(code, NO_BANK_CODE)
        entry.transactions++
      },
      [`${TX}/RtrInf`]: () => void entry.returns++,
    },
    text: {
      [`${TX}/Amt`]: onAmount,
      [`${TX}/CdtDbtInd`]: (text) => void (direction = readDirection(text)),
      [`${TX}/AmtDtls/TxAmt/Amt`]: () => {
        if (amount === null) onAmount()
      },
      [`${TX}/Refs/EndToEndId`]: (text) => {
        if (text === 'NOTPROVIDED') context.report('S_E2E_NOTPROVIDED', { found: text })
      },
      [`${TX}/RtrInf/Rsn/Cd`]: (text) => {
        if (!RETURN_REASONS.has(text)) context.report('S_RTR_REASON', { found: text, expected: 'a reason code such as AC04' })
      },
      ...bankCodeTexts(`${TX}/BkTxCd`, code),
    },
    close: {
      [`${TX}/RtrInf`]: () => {
        if (!context.has('Rsn')) context.report('S_RTR_REASON', { expected: 'Rsn' })
      },
      [TX]: () => {
        entry.sum = addSigned(entry.sum, entry, amount, currency, direction)
        if (isReturned(code) && !isReturned(entry_code) && !context.has('RtrInf')) {
          context.report('S_RTR_REASON', { found: code.sub_family, expected: 'RtrInf' })
        }
      },
    },
  }
}

/** One charge: a record from version 04 on, an element of version 02. */
class Charge {
  amount = 0n
  currency = ''
  direction: CreditDebit = ''
  included = true
}

const NEW_CHARGE: Readonly<Charge> = new Charge()

/** Adds the charges of an entry and its transactions, so that they can explain a difference. */
function chargeWatcher(context: RuleContext, entry: EntryState): Watcher {
  const charge = new Charge()
  const total = new Charge()
  let in_details = false
  let records = 0
  const readAmount = (target: Charge) => () => {
    target.amount = context.amount.total()
    target.currency = context.currency
  }
  const setUnclear = () => void (entry.unclear = true)
  const onDirection = (text: string) => void (charge.direction = readDirection(text))
  return {
    open: {
      '**/Chrgs': () => {
        Object.assign(charge, NEW_CHARGE)
        Object.assign(total, NEW_CHARGE)
        records = 0
      },
      [TX]: () => void (in_details = true),
      [`${ENTRY}/Intrst`]: setUnclear,
      [`${TX}/Intrst`]: setUnclear,
      ':ChargesRecord': () => {
        Object.assign(charge, NEW_CHARGE)
        records++
      },
    },
    text: {
      '**/Chrgs/TtlChrgsAndTaxAmt': readAmount(total),
      ':ChargesInformation/Amt': readAmount(charge),
      ':ChargesInformation/CdtDbtInd': onDirection,
      ':ChargesRecord/Amt': readAmount(charge),
      ':ChargesRecord/CdtDbtInd': onDirection,
      ':ChargesRecord/ChrgInclInd': (text) => {
        charge.included = isTrue(text)
        if (charge.included && charge.amount !== 0n) context.report('S_CHRG_INCLUDED', { found: text.trim() })
      },
    },
    close: {
      // An unreadable amount was already reported.
      ':ChargesRecord': () => (charge.currency === '' ? setUnclear() : addCharge(entry, charge, in_details)),
      '**/Chrgs': () => {
        if (records === 0) addCharge(entry, charge.amount === 0n ? total : charge, in_details)
      },
      [TX]: () => void (in_details = false),
    },
  }
}

/** Charges outside the amount explain no difference; those in another currency cannot be compared. */
function addCharge(entry: EntryState, { amount, currency, direction, included }: Charge, in_details: boolean): void {
  if (amount === 0n || !included) return
  const signed_charge = direction === 'CRDT' ? -amount : amount
  if (currency !== entry.currency) entry.unclear = true
  else if (in_details) entry.detail_charges += signed_charge
  else entry.charges += signed_charge
}

const NO_REFERENCE = new Set(['NOTPROVIDED', 'NONREF'])
/** Number of transactions of an entry whose details are compared; of further ones only number and sum. */
const MAX_COMPARED = 8

/** Elements of an entry and of its transactions that distinguish one from another. */
const ENTRY_DETAILS = ['NtryRef', 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm', 'AddtlNtryInf'].concat(
  ['Domn/Cd', 'Domn/Fmly/Cd', 'Domn/Fmly/SubFmlyCd', 'Prtry/Cd'].map((name) => `BkTxCd/${name}`),
)
const REFERENCES = ['MsgId', 'AcctSvcrRef', 'PmtInfId', 'InstrId', 'EndToEndId', 'UETR', 'TxId', 'MndtId', 'ChqNb', 'ClrSysRef']
const PARTIES = ['Nm', 'Pty/Nm'].flatMap((name) => [`Dbtr/${name}`, `Cdtr/${name}`])
const ACCOUNTS = ['IBAN', 'Othr/Id'].flatMap((name) => [`DbtrAcct/Id/${name}`, `CdtrAcct/Id/${name}`])
const TRANSACTION_DETAILS = [
  ...REFERENCES.map((name) => `Refs/${name}`),
  ...[...PARTIES, ...ACCOUNTS].map((name) => `RltdPties/${name}`),
  'RmtInf/Ustrd',
  'RmtInf/Strd/CdtrRefInf/Ref',
  'RmtInf/Strd/RfrdDocInf/Nb',
  'AddtlTxInf',
]

/**
 * Reports duplicate entries: by the bank's reference within an account; without one, by content within a statement. Entries with different
 * references are different, even if the rest is equal.
 */
function duplicateWatcher(context: RuleContext, statement: StatementState, entry: EntryState): Watcher {
  const references = new TextSet()
  const contents = new TextSet()
  /** Details of the open entry, unless it has a bank reference. */
  const details: string[] = []
  let has_reference = false
  const storeDetail = (path: string, mark: string) =>
    [
      path,
      (value: string) => {
        if (!has_reference && entry.transactions <= MAX_COMPARED) details.push(mark, value)
      },
    ] as const
  return {
    open: {
      [ENTRY]: () => {
        details.length = 0
        has_reference = false
      },
    },
    text: {
      ...Object.fromEntries(ENTRY_DETAILS.map((name, index) => storeDetail(`${ENTRY}/${name}`, `o${index}`))),
      ...Object.fromEntries(TRANSACTION_DETAILS.map((name, index) => storeDetail(`${TX}/${name}`, `i${index}`))),
      [`${ENTRY}/AcctSvcrRef`]: (value) => {
        if (NO_REFERENCE.has(value)) return
        has_reference = true
        const owner = statement.account === '' ? `#${statement.ordinal}` : statement.account
        if (references.push(owner).push(value).add() === 'same') context.report('S_ACCTSVCRREF_DUP', { found: value })
      },
    },
    close: {
      [ENTRY]: () => {
        const { amount, currency, direction, status, transactions, sum } = entry
        if (has_reference || amount === null) return
        for (const detail of details) contents.push(detail)
        contents.pushNumber(statement.ordinal).pushNumber(transactions).push(`${amount} ${sum}`).push(currency).push(direction).push(status)
        if (contents.add() === 'same') context.report('S_ENTRY_DUP')
      },
    },
  }
}
