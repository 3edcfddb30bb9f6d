import { assetNetwork, currencyOf } from '../pure/networks.ts'
import { z } from 'zod'
import type { Payment } from '../ports/payments.ts'
import { unknownToolProblem } from '../service/calls/refusals.ts'
import { callUrl } from '../service/catalogue/text.ts'
import { quotaClient } from '../service/clients.ts'
import type { ChannelRefund } from '../service/payments/channel-refunds.ts'
import { readPayment } from '../service/payments/payment-header.ts'
import {
  channelRefusal,
  isPaymentProblem,
  pendingProblem,
  type PaymentRefusal,
  refusalForCheck,
} from '../service/payments/payment-refusals.ts'
import { mayStillExecute } from '../service/payments/settlement.ts'
import { caip2, channelStateJson, refundRequired, toBase64, type PaymentTerms } from '../service/payments/terms.ts'
import { problem, type Problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { component, endpointsOf, named, type Rate, type RawRequest } from './endpoint.ts'
import { jsonReply, type Reply } from './http/reply.ts'
import type { PaymentRenderer } from './payment.ts'
import { resendSecretsIn } from './rest.ts'

/** Dependencies of the payment endpoints. */
interface PaymentRoom {
  deps: Pick<AppDeps, 'call' | 'chain_id' | 'sandbox' | 'stored_answers' | 'origins'>
  words: PaymentRenderer
}

const defineEndpoint = endpointsOf<PaymentRoom>()

const STATUS = z.looseObject({
  state: z
    .enum(['unpaid', 'pending', 'settled', 'released'])
    .describe(
      'State of the payment; pending too where the chain has its authorization as used and the store has no row: send the payment again.',
    ),
  charged: z.union([z.boolean(), z.literal('unknown')]).describe('"unknown" while it is pending.'),
  payer: z.string().describe('Address that signed the payment.'),
  nonce: z.string().describe('Nonce of its authorization.'),
  network: z.string().describe('CAIP-2 name of the chain.'),
  amount_minor: z.string().nullable().describe('Minor units of USDC, or of asset.'),
  pay_to: z.string().nullable().describe('Address that is paid.'),
  transaction: z.string().nullable().describe('Hash of the transaction that settled it, or of the last that was meant to; null before.'),
  block_number: z.number().nullable().describe('Block of that transaction.'),
  settled_at: z.string().nullable().describe('RFC 3339.'),
  valid_before: z
    .number()
    .nullable()
    .describe('Second since 1970 at which the authorization runs out: before it, do not sign another for a payment that is pending.'),
  final: z.boolean().describe('True once no reorganisation of the chain can take it away.'),
  reason: z.string().nullable().describe('Reason of a release; `restored…` of a payment whose row was lost and rebuilt from the chain.'),
  asset: z.string().optional().describe('CAIP-19 id of a token other than USDC.'),
})

const readStatus = defineEndpoint({
  id: 'payment-status',
  method: 'get',
  path: '/v1/payments/{payer}/{nonce}',
  summary: 'State of a payment; never what it was for.',
  parts: {
    payer: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/)
      .describe('Address that signed the payment.'),
    nonce: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .describe('Nonce of its authorization.'),
  },
  unfit_path: () =>
    problem('INPUT_SCHEMA_INVALID', 'Name a payment as /v1/payments/{payer}/{nonce}: 0x and 40, then 0x and 64 hexadecimal digits.'),
  answers: { 200: { description: 'The state.', json: STATUS } },
  problems: ['STORE_UNAVAILABLE'],
  async run({ parts }, { deps }) {
    const [payer, nonce] = [parts.payer.toLowerCase(), parts.nonce.toLowerCase()]
    const { service } = deps.call.payments ?? {}
    const found = (await service?.find({ payer, nonce })) ?? null
    const is_used = found === null && (await service?.isUsed({ payer, nonce })) === true
    return jsonReply(200, JSON.stringify(statusBody(deps, payer, nonce, { payment: found, is_used })))
  },
})

const unknownAnswer = () =>
  problem(
    'ANSWER_NOT_FOUND',
    'No answer is stored under this address. Answers are stored for 24 hours. If you paid, send the same payment again.',
  )

const PRIVATE = { 'cache-control': 'private, no-store' }

const readAnswer = defineEndpoint({
  id: 'paid-answer',
  method: 'get',
  path: '/v1/answers/{token}',
  summary: 'The whole answer of a paid call, or of a call that was answered briefly, for a day.',
  parts: {
    token: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('From the Location of a 202, or from `answer_url` of a brief answer.'),
  },
  unfit_path: unknownAnswer,
  answers: { 200: { description: 'The answer.', json: component('answer'), paid: true } },
  problems: ['PAYMENT_PENDING', 'ANSWER_EXPIRED', 'STORE_UNAVAILABLE'],
  async run({ parts }, { deps, words }) {
    const end = await deps.call.payments?.service.fetch(parts.token)
    switch (end?.kind) {
      case undefined: {
        const text = await deps.stored_answers.fetch(parts.token)
        return text === null ? unknownAnswer() : jsonReply(200, text, PRIVATE)
      }
      case 'paid':
        return jsonReply(200, end.text, { ...PRIVATE, ...words.responseHeaders(end.settlement) })
      case 'pending':
        return pendingProblem(end.pending)
      case 'refused':
        return refusal(end)
    }
  },
})

/** Requests for refunds of a client in a minute. */
const REFUND_RATE: Rate = { code: 'CLIENT_BUSY', per_minute: 30 }

const REFUND = {
  method: 'get',
  query: {
    network: z
      .string()
      .max(80)
      .optional()
      .describe(
        'CAIP-2 name of the network of the channel, such as eip155:8453: the terms then name it alone. Official clients take the first.',
      ),
  },
  rate: REFUND_RATE,
  answers: {
    200: {
      description: 'The refund is in a block; PAYMENT-RESPONSE has its transaction, its amount and the state of the channel.',
      json: z.looseObject({ message: z.string(), channelId: z.string(), amount_minor: z.string(), transaction: z.string() }),
      paid: true,
    },
    402: {
      description:
        'Terms of the channel in PAYMENT-REQUIRED, with its state where the voucher is not the last one. CHANNEL_PRESENCE: the request does not show that it comes from the payer; the extensions there have a challenge to sign.',
      terms: true,
    },
  },
  shared_headers: ['payment-signature', 'x-answer-token', 'sign-in-with-x'],
  problems: [
    'PAYMENT_REQUIRED',
    'PAYMENT_PENDING',
    'NOT_CONFIGURED',
    'CHANNEL_MISMATCH',
    'CHANNEL_INVALID',
    'CHANNEL_PRESENCE',
    'CHANNEL_BUSY',
  ],
} as const

const refundChannel = defineEndpoint({
  ...REFUND,
  id: 'channel-refund',
  path: '/v1/channels/refund',
  summary: 'Gives what is left in a payment channel back to its payer (x402 scheme batch-settlement).',
  description:
    'Without PAYMENT-SIGNATURE the answer is a 402 whose terms name the channel. The official clients of batch-settlement take this address, or that of any call, for refund(). From another client network than that of the last charge, send X-ANSWER-TOKEN, the payment-identifier id of that charge, or SIGN-IN-WITH-X too.',
  run: (request, { deps }) => refund(request, deps, `${deps.origins.api_url}/v1/channels/refund`, request.query.network),
})

/** The official clients of batch-settlement ask for refunds by GET at the address where they paid. */
const refundOfCalls = defineEndpoint({
  ...REFUND,
  id: 'call-channel-refund',
  unlisted: true,
  path: '/v1/tools/{tool}/call',
  summary: 'As /v1/channels/refund, at the address of a call. Calls are sent by POST.',
  parts: { tool: z.string() },
  problems: [...REFUND.problems, 'TOOL_NOT_FOUND'],
  run(request, { deps }) {
    const { catalogue } = deps.call
    const tool = catalogue.find(request.parts.tool)
    return tool === undefined
      ? unknownToolProblem(catalogue, request.parts.tool)
      : refund(request, deps, callUrl(deps, tool), request.query.network)
  },
})

const UNPAID_REFUND =
  'This address gives what is left in a payment channel back. Send a refund payload of batch-settlement in PAYMENT-SIGNATURE: the voucher of what was charged, and optionally an amount. Calls of tools are sent by POST.'

/** Answers a request for a refund; `url` is the address at which it was asked. */
async function refund(
  { context, caller, refuse }: Pick<RawRequest, 'context' | 'caller' | 'refuse'>,
  { call: { payments } }: Pick<PaymentRoom['deps'], 'call'>,
  url: string,
  asked?: string,
): Promise<Reply | Problem> {
  const refunds = payments?.refunds ?? null
  if (payments === null || refunds === null) return problem('NOT_CONFIGURED', 'This deployment offers no payment channels.')
  const networks = channelNetworks(payments.terms)
  if (asked !== undefined && !networks.has(asked)) return unknownNetwork([...networks.keys()])
  const required = (found: Problem, error: string, network = asked, more: Pick<PaymentRefusal, 'channel' | 'sign_in'> = {}) => {
    const place = network === undefined ? undefined : networks.get(network)
    const terms = refundRequired(place === undefined ? [...networks.values()] : [place], url, error, more)
    return refuse(found, { 'payment-required': toBase64(JSON.stringify(terms)) })
  }
  const text = context.req.header('payment-signature')
  if (text === undefined) return required(problem('PAYMENT_REQUIRED', UNPAID_REFUND), 'payment required')
  const read = readPayment({ kind: 'header', name: 'payment-signature', text })
  if (!read.ok) {
    const { problem: found } = refusalForCheck(read)
    return isPaymentProblem(found) ? required(found, read.x402_reason) : found
  }
  if (read.payment.scheme === 'exact') {
    const wrong = channelRefusal('refund_payload')
    return required(wrong.problem, wrong.x402_reason ?? '')
  }
  const { network } = read.payment
  const secrets = resendSecretsIn((name) => context.req.header(name) ?? null)
  const result = await refunds.refund(read.payment, { address: caller, client: quotaClient(caller), secrets })
  switch (result.kind) {
    case 'refused':
      return isPaymentProblem(result.problem) ? required(result.problem, result.x402_reason ?? '', network, result) : result.problem
    case 'under_way':
      return problem('PAYMENT_PENDING', 'The refund was sent and is in no block yet. Send the same request again.', { retry_after_s: 2 })
    case 'refunded':
      return refundReply(network, result)
  }
}

function unknownNetwork(known: readonly string[]): Problem {
  const message = `Expected one of: ${known.join(', ')}.`
  const detail = `No payment channels are offered on this network. ${message}`
  return problem('INPUT_SCHEMA_INVALID', detail, { errors: [{ pointer: '/network', code: 'not_allowed', message }] })
}

function refundReply(network: string, { channel, transaction, amount_minor }: ChannelRefund): Reply {
  const { channel_id: channelId, payer, charged_minor } = channel
  const channelState = { channelId, ...channelStateJson(channel), chargedCumulativeAmount: charged_minor.toString() }
  const moved = { success: true, transaction, network, payer, amount: amount_minor.toString() }
  const body = { message: 'The rest of the channel was refunded.', channelId, amount_minor: moved.amount, transaction }
  return jsonReply(200, JSON.stringify(body), {
    'cache-control': 'private, no-store',
    'payment-response': toBase64(JSON.stringify({ ...moved, extra: { channelState } })),
  })
}

/** Most that one payment of the test wallet is worth: the price of every call is below it. */
const TEST_PAYMENT_MOST_MINOR = 100_000_000n

/** Enough for a person who tries tools; each signature costs processor time. */
const TEST_PAYMENT_RATE: Rate = { code: 'CLIENT_BUSY', per_minute: 60 }

const signTestPayment = defineEndpoint({
  id: 'sandbox-payment',
  unlisted: true,
  method: 'post',
  path: '/v1/sandbox/payment',
  rate: TEST_PAYMENT_RATE,
  summary: 'In a sandbox: a payment signed by the test wallet, so that a call can be paid without a wallet of your own.',
  body: {
    schema: named(
      'sandbox-payment',
      z.looseObject({
        amount_minor: z
          .string()
          .regex(/^[1-9]\d{0,8}$/)
          .describe('Amount of the terms (`maxAmountRequired`) in minor units of USDC, such as "5000" for 0.005 USDC.'),
      }),
    ),
    bounds: { body_bytes: 1_000, depth: 2, nodes: 16, unsafe_numbers: 'refuse' },
  },
  answers: {
    200: {
      description: 'The signed transfer, for the `payload` of an X-PAYMENT header.',
      json: z.looseObject({
        authorization: z.looseObject({ from: z.string(), to: z.string() }).describe('The transfer (EIP-3009).'),
        signature: z.string().describe('EIP-712 signature by the test wallet.'),
      }),
    },
  },
  problems: ['NOT_CONFIGURED'],
  run({ body }, { deps }) {
    const amount_minor = BigInt(body.amount_minor)
    if (deps.sandbox === null || amount_minor > TEST_PAYMENT_MOST_MINOR)
      return problem(
        'NOT_CONFIGURED',
        'The test wallet exists only in a sandbox with a local chain, and pays at most 100 USDC per payment.',
      )
    const now_s = Math.floor(deps.call.issuer.clock.now_ms() / 1_000)
    return jsonReply(200, JSON.stringify(deps.sandbox.sign_payment(amount_minor, now_s)))
  },
})

/** State of a payment and stored answer, for callers whose connection broke; payments of the test wallet. */
export const PAYMENT_ENDPOINTS = [readStatus, readAnswer, refundChannel, signTestPayment]

/** Endpoints of deployments with payment channels only. */
export const CHANNEL_ENDPOINTS = [refundOfCalls]

/** Distinguishes an expired answer from a payment that is unknown. Payment terms belong to calls and are not sent here. */
function refusal({ problem: found }: PaymentRefusal): Problem {
  if (found.code === 'ANSWER_EXPIRED') return found
  const over = 'The payment behind this address was released or refused. Nothing was charged; send the call with a new payment.'
  const { charged, extra } = found
  const told = charged === false ? { detail: over, more: {} } : { detail: found.detail, more: { valid_before: extra?.['valid_before'] } }
  return problem('ANSWER_NOT_FOUND', told.detail, { charged, extra: { reason: found.code, ...told.more } })
}

/** A payment as the store has it; without a row, whether the chain has its authorization as used. */
interface KnownPayment {
  payment: Payment | null
  is_used: boolean
}

/** Contains neither the tool nor the input. */
function statusBody(deps: PaymentRoom['deps'], payer: string, nonce: string, { payment, is_used }: KnownPayment) {
  const state = payment === null && is_used ? 'pending' : statusOf(payment, Math.floor(deps.call.issuer.clock.now_ms() / 1_000))
  return {
    state,
    charged: state === 'settled' ? true : state === 'pending' ? 'unknown' : false,
    payer,
    nonce,
    network: assetNetwork(payment?.asset ?? null) ?? caip2(deps.chain_id),
    amount_minor: payment?.value_minor.toString() ?? null,
    pay_to: payment?.to ?? null,
    transaction: payment?.transaction ?? null,
    block_number: payment?.block_number ?? null,
    settled_at: payment?.settled_ms === null || payment === null ? null : new Date(payment.settled_ms).toISOString(),
    valid_before: payment === null ? null : Number(payment.valid_before_s),
    final: payment?.final ?? false,
    reason: payment?.reason ?? null,
    ...(payment === null || payment.asset === null || currencyOf(payment.asset) === 'USDC' ? {} : { asset: payment.asset }),
  }
}

/** Networks on which refunds can be requested now, by their CAIP-2 names. */
function channelNetworks({ networks, ...terms }: PaymentTerms): Map<string, PaymentTerms> {
  const places = [terms, ...(networks?.now().further ?? [])].filter(({ channels }) => channels !== undefined)
  return new Map(places.map((place) => [caip2(place.chain_id), place]))
}

/** Public status of a payment, for anyone who knows its payer and nonce. */
type PaymentStatus = 'unpaid' | 'pending' | 'settled' | 'released'

function statusOf(payment: Payment | null, now_s: number): PaymentStatus {
  if (payment === null) return 'unpaid'
  switch (payment.state) {
    case 'claimed':
    case 'prepared':
    case 'settling':
    case 'unknown':
      return 'pending'
    case 'settled':
      return 'settled'
    case 'refused':
      return mayStillExecute(payment, now_s) ? 'pending' : 'released'
    case 'lost':
    case 'released':
      return 'released'
  }
}
