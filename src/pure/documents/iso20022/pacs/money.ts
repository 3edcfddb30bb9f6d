/** Amounts of one transaction of pacs.008: what was instructed, what is settled, and what charges and a rate say of the difference. */
import { type AmountText, decimalText, ExactSum } from '../decimal.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { converts } from './conversion.ts'
import type { Group } from './group.ts'

const TX = 'CdtTrfTxInf'

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
