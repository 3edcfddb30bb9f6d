import { z } from 'zod'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { quotaClient } from '../../service/clients.ts'
import { CREDIT_RULES } from '../../service/limits.ts'
import { problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import { endpointsOf, named, type Rate } from '../endpoint.ts'
import { jsonReply } from '../http/reply.ts'
import { availableOf, shortfallOf } from '../../pure/credits/credits.ts'
import type { CreditStatement } from '../../ports/credits.ts'

type CreditRoom = AppDeps['credits']

const defineEndpoint = endpointsOf<CreditRoom>()

const BOUNDS: ReadBounds = { body_bytes: CREDIT_RULES.body_bytes, depth: 2, nodes: 16, unsafe_numbers: 'refuse' }
const RATE: Rate = { code: 'CREDIT_RATE_LIMITED', per_minute: CREDIT_RULES.requests_per_minute }
const PRIVATE = { 'cache-control': 'private, no-store' }

const amount = (description: string) =>
  z
    .string()
    .regex(/^\d{1,20}$/)
    .describe(description)

const checkout = defineEndpoint({
  id: 'credit-checkout',
  method: 'post',
  path: '/api/credits/checkout',
  summary: 'Open a checkout page of the card processor to buy a credit.',
  rate: RATE,
  body: {
    schema: named(
      'credit-checkout',
      z.looseObject({
        pack: z.number().describe('Price in whole US dollars, such as 10: one of the packs on the credits page.'),
        claim_hash: z
          .string()
          .regex(/^0x[0-9a-f]{64}$/)
          .describe('keccak-256 of a random secret of the buyer, 0x and 64 hex digits.'),
      }),
    ),
    bounds: BOUNDS,
  },
  answers: {
    200: {
      description: 'Address of the checkout page.',
      json: z.looseObject({ url: z.string().describe('A page of the card processor.') }),
    },
  },
  problems: ['NOT_CONFIGURED', 'CARDS_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  refuse: ({ checkout: cards }) =>
    cards === null
      ? problem('NOT_CONFIGURED', 'This deployment does not accept cards. Pay a call with the terms of its 402 answer instead.')
      : null,
  async run({ body, caller }, { checkout: cards }) {
    if (cards === null) return problem('NOT_CONFIGURED', 'This deployment does not accept cards.')
    const pack_usd = cards.packs_usd.find((known) => known === body.pack)
    if (pack_usd === undefined) {
      const message = `Give the pack in whole US dollars: ${cards.packs_usd.join(', ')}.`
      return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: '/pack', code: 'not_allowed', message }] })
    }
    const opened = await cards.buy(pack_usd, body.claim_hash, caller)
    return opened.ok ? jsonReply(200, JSON.stringify({ url: opened.url })) : opened.problem
  },
})

const handOver = defineEndpoint({
  id: 'credit-code',
  method: 'post',
  path: '/api/credits/code',
  summary: 'Credit code of a checkout, for the buyer who knows its secret.',
  rate: RATE,
  body: {
    schema: named(
      'credit-handover',
      z.looseObject({
        session_id: z
          .string()
          .max(CREDIT_RULES.session_chars)
          .regex(/^cs_\w+$/)
          .describe('Id of the checkout.'),
        secret: z
          .string()
          .regex(/^[\x21-\x7e]{32,128}$/)
          .describe('The secret whose hash was sent as claim_hash.'),
        seen: z.boolean().default(false).describe('True after you stored the code; assay then deletes it.'),
      }),
    ),
    bounds: BOUNDS,
  },
  answers: {
    200: {
      description: 'State of the handover.',
      json: z.looseObject({
        status: z
          .enum(['waiting', 'ready', 'shown'])
          .describe(
            'waiting: the payment is not confirmed, or the secret is wrong; ready: the code is included; shown: the code was deleted after `seen`.',
          ),
        code: z.string().optional().describe('The credit code; only when ready.'),
        amount_minor: amount('Price in minor units of USDC; not while waiting.').optional(),
      }),
    },
  },
  problems: ['STORE_UNAVAILABLE'],
  run: async ({ body: { session_id, secret, seen } }, credits) =>
    jsonReply(200, JSON.stringify(await credits.handOver(session_id, secret, seen)), PRIVATE),
})

const BALANCE = z.looseObject({
  unit: z.enum(['usdc_minor', 'calls']).describe('Unit of the amounts.'),
  unit_minor: amount('Minor units of USDC that one unit was paid with.'),
  available: amount('Amount that further calls may cost.'),
  granted: amount('Amount that was bought.'),
  spent: amount('Amount that answered calls have cost.'),
  reserved: amount('Amount that running calls may cost.'),
  reversed: amount('Amount that refunds and disputes of the card payment took back.'),
  shortfall: amount('Part of refunds and disputes that the balance did not cover.'),
  origin: z.enum(['card', 'invoice']).describe('Means of payment.'),
  created_at: z.string().describe('RFC 3339.'),
  entries: z.array(z.looseObject({})).max(100).describe('Debits and reversals, newest first; no inputs.'),
})

const readBalance = defineEndpoint({
  id: 'credit-balance',
  method: 'get',
  path: '/api/credits/balance',
  summary: 'Balance of a prepaid credit.',
  rate: RATE,
  headers: { 'X-CREDIT': z.string().optional().meta({ maxLength: 64 }).describe('The credit code.') },
  answers: { 200: { description: 'The balance and its entries.', json: BALANCE } },
  problems: ['CREDIT_UNKNOWN', 'STORE_UNAVAILABLE'],
  async run({ headers, caller }, { service: desk }) {
    const found = await desk.statement(headers['X-CREDIT'] ?? '', quotaClient(caller))
    return found.ok ? jsonReply(200, JSON.stringify(balanceBody(found.statement)), PRIVATE) : found.problem
  },
})

const release = defineEndpoint({
  id: 'release-invoice-credit',
  method: 'post',
  path: '/api/invoice/{id}/credit',
  summary: 'Credit code for the calls that a settled create-ap2-pilot invoice bought, for the account that paid.',
  description: 'The problem for a wrong signature contains the text to sign. A repeated request returns the same code.',
  parts: { id: z.string().describe('Id of the invoice.') },
  rate: RATE,
  body: {
    schema: named(
      'credit-release',
      z.looseObject({
        signature: z
          .string()
          .regex(/^0x(?:[0-9a-fA-F]{2}){1,2000}$/)
          .optional()
          .describe(
            'Signature of the account that paid over a plain message (EIP-191); contract wallets verify it by ERC-1271. Without it, the problem has the text in `sign`.',
          ),
      }),
    ),
    bounds: BOUNDS,
  },
  answers: {
    200: {
      description: 'The code.',
      json: named(
        'invoice-credit',
        z.looseObject({
          code: z.string().describe('The credit code, for X-CREDIT.'),
          unit: z.enum(['calls']).describe('Unit of the credit.'),
          calls: z.int().describe('Number of calls.'),
        }),
      ),
    },
  },
  problems: ['INVOICE_NOT_FOUND', 'CREDIT_NOT_DUE', 'CREDIT_RELEASE_INVALID', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  async run({ parts, body, caller }, credits) {
    const released = await credits.release(parts.id, body.signature ?? null, caller)
    if (!released.ok) return released.problem
    return jsonReply(200, JSON.stringify({ code: released.code, unit: 'calls', calls: released.calls }), PRIVATE)
  },
})

const takeNotice = defineEndpoint({
  id: 'card-notice',
  method: 'post',
  path: '/api/credits/webhook',
  summary: 'Webhook of the card processor.',
  unlisted: true,
  // Signed by Stripe, so not rate-limited: Stripe repeats refused events for days.
  raw_body: { media: 'application/json', bytes: CREDIT_RULES.notice_bytes },
  headers: { 'stripe-signature': z.string().optional() },
  answers: { 200: { description: 'The event was processed.', json: z.looseObject({ received: z.literal(true) }) } },
  problems: ['NOT_CONFIGURED', 'CARD_NOTICE_INVALID', 'STORE_UNAVAILABLE'],
  refuse: ({ checkout: cards }) => (cards === null ? problem('NOT_CONFIGURED', 'This deployment does not accept cards.') : null),
  async run({ bytes, headers }, { checkout: cards }) {
    if (cards === null) return problem('NOT_CONFIGURED', 'This deployment does not accept cards.')
    const fault = await cards.notice(bytes, headers['stripe-signature'] ?? null)
    if (fault === null) return jsonReply(200, '{"received":true}')
    return problem('CARD_NOTICE_INVALID', fault.message, { errors: [fault] })
  },
})

/** Endpoints to buy and read credits, the webhook of Stripe, and the credit of an invoice. */
export const CREDIT_ENDPOINTS = [checkout, handOver, readBalance, release, takeNotice]

/** A statement as it goes out: amounts as decimal text in the unit of the credit, times in RFC 3339, nothing of any input. */
function balanceBody({ credit, uses, reversals }: CreditStatement): Record<string, unknown> {
  const { unit, unit_minor, granted, reversed, spent, reserved, origin, created_ms } = credit
  const at = (ms: number) => new Date(ms).toISOString()
  const entries = [
    ...uses.map(({ tool, amount: used, updated_ms }) => ({ ms: updated_ms, kind: 'debit', amount: used, tool })),
    ...reversals.map(({ amount_minor, standing, updated_ms }) => ({ ms: updated_ms, kind: 'reversal', amount: amount_minor, standing })),
  ]
  return {
    unit,
    unit_minor: unit_minor.toString(),
    available: availableOf(credit).toString(),
    granted: granted.toString(),
    spent: spent.toString(),
    reserved: reserved.toString(),
    reversed: reversed.toString(),
    shortfall: shortfallOf(credit).toString(),
    origin,
    created_at: at(created_ms),
    entries: entries
      .toSorted((one, other) => other.ms - one.ms)
      .map(({ ms, amount: moved, ...entry }) => ({ ...entry, amount: moved.toString(), at: at(ms) })),
  }
}
