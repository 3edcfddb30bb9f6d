import { z } from 'zod'
import {
  checkCurrency,
  checkCurrencyNumber,
  CURRENCY_DATA_AS_OF,
  CURRENCY_KINDS,
  type CurrencyFacts,
  settlementToken,
} from '../../pure/checks/currency.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  alpha: z.string().describe('The three letters.'),
  numeric: z.string().nullable().describe('The three digits, or null when there never were any.'),
  name: z.string().describe('Official name of the list.'),
  minor_units: z.int().min(0).max(4).nullable().describe('Digits behind the decimal point; null where the list states none.'),
  kind: z.enum(CURRENCY_KINDS).describe('Kind of code.'),
  fund: z.boolean().describe('A fund code: no money that is handed over.'),
  symbol: z.string().describe('As written at home; several currencies may share it. The code where there is no sign.'),
  symbol_distinct: z.string().describe('As written where several currencies meet.'),
  status: z.enum(['current', 'withdrawn']).describe('By the list of data_as_of.'),
  withdrawn: z.string().nullable().describe('When it was withdrawn: a month, a year or a span.'),
  successor: z.string().nullable().describe('The current code that came after a withdrawn one, where one is known.'),
  per_successor: z.string().nullable().describe('How many made one of the successor; null without a fixed rate.'),
  countries: z.array(z.string()).describe('Where it is or was in use, ISO 3166 alpha-2.'),
  other_entities: z.array(z.string()).describe('Institutions, and states that are gone.'),
  same_numeric: z.array(z.string()).describe('Other codes that have had the same number.'),
  parts: PARTS,
})

const TOKEN = z
  .strictObject({
    symbol: z.string().describe('Symbol of the token.'),
    chain_id: z.int().min(1).max(9_007_199_254_740_991).describe('Chain id, EIP-155.'),
    address: z.string().describe('Contract address.'),
    decimals: z.int().min(0).max(255).describe('Decimals of the token.'),
  })
  .nullable()
  .describe('The token that settles this currency on chain, or null.')

function noTokenReason(facts: CurrencyFacts | null): string {
  if (facts === null) return 'The code is not a currency code that is known.'
  if (facts.status === 'withdrawn') return `${facts.alpha} is withdrawn and cannot be settled.`
  return `No token is mapped for ${facts.alpha}; only USD and EUR have one.`
}

/** Checks a code against ISO 4217 and returns its entry. */
export default defineTool({
  id: 'iso4217-currency-check',
  title: 'Look up a currency code',
  description:
    'Checks a currency code of ISO 4217, three letters or three digits. Returns minor units, sign, official name, countries, and the token ' +
    'that settles it on chain (USD: USDC, EUR: EURC, else null with a reason). Withdrawn codes are invalid, with date and successor.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['lists one and three of ISO 4217 as of data_as_of', 'the number of a reused code by its current holder'],
    not_checked: ['amendments after that date', 'exchange rates', 'that a token holds its peg or can be redeemed'],
  },
  sources: [],
  input: z.strictObject({
    currency: z
      .union([IDENTIFIER, z.int().min(0).max(999)])
      .describe('Three letters or three digits; a number is read with leading zeros.'),
  }),
  output: checkOutput(FACTS).extend({
    settlement_token: TOKEN,
    settlement_token_reason: z.string().nullable().describe('Why there is no token; null when there is one.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { currency: 'EUR' },
  run({ currency }) {
    const check = typeof currency === 'number' ? checkCurrencyNumber(currency) : checkCurrency(currency)
    const settlement_token = check.valid ? settlementToken(check.facts?.alpha ?? '') : null
    const settlement_token_reason = settlement_token === null ? noTokenReason(check.facts) : null
    return { ...check, settlement_token, settlement_token_reason, data_as_of: { ...CURRENCY_DATA_AS_OF } }
  },
})
