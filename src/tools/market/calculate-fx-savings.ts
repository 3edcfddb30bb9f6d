import { z } from 'zod'
import { compare, readDecimal, type Fraction, over, toPlaces, times, toSignificant, toExact, fraction } from '../../pure/market/fraction.ts'
import {
  instant,
  sampleRate,
  CURRENCIES,
  currency,
  type Currency,
  FX_DATA_AS_OF,
  MARKET_CHAIN_ID,
  spellings,
} from '../../pure/market/fx-tables.ts'
import { type MarketRefusal, planUsdPrices, refusalWords } from '../../pure/market/usd-prices.ts'
import { nearWords } from '../../pure/market/crypto-symbols.ts'
import type { BlockHeader } from '../../ports/chain.ts'
import type { ChainFacts } from '../../ports/chain-facts.ts'
import { defineTool, SourceDown } from '../../service/catalogue/define.ts'
import { DATA_AS_OF } from '../../service/catalogue/schemas.ts'

/**
 * Costs and proceeds of a sum in dollars on three paths. Every figure is exact; those in a currency are rounded half to even at the end.
 */

/** Digits behind the point of each of the currencies that have a feed (ISO 4217). */
const MINOR_UNITS = 2
const RATE_DIGITS = 18
const HUNDRED: Fraction = { numerator: 100n, denominator: 1n }

/** One path in dollars. */
interface Path {
  fee_pct: string
  fee_usd: string
  net_usd: string
}

/** One path in a currency. */
interface Arrival {
  arrives: string
  /** By how much less than on the direct path. */
  short_by: string
}

interface Comparison {
  currency: string
  units_per_usd: string
  usd_per_unit: string
  direct: string
  bank: Arrival | null
  custodial: Arrival | null
}

/** A path whose fee is this percentage of the sum. Percentages above 100 are the caller's to keep out. */
export function pathOf(sum: Fraction, pct: Fraction): Path {
  const fee = feeOf(sum, pct)
  return { fee_pct: exact(pct), fee_usd: exact(fee), net_usd: exact(lessThan(sum, fee)) }
}

/** The same sum in a currency of which one unit is worth so many dollars; null percentages are paths that were not asked for. */
export function compareIn(
  code: string,
  usd_per_unit: Fraction,
  sum: Fraction,
  pcts: { bank: Fraction | null; custodial: Fraction | null },
): Comparison {
  const units = over({ numerator: 1n, denominator: 1n }, usd_per_unit)
  const arrival = (pct: Fraction | null): Arrival | null => {
    if (pct === null) return null
    const short = feeOf(sum, pct)
    return { arrives: toPlaces(times(lessThan(sum, short), units), MINOR_UNITS), short_by: toPlaces(times(short, units), MINOR_UNITS) }
  }
  return {
    currency: code,
    units_per_usd: toSignificant(units, RATE_DIGITS),
    usd_per_unit: exact(usd_per_unit),
    direct: toPlaces(times(sum, units), MINOR_UNITS),
    bank: arrival(pcts.bank),
    custodial: arrival(pcts.custodial),
  }
}

/** Sums and percentages are decimals, and so are all their products. */
function exact(value: Fraction): string {
  return toExact(value) ?? toSignificant(value, RATE_DIGITS)
}

function feeOf(sum: Fraction, pct: Fraction): Fraction {
  return over(times(sum, pct), HUNDRED)
}

function lessThan(sum: Fraction, fee: Fraction): Fraction {
  return fraction(sum.numerator * fee.denominator - fee.numerator * sum.denominator, sum.denominator * fee.denominator)
}

const AMOUNTS = ['amount_usdc', 'amount_usd', 'amount'] as const

const AMOUNT = z
  .union([
    z.number().min(0).max(1e15),
    z
      .string()
      .max(40)
      .regex(/^[0-9]{1,15}(\.[0-9]{1,18})?$/),
  ])
  .optional()

const PERCENT = z
  .union([
    z.number().min(0).max(100),
    z
      .string()
      .max(20)
      .regex(/^(100(\.0{1,12})?|[0-9]{1,2}(\.[0-9]{1,12})?)$/),
  ])
  .optional()

const INPUT = z
  .strictObject({
    amount_usdc: AMOUNT.describe('The sum in USDC, as number or decimal text. Give this or one of its two aliases.'),
    amount_usd: AMOUNT.describe('The same by another name. Where several are given, they must be equal.'),
    amount: AMOUNT.describe('The same by another name.'),
    currency: z
      .string()
      .max(16)
      .check(({ value, issues }) => {
        if (currency(value) !== null) return
        const near = nearWords(value, CURRENCIES)
        const hint = near.length === 0 ? `Known: ${CURRENCIES.join(', ')}.` : `Near ones: ${near.join(', ')}.`
        issues.push({ code: 'custom', input: undefined, message: `No rate of this currency is known. ${hint}`, params: {} })
      })
      .meta({ enum: CURRENCIES.flatMap(spellings) })
      .optional()
      .describe('What arrives; all 14 when absent.'),
    bank_fee_pct: PERCENT.describe('Your assumption of what a bank takes in all, percent of the sum.'),
    custodial_fee_pct: PERCENT.describe('Your assumption of what a custodial service takes in all, percent of the sum.'),
  })
  .check(({ value, issues }) => {
    const given = AMOUNTS.flatMap((name) => (value[name] === undefined ? [] : [{ name, sum: decimal(value[name]) }]))
    const [first, ...others] = given
    if (first === undefined) {
      const message = `Give one of ${AMOUNTS.join(', ')}.`
      for (const name of AMOUNTS) issues.push({ code: 'custom', input: undefined, path: [name], message, params: { code: 'missing' } })
    } else {
      const differing = others.filter(({ sum }) => compare(sum, first.sum) !== 0)
      const message = `It differs from ${first.name}; give one of them.`
      for (const { name } of differing) issues.push({ code: 'custom', input: undefined, path: [name], message, params: {} })
    }
  })
  // What JSON Schema can say of it: an object without any of the amounts is refused.
  .meta({ if: { anyOf: AMOUNTS.map((name) => ({ required: [name], properties: { [name]: {} } })) }, else: false })

const PATH = z.strictObject({ fee_pct: z.string(), fee_usd: z.string(), net_usd: z.string() })

/** Proceeds of a sum in dollars in a currency: directly, through a bank, and through a custodial service. */
export default defineTool({
  id: 'calculate-fx-savings',
  title: 'Compare the cost of paying abroad',
  description:
    'Compares what a sum in USDC brings in one or all of 14 currencies directly, through a bank and through a custodial service, at one ' +
    'Chainlink rate read on Base. The percentages of bank and service are your assumptions, echoed; a path without one is null. Exact ' +
    'arithmetic; this rail deducts no protocol fee.',
  family: 'market',
  version: '1.1.1',
  price: 'chain',
  annotations: { read_only: true, idempotent: true, destructive: false, open_world: true },
  scope: {
    checked: ['rate of the feed: name, decimals, round and age (in a sandbox: fixed samples, marked in source)', 'arithmetic'],
    not_checked: ['your assumptions', 'that one USDC is one dollar', 'what turning USDC into the currency costs', 'network fees'],
  },
  headline: [
    {
      when: { savings_vs_bank_usd: '0' },
      tone: 'neutral',
      word: 'no saving',
      sentence: 'By your percentages a bank costs nothing for {amount_usd} USD.',
    },
    {
      tone: 'neutral',
      word: 'saves {savings_vs_bank_usd} USD',
      sentence: 'Against a bank with the percentage that you gave, on {amount_usd} USD.',
      badge: 'saving',
    },
    {
      tone: 'neutral',
      word: 'saves {savings_vs_custodial_usd} USD',
      sentence: 'Against a custodial service with the percentage that you gave, on {amount_usd} USD.',
      badge: 'saving',
    },
    {
      tone: 'neutral',
      word: '{direct.net_usd} USD arrive',
      sentence: 'Sent directly. Give bank_fee_pct or custodial_fee_pct to compare.',
      badge: 'rates',
    },
  ],
  sources: ['clock', 'chain'],
  input: INPUT,
  output: z.strictObject({
    amount_usd: z.string().describe('The sum as it was read; one USDC counts as one dollar.'),
    direct: PATH.describe('Sent as USDC: no protocol fee is deducted.'),
    bank: PATH.nullable().describe('At bank_fee_pct, or null when not given.'),
    custodial: PATH.nullable().describe('At custodial_fee_pct, or null when not given.'),
    savings_vs_bank_usd: z.string().nullable().describe('What the direct path saves; null without bank_fee_pct.'),
    savings_vs_custodial_usd: z.string().nullable().describe('What the direct path saves; null without custodial_fee_pct.'),
    protocol_fee_usd: z.literal('0').describe('Deducted on this rail.'),
    assumptions: z.string().describe('Where the percentages come from.'),
    comparisons: z
      .array(z.record(z.string(), z.unknown()))
      .describe('By currency: rate, what arrives on each path, savings, feed and age.'),
    unavailable: z.array(z.record(z.string(), z.unknown())).describe('Currencies without a good rate now, with the reason.'),
    source: z.enum(['chainlink', 'fixed_sample']).describe('fixed_sample in a sandbox: it says nothing about the world.'),
    block: z.record(z.string(), z.unknown()).nullable().describe('number, hash and timestamp; null where nothing was read.'),
    chain_id: z.int().min(1).max(2_147_483_647).describe('The chain of this deployment.'),
    sandbox: z.boolean().describe('Whether this is a sandbox.'),
    evaluated_at: z.string().describe('Time of the answer.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { amount_usdc: '10000', currency: 'EUR', bank_fee_pct: 3, custodial_fee_pct: '1.5' },
  async run(asked, { clock, chain }) {
    const sum = decimal(asked.amount_usdc ?? asked.amount_usd ?? asked.amount ?? 0)
    const pcts = { bank: optional(asked.bank_fee_pct), custodial: optional(asked.custodial_fee_pct) }
    const one = asked.currency === undefined ? null : currency(asked.currency)
    const { rates, unavailable, header } = chain.sandbox ? sampled(one) : await readRates(chain, one)
    const [bank, custodial] = [pcts.bank && pathOf(sum, pcts.bank), pcts.custodial && pathOf(sum, pcts.custodial)]
    return {
      amount_usd: exact(sum),
      direct: { fee_pct: '0', fee_usd: '0', net_usd: exact(sum) },
      bank,
      custodial,
      savings_vs_bank_usd: bank?.fee_usd ?? null,
      savings_vs_custodial_usd: custodial?.fee_usd ?? null,
      protocol_fee_usd: '0' as const,
      assumptions: 'bank_fee_pct and custodial_fee_pct are the caller’s; nothing here checks them.',
      comparisons: rates.map(({ code, usd, feed }) => ({ ...compareIn(code, usd, sum, pcts), ...feed })),
      unavailable,
      source: chain.sandbox ? ('fixed_sample' as const) : ('chainlink' as const),
      block: header && { number: String(header.number), hash: header.hash, timestamp: instant(header.timestamp_s) },
      chain_id: chain.chain_id,
      sandbox: chain.sandbox,
      evaluated_at: new Date(clock.now_ms()).toISOString(),
      data_as_of: { chainlink_feeds: FX_DATA_AS_OF.chainlink_feeds },
    }
  },
})

interface Rates {
  rates: { code: Currency; usd: Fraction; feed: Record<string, unknown> }[]
  unavailable: { currency: Currency; reason: string }[]
  header: BlockHeader | null
}

function sampled(one: Currency | null): Rates {
  const feed = { feed: null, feed_updated_at: null, feed_age_s: null, market_closed: null }
  const rates = (one === null ? CURRENCIES : [one]).map((code) => ({ code, usd: sampleRate(code), feed }))
  return { rates, unavailable: [], header: null }
}

/** One currency must have its rate; of all, those are given that have one. */
async function readRates(chain: ChainFacts, one: Currency | null): Promise<Rates> {
  if (chain.chain_id !== MARKET_CHAIN_ID)
    throw new SourceDown('The feeds of this tool are on Base, which is not the chain here.', 'no_oracles')
  const plan = planUsdPrices(one === null ? CURRENCIES : [one], false)
  return chain.atOneBlock(async (at) => {
    const answers = await at.read(plan.calls.map((call) => ({ kind: 'call', ...call })))
    const found: Rates = { rates: [], unavailable: [], header: at.header }
    let refusal: MarketRefusal | null = null
    const outcomes = plan.judge(answers, at.header.timestamp_s)
    for (const code of one === null ? CURRENCIES : [one]) {
      const outcome = outcomes.get(code)
      if (outcome?.ok === true) {
        const { feed, updated_at_s, age_s, market_closed } = outcome.price.feed
        found.rates.push({
          code,
          usd: outcome.price.usd,
          feed: { feed: feed.address, feed_updated_at: instant(updated_at_s), feed_age_s: age_s, market_closed },
        })
      } else if (outcome !== undefined) {
        refusal = outcome
        found.unavailable.push({ currency: code, reason: outcome.reason })
      }
    }
    if (found.rates.length === 0 && refusal !== null) throw new SourceDown(refusalWords(refusal), refusal.reason)
    return found
  })
}

/** Numbers come as doubles, whose shortest text is the literal for every sum that a double holds. */
function decimal(value: number | string): Fraction {
  return readDecimal(String(value)) ?? { numerator: 0n, denominator: 1n }
}

function optional(value: number | string | undefined): Fraction | null {
  return value === undefined ? null : decimal(value)
}
