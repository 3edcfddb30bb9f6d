import type { RuleContext, Watcher } from '../rule-engine.ts'
import { TextSet } from '../text-set.ts'
import type { Group } from './group.ts'
import { AMOUNT_SCALE, type AmountText, decimalText, ExactSum, scaled } from '../decimal.ts'
import { currencyInfo } from '../identifiers.ts'

/** Identifications of the transactions of pacs.008, and the levels and codes that go with them. */

const TX = 'CdtTrfTxInf'
/** UETRs came with this version. */
const UETR_SINCE = 8

export function identificationWatcher(context: RuleContext, group: Group): Watcher {
  const end_to_end = new TextSet()
  const instructions = new TextSet()
  const transactions = new TextSet()
  const serviceLevel = (text: string) => {
    if (/^G0\d\d$/.test(text) && text !== 'G001') context.report('C_GPI_SVCLVL', { found: text, expected: 'G001' })
  }
  return {
    text: {
      [`${TX}/PmtId/EndToEndId`]: (text) => {
        if (text !== 'NOTPROVIDED' && end_to_end.push(text).add() === 'same') context.report('C_E2E_DUPLICATE', { found: text })
      },
      [`${TX}/PmtId/InstrId`]: (text) => {
        if (instructions.push(text).add() === 'same') context.report('C_INSTRID_DUPLICATE', { found: text })
      },
      [`${TX}/PmtId/TxId`]: (text) => {
        if (transactions.push(text).add() === 'same') context.report('C_TXID_DUPLICATE', { found: text })
      },
      '**/PmtTpInf/SvcLvl/Cd': serviceLevel,
      '**/PmtTpInf/SvcLvl/Prtry': serviceLevel,
    },
    close: {
      [`${TX}/PmtId`]: () => {
        if (context.version < UETR_SINCE) {
          if (!context.has('TxId')) context.report('C_TXID_MISSING', { expected: 'TxId' })
        } else if (!context.has('UETR')) context.report('C_UETR_MISSING', { expected: 'UETR' })
      },
      [TX]: () => {
        const has_own = context.has('IntrBkSttlmDt')
        if (has_own !== group.has_settlement_date) return
        context.report('C_STTLMDT_LEVEL', {
          found: has_own ? 'on both levels' : 'on neither level',
          expected: 'IntrBkSttlmDt on one level',
        })
      },
    },
  }
}

/** Agents and debtor of pacs.008: on one level, in their order, by BIC, and as the header around the message names them. */

/** One of the two agents that hand the message on. */
interface Side {
  readonly element: 'InstgAgt' | 'InstdAgt'
  /** That of the header which must be the same bank. */
  readonly header: 'from_bic' | 'to_bic'
  in_group: boolean
  bic_in_group: boolean
  bic_in_transaction: boolean
}

function side(element: Side['element'], header: Side['header']): Side {
  return { element, header, in_group: false, bic_in_group: false, bic_in_transaction: false }
}

/** BIC stands in version 02, BICFI in the later ones. */
const BIC_ELEMENTS = ['BIC', 'BICFI'] as const

export function agentWatcher(context: RuleContext): Watcher {
  const sides = [side('InstgAgt', 'from_bic'), side('InstdAgt', 'to_bic')]
  const open: Record<string, () => void> = {
    [TX]: () => {
      for (const one of sides) one.bic_in_transaction = false
    },
  }
  const text: Record<string, (text: string) => void> = {}
  for (const one of sides) {
    for (const bic of BIC_ELEMENTS) {
      const path = `${one.element}/FinInstnId/${bic}`
      open[`GrpHdr/${path}`] = () => void (one.bic_in_group = true)
      open[`${TX}/${path}`] = () => void (one.bic_in_transaction = true)
      text[`GrpHdr/${path}`] = text[`${TX}/${path}`] = (code) => checkHeader(context, one, code)
    }
  }
  return {
    open,
    text,
    close: {
      GrpHdr: () => {
        for (const one of sides) one.in_group = context.has(one.element)
      },
      [TX]: () => {
        for (const one of sides) checkSide(context, one)
        checkOrder(context)
      },
    },
  }
}

function checkSide(context: RuleContext, { element, in_group, bic_in_group, bic_in_transaction }: Side): void {
  if (in_group && context.has(element)) context.report('C_AGENT_LEVEL', { found: element })
  if (!bic_in_group && !bic_in_transaction) context.report('C_INSTGAGT', { expected: `${element} with its BIC` })
}

function checkHeader(context: RuleContext, { header: place }: Side, bic: string): void {
  const { header } = context
  const stated = header[place]
  if (header.copy || stated === null || whole(stated) === whole(bic)) return
  context.report('C_HDR_BIC', { found: bic, expected: stated })
}

/** What eight characters stand for. */
const HEAD_OFFICE = 'X'.repeat(3)

function whole(bic: string): string {
  return bic.length === 8 ? `${bic}${HEAD_OFFICE}` : bic
}

/** Each agent and the one that must come before it. */
const IN_ORDER = [
  ['PrvsInstgAgt2', 'PrvsInstgAgt1'],
  ['PrvsInstgAgt3', 'PrvsInstgAgt2'],
  ['IntrmyAgt2', 'IntrmyAgt1'],
  ['IntrmyAgt3', 'IntrmyAgt2'],
] as const

function checkOrder(context: RuleContext): void {
  for (const [later, earlier] of IN_ORDER) {
    if (context.has(later) && !context.has(earlier)) context.report('C_PREV_AGENT_ORDER', { found: later, expected: earlier })
  }
}

export function debtorWatcher(context: RuleContext): Watcher {
  let known = false
  const tell = () => void (known = true)
  return {
    open: {
      [TX]: () => void (known = false),
      [`${TX}/Dbtr/Nm`]: tell,
      [`${TX}/Dbtr/Id`]: tell,
      [`${TX}/DbtrAcct/Id`]: tell,
      [`${TX}/DbtrAcct/Prxy`]: tell,
    },
    close: {
      [TX]: () => {
        if (!known && context.has('Dbtr')) context.report('C_DBTR_ID', { expected: 'Dbtr/Nm, Dbtr/Id or DbtrAcct' })
      },
    },
  }
}

/** Priority of the header against that of the payment. */
export function priorityWatcher(context: RuleContext): Watcher {
  const { priority } = context.header
  const check = (text: string) => {
    if (priority !== null && priority !== text) context.report('C_HDR_PRTY', { found: text, expected: priority })
  }
  return { text: { 'GrpHdr/PmtTpInf/InstrPrty': check, [`${TX}/PmtTpInf/InstrPrty`]: check } }
}

/** Whether a rate turns one amount into another, in whole numbers. */

interface Converted {
  /** In 10^-5. */
  units: bigint
  currency: string
}

/** One digit more than a rate has, so that half of its last digit is whole. */
const RATE_SCALE = 11
const ONE = 10n ** BigInt(RATE_SCALE)

/**
 * Whether `from` times the rate gives `to`, or `from` divided by it, since rates are quoted from either side. Each amount may be off by
 * one of its smallest units, and the rate by half of its last digit. Errs towards true; a rate that cannot be read is taken as right.
 */
function converts(from: Converted, to: Converted, rate: string): boolean {
  const text = rate.trim()
  const value = scaled(text, RATE_SCALE)
  if (value === null) return true
  const digits = Math.min(text.length - (text + '.').indexOf('.') - 1, RATE_SCALE - 1)
  const slack = 5n * 10n ** BigInt(RATE_SCALE - 1 - Math.max(0, digits))
  return near(from, to, value, slack) || near(to, from, value, slack)
}

/** Whether one amount times the rate is the other. */
function near(one: Converted, other: Converted, rate: bigint, slack: bigint): boolean {
  const difference = one.units * rate - other.units * ONE
  const allowed = stepOf(other.currency) * ONE + stepOf(one.currency) * rate + magnitude(one.units) * slack
  return magnitude(difference) <= allowed
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** Where the list states no digits, two are taken. */
const USUAL_DIGITS = 2

/** The smallest unit of a currency, in 10^-5. */
function stepOf(currency: string): bigint {
  const digits = currencyInfo(currency).minor_units ?? USUAL_DIGITS
  return 10n ** BigInt(Math.max(0, AMOUNT_SCALE - digits))
}

/** Amounts of one transaction of pacs.008: what was instructed, what is settled, and what charges and a rate say of the difference. */

/** An amount as it was read. No bigint is made until a rule asks for one. */
class KeptAmount {
  known = false
  currency = ''
  private units = 0
  private wide: bigint | null = null

  keep({ units, wide }: AmountText, currency: string): void {
    this.known = true
    this.currency = currency
    this.units = units
    this.wide = wide
  }

  /** In 10^-5. */
  total(): bigint {
    return this.wide ?? BigInt(this.units)
  }
}

interface Money {
  readonly settled: KeptAmount
  readonly instructed: KeptAmount
  rate: string
  bearer: string
  charges: number
  charges_read: number
  /** Charges in the currency that is settled; those in the instructed one, where it is another. */
  readonly charged_settled: ExactSum
  readonly charged_instructed: ExactSum
  /** A charge in a third currency: nothing can be added up. */
  charged_elsewhere: boolean
}

export function moneyWatcher(context: RuleContext, group: Group): Watcher {
  const money: Money = {
    settled: new KeptAmount(),
    instructed: new KeptAmount(),
    rate: '',
    bearer: '',
    charges: 0,
    charges_read: 0,
    charged_settled: new ExactSum(),
    charged_instructed: new ExactSum(),
    charged_elsewhere: false,
  }
  return {
    open: {
      [TX]: () => begin(context, money),
      [`${TX}/ChrgsInf`]: () => void money.charges++,
    },
    text: {
      [`${TX}/IntrBkSttlmAmt`]: (text) => settle(context, group, money, text),
      [`${TX}/InstdAmt`]: () => money.instructed.keep(context.amount, context.currency),
      [`${TX}/XchgRate`]: (text) => {
        money.rate = text
        const { instructed, settled } = money
        if (!instructed.known || !settled.known || instructed.currency !== settled.currency) return
        context.report('C_XCHGRATE_SAMECCY', { found: text, expected: `no rate within ${settled.currency}` })
      },
      [`${TX}/ChrgBr`]: (text) => {
        money.bearer = text
        if (text !== 'SLEV') context.report('C_SLEV', { found: text, expected: 'SLEV' })
      },
      [`${TX}/ChrgsInf/Amt`]: () => charge(context, money),
    },
    close: { [TX]: () => checkMoney(context, money) },
  }
}

function begin({ totals }: RuleContext, money: Money): void {
  totals.transactions++
  money.settled.known = false
  money.instructed.known = false
  money.rate = ''
  money.bearer = ''
  money.charges = 0
  money.charges_read = 0
  money.charged_settled.clear()
  money.charged_instructed.clear()
  money.charged_elsewhere = false
}

function settle(context: RuleContext, { total_currency }: Group, { settled }: Money, text: string): void {
  const { amount, currency, totals } = context
  settled.keep(amount, currency)
  totals.sum.add(amount)
  totals.currencies.add(currency)
  if (amount.isZero()) context.report('C_AMT_ZERO', { found: text })
  if (total_currency !== '' && currency !== total_currency) context.report('C_TTLAMT_CCY', { found: currency, expected: total_currency })
}

function charge({ amount, currency }: RuleContext, money: Money): void {
  money.charges_read++
  if (currency === money.settled.currency) money.charged_settled.add(amount)
  else if (money.instructed.known && currency === money.instructed.currency) money.charged_instructed.add(amount)
  else if (!amount.isZero()) money.charged_elsewhere = true
}

function checkMoney(context: RuleContext, money: Money): void {
  const { settled, instructed, bearer, charges } = money
  if (bearer === 'CRED' && charges === 0) context.report('C_CHRG_CRED', { expected: 'ChrgsInf' })
  if (bearer === 'DEBT' && charges > 1) context.report('C_CHRG_DEBT', { found: `${charges} ChrgsInf`, expected: 'at most one' })
  if (!settled.known) context.totals.unreadable = true
  else if (instructed.known && instructed.currency === settled.currency) checkCharges(context, money)
  else if (instructed.known) checkRate(context, money)
}

/** The debtor's charges come on top of what is settled, all others are taken from it. */
function checkCharges(context: RuleContext, money: Money): void {
  const settled = money.settled.total()
  const instructed = money.instructed.total()
  if (money.charges === 0) {
    if (settled !== instructed) context.report('C_CHRG_DIFF', { found: decimalText(settled, 2), expected: decimalText(instructed, 2) })
    return
  }
  if (money.charged_elsewhere || money.charges_read < money.charges) return
  const charged = money.charged_settled.total()
  if (settled === instructed - charged || (money.bearer === 'DEBT' && settled === instructed + charged)) return
  const expected = decimalText(money.bearer === 'DEBT' ? instructed + charged : instructed - charged, 2)
  context.report('C_CHRG_SUM', { found: decimalText(settled, 2), expected })
}

function checkRate(context: RuleContext, money: Money): void {
  const { rate, settled, instructed } = money
  if (!context.has('XchgRate')) {
    if (context.has('AgrdRate')) return
    context.report('C_XCHGRATE_MISSING', { found: `${instructed.currency} and ${settled.currency}`, expected: 'XchgRate' })
    return
  }
  if (rate === '' || money.charged_elsewhere || money.charges_read < money.charges) return
  const from = { units: instructed.total(), currency: instructed.currency }
  const to = { units: settled.total(), currency: settled.currency }
  const from_net = { ...from, units: from.units - money.charged_instructed.total() }
  const to_gross = { ...to, units: to.units + money.charged_settled.total() }
  if (converts(from, to, rate) || converts(from_net, to_gross, rate)) return
  context.report('C_XCHG_INCONSISTENT', { found: `${decimalText(from.units, 2)}, ${rate.trim()}, ${decimalText(to.units, 2)}` })
}

/** Remittance of pacs.008: inline or elsewhere, and how much of it is structured. */

const CHARACTERS_MOST = 9_000

/** Counts the values of structured remittance, not its tags. */
export function remittanceWatcher(context: RuleContext): Watcher {
  let inside = false
  let characters = 0
  return {
    open: {
      [`${TX}/RmtInf`]: () => void (characters = 0),
      [`${TX}/RmtInf/Strd`]: () => void (inside = true),
    },
    text: {
      '**': (text) => {
        if (inside) characters += charactersOf(text)
      },
    },
    close: {
      [`${TX}/RmtInf/Strd`]: () => void (inside = false),
      [`${TX}/RmtInf`]: () => {
        if (context.has('Strd') && context.has('Ustrd')) context.report('C_RMT_BOTH', { found: 'Ustrd and Strd' })
        if (characters > CHARACTERS_MOST) {
          context.report('C_STRD_9000', { found: `${characters} characters`, expected: `at most ${CHARACTERS_MOST}` })
        }
      },
      [TX]: () => {
        if (context.has('RltdRmtInf') && context.has('RmtInf')) context.report('C_RMT_RLTD', { found: 'RltdRmtInf and RmtInf' })
      },
    },
  }
}

/** The second half of a pair is no character of its own. */
function charactersOf(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--
  }
  return count
}
