/**
 * Rules of the messages other than pain.001, pacs.008 and camt.053: counts, sums, currencies, references, reasons, mandates and cover payments.
 * Sources: message definition reports of ISO 20022, EPC rulebooks; November 2026.
 */
import { AmountText, decimalText, ExactSum, TextSet } from './accumulators.ts'
import type { MessageDefinition, RuleContext, Watcher } from './engine.ts'
import type { MessageKind } from './rules.ts'
import { sepaWatchers } from './sepa-rules.ts'
import { type StatedFigure, StatedTotals } from './shared-rules.ts'

/** Elements of a message that its totals cover. */
interface TotalsPaths {
  readonly transaction: string
  /** Amounts of a transaction; the first that comes counts. */
  readonly amounts: readonly string[]
  /** A total of the group header in one currency. */
  readonly total: string | null
  /** Element with totals of its part of the transactions. */
  readonly part: string | null
}

const TOTALS: Readonly<Partial<Record<MessageKind, TotalsPaths>>> = {
  'pain.008': { transaction: 'PmtInf/DrctDbtTxInf', amounts: ['InstdAmt'], total: null, part: 'PmtInf' },
  'pacs.003': { transaction: 'DrctDbtTxInf', amounts: ['IntrBkSttlmAmt'], total: 'TtlIntrBkSttlmAmt', part: null },
  'pacs.004': { transaction: 'TxInf', amounts: ['RtrdIntrBkSttlmAmt'], total: 'TtlRtrdIntrBkSttlmAmt', part: null },
  'pacs.007': { transaction: 'TxInf', amounts: ['RvsdIntrBkSttlmAmt'], total: 'TtlRvsdIntrBkSttlmAmt', part: null },
  'pacs.009': { transaction: 'CdtTrfTxInf', amounts: ['IntrBkSttlmAmt'], total: 'TtlIntrBkSttlmAmt', part: null },
  'pain.013': { transaction: 'PmtInf/CdtTrfTx', amounts: ['Amt/InstdAmt', 'Amt/EqvtAmt/Amt'], total: null, part: 'PmtInf' },
}

/** Counts and sums. A return or reversal of a whole group has no transactions, so its totals are those of the group. */
function totalsWatcher(context: RuleContext, { transaction, amounts, total, part }: TotalsPaths): Watcher {
  const group = new StatedTotals(context)
  const own = new StatedTotals(context)
  const own_sum = new ExactSum()
  let own_count = 0
  let own_unreadable = false
  let read = false
  let stated: (StatedFigure & { amount: bigint; currency: string }) | null = null
  const { totals } = context
  const onAmount = (text: string) => {
    const { amount, currency } = context
    read = true
    totals.sum.add(amount)
    own_sum.add(amount)
    totals.currencies.add(currency)
    if (amount.isZero()) context.report('M_AMT_ZERO', { found: text })
    if (stated !== null && currency !== stated.currency) context.report('M_CCY', { found: currency, expected: stated.currency })
  }
  return {
    open: {
      [transaction]: () => {
        totals.transactions++
        own_count++
        read = false
      },
      ...(part !== null && {
        [part]: () => {
          own.clear()
          own_sum.clear()
          own_count = 0
          own_unreadable = false
        },
      }),
    },
    text: {
      ...group.texts('GrpHdr'),
      ...(part !== null && own.texts(part)),
      ...Object.fromEntries(amounts.map((path) => [`${transaction}/${path}`, onAmount])),
      ...(total !== null && {
        [`GrpHdr/${total}`]: (text: string) =>
          void (stated = { text, position: context.position(), amount: context.amount.total(), currency: context.currency }),
      }),
    },
    close: {
      [transaction]: () => {
        if (read) return
        totals.unreadable = true
        own_unreadable = true
      },
      ...(part !== null && {
        [part]: () =>
          own.check(
            { count: 'M_NBTX_PART', sum: 'M_CTRLSUM_PART', amounts: 'of its amounts' },
            own_count,
            own_unreadable ? null : own_sum.total(),
          ),
      }),
      '': () => {
        if (totals.transactions === 0) return
        const sum = totals.unreadable ? null : totals.sum.total()
        group.check({ count: 'M_NBTX', sum: 'M_CTRLSUM', amounts: 'of all amounts' }, totals.transactions, sum)
        if (stated === null || sum === null || totals.currencies.size > 1 || stated.amount === sum) return
        context.reportAt(stated.position, 'M_TTLAMT', { found: stated.text, expected: decimalText(sum, 2) })
      },
    },
  }
}

/** Identifications that must differ within a message. */
const REFERENCES: Readonly<Partial<Record<MessageKind, readonly string[]>>> = {
  'pain.008': ['PmtInf/PmtInfId'],
  'pacs.003': ['DrctDbtTxInf/PmtId/TxId'],
  'pacs.004': ['TxInf/RtrId'],
  'pacs.007': ['TxInf/RvslId'],
  'pacs.009': ['CdtTrfTxInf/PmtId/TxId'],
}

function referenceWatcher(context: RuleContext, paths: readonly string[]): Watcher {
  return {
    text: Object.fromEntries(
      paths.map((path) => {
        const ids = new TextSet()
        return [
          path,
          (text: string) => {
            if (ids.push(text).add() === 'same') context.report('M_ID_DUPLICATE', { found: text })
          },
        ]
      }),
    ),
  }
}

/** Transactions of returns, reversals and cancellations, which need their reason and the payment that they are about. */
const REASONS: Readonly<Partial<Record<MessageKind, { transaction: string; reason: string; references: readonly string[] }>>> = {
  'pacs.004': {
    transaction: 'TxInf',
    reason: 'RtrRsnInf',
    references: ['OrgnlEndToEndId', 'OrgnlTxId', 'OrgnlUETR', 'OrgnlInstrId', 'OrgnlClrSysRef'],
  },
  'pacs.007': {
    transaction: 'TxInf',
    reason: 'RvslRsnInf',
    references: ['OrgnlEndToEndId', 'OrgnlTxId', 'OrgnlUETR', 'OrgnlInstrId', 'OrgnlClrSysRef'],
  },
  'camt.056': {
    transaction: 'Undrlyg/TxInf',
    reason: 'CxlRsnInf',
    references: ['OrgnlEndToEndId', 'OrgnlTxId', 'OrgnlUETR', 'OrgnlInstrId', 'OrgnlClrSysRef'],
  },
}

function reasonWatcher(context: RuleContext, { transaction, reason, references }: NonNullable<(typeof REASONS)[MessageKind]>): Watcher {
  let has_reason = false
  const onReason = () => void (has_reason = true)
  return {
    open: {
      [transaction]: () => void (has_reason = false),
      [`${transaction}/${reason}/Rsn`]: onReason,
      // The name in version 01.
      [`${transaction}/${reason}/${reason.slice(0, -3)}`]: onReason,
    },
    close: {
      [transaction]: () => {
        if (!has_reason) context.report('M_REASON', { expected: `${reason}/Rsn` })
        if (!references.some((name) => context.has(name))) context.report('M_REFERENCE', { expected: references.slice(0, 3).join(' or ') })
      },
    },
  }
}

/** Compares a cover payment with the customer transfer that it covers. */
function coverWatcher(context: RuleContext): Watcher {
  const settled = new AmountText()
  let currency = ''
  return {
    text: {
      'CdtTrfTxInf/IntrBkSttlmAmt': (text) => {
        settled.read(text)
        currency = context.currency
      },
      'CdtTrfTxInf/UndrlygCstmrCdtTrf/InstdAmt': (text) => {
        if (context.currency !== currency || context.amount.total() >= settled.total()) return
        context.report('M_COVER_AMT', { found: text, expected: `at least ${decimalText(settled.total(), 2)}` })
      },
    },
  }
}

/** Mandates of direct debits: an amendment is announced, and the signature is not after the collection. */
function mandateWatcher(context: RuleContext): Watcher {
  const path = 'PmtInf/DrctDbtTxInf/DrctDbtTx/MndtRltdInf'
  let collection = ''
  let amended = false
  return {
    open: { [path]: () => void (amended = false) },
    text: {
      'PmtInf/ReqdColltnDt': (text) => void (collection = text.trim().slice(0, 10)),
      [`${path}/AmdmntInd`]: (text) => void (amended = text.trim() === 'true' || text.trim() === '1'),
      [`${path}/DtOfSgntr`]: (text) => {
        const signed = text.trim().slice(0, 10)
        if (collection !== '' && signed > collection) context.report('M_MNDT_DATE', { found: signed, expected: `not after ${collection}` })
      },
    },
    close: {
      [path]: () => {
        if (!context.has('MndtId')) context.report('M_MNDT_ID', { expected: 'MndtId' })
        if (!context.has('DtOfSgntr')) context.report('M_MNDT_SIGNED', { expected: 'DtOfSgntr' })
        if (amended !== context.has('AmdmntInfDtls')) {
          context.report('M_MNDT_AMENDED', { expected: amended ? 'AmdmntInfDtls' : 'AmdmntInd true' })
        }
      },
    },
  }
}

/** Identification of a SEPA creditor, for the payment or for each of its transactions, and the kind and sequence of the debit. */
function sepaDebitWatcher(context: RuleContext): Watcher {
  let in_payment = false
  const codes = (expected: readonly string[]) => (text: string) => {
    if (!expected.includes(text)) context.report('SEPA_DEBIT', { found: text, expected: expected.join(', ') })
  }
  return {
    open: {
      PmtInf: () => void (in_payment = false),
      'PmtInf/CdtrSchmeId': () => void (in_payment = true),
    },
    text: {
      '**/PmtTpInf/LclInstrm/Cd': codes(['CORE', 'COR1', 'B2B']),
      '**/PmtTpInf/SvcLvl/Cd': codes(['SEPA']),
      'PmtInf/DrctDbtTxInf/InstdAmt': (text) => {
        const { amount, currency } = context
        if (currency !== 'EUR') context.report('SEPA_DEBIT', { found: currency, expected: 'EUR' })
        if (amount.wide !== null || amount.units > 99_999_999_999_000)
          context.report('SEPA_DEBIT', { found: text, expected: 'at most 999999999.99' })
      },
      'PmtInf/ChrgBr': codes(['SLEV']),
      'PmtInf/DrctDbtTxInf/ChrgBr': codes(['SLEV']),
    },
    close: {
      'PmtInf/DrctDbtTxInf/DrctDbtTx': () => {
        if (!in_payment && !context.has('CdtrSchmeId')) context.report('SEPA_CREDITOR_ID', { expected: 'CdtrSchmeId' })
      },
    },
  }
}

/** The definition of a message other than the three whose rules have their own file. */
export function familyDefinition(kind: MessageKind): MessageDefinition {
  const totals = TOTALS[kind]
  const references = REFERENCES[kind]
  const reasons = REASONS[kind]
  return {
    kind,
    overrides: {},
    watch: (context) => [
      ...(totals === undefined ? [] : [totalsWatcher(context, totals)]),
      ...(references === undefined ? [] : [referenceWatcher(context, references)]),
      ...(reasons === undefined ? [] : [reasonWatcher(context, reasons)]),
      ...(kind === 'pacs.009' ? [coverWatcher(context)] : []),
      ...(kind === 'pain.008' ? [mandateWatcher(context), ...sepaWatchers(context, kind), sepaDebitWatcher(context)] : []),
    ],
  }
}
