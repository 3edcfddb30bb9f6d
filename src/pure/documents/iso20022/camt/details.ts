/** Rules on the details of an entry: batches, transactions, references, charges, returns. */
import type { RuleContext, Watcher } from '../rule-engine.ts'
import {
  type BankCode,
  bankCodeTexts,
  clearBankCode,
  type Direction,
  directionOf,
  isReturned,
  isReturnReason,
  isTrue,
  newBankCode,
} from './codes.ts'
import type { Entry } from './entry.ts'
import { signed } from './tally.ts'

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
