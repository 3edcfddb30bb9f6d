import { z } from 'zod'
import { TEST_TOKENS, type TestToken } from '../../ports/sandbox.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { USDC_DECIMALS, usdcDecimal } from '../../pure/payments/usdc.ts'
import type { ReadBounds } from '../../service/catalogue/define.ts'
import { FAUCET_RULES, SANDBOX_RPC_RULES } from '../../service/limits.ts'
import { problem, type Problem } from '../../service/problems.ts'
import { FAUCET_PATH, SANDBOX_RPC_PATH } from '../../service/sandbox/faucet-text.ts'
import type { Funded } from '../../service/sandbox/faucet.ts'
import { PUBLIC_RPC_METHODS } from '../../service/sandbox/public-rpc.ts'
import type { AppDeps, SandboxInfo } from '../deps.ts'
import { endpointsOf, named, readJson, type Rate } from '../endpoint.ts'
import { jsonReply } from '../http/reply.ts'

const defineEndpoint = endpointsOf<AppDeps>()

const RATE: Rate = { code: 'TEST_NETWORK_RATE_LIMITED', per_minute: FAUCET_RULES.per_minute }
const { body_bytes, json_depth: depth, json_nodes: nodes } = SANDBOX_RPC_RULES
const RPC_BOUNDS: ReadBounds = { body_bytes, depth, nodes, unsafe_numbers: 'refuse' }
const NO_STORE = { 'cache-control': 'no-store' }
const ETHER_DECIMALS = 18

/** Decimal places and name of each token. */
const UNITS: Readonly<Record<TestToken, { currency: string; decimals: number }>> = {
  usdc: { currency: 'USDC', decimals: USDC_DECIMALS },
  eurc: { currency: 'EURC', decimals: USDC_DECIMALS },
  eth: { currency: 'ETH', decimals: ETHER_DECIMALS },
}

/** Decimal text without trailing zeros; six decimal places are shown. */
function decimalText(amount: bigint, decimals: number): string {
  return usdcDecimal(amount / 10n ** BigInt(decimals - USDC_DECIMALS))
}

const amountText = (token: TestToken) => `${decimalText(FAUCET_RULES.amounts[token], UNITS[token].decimals)} ${UNITS[token].currency}`

/** Amounts of one funding, for people. */
export const FAUCET_AMOUNTS_TEXT = `${amountText('usdc')}, ${amountText('eurc')} and ${amountText('eth')}`

/** The endpoints exist in a sandbox only; a sandbox without its chain cannot serve them. */
function missing({ mode, sandbox }: AppDeps, what: string): Problem | null {
  if (mode !== 'sandbox') return problem('NOT_FOUND', `${what} exists only in a sandbox; real money moves through this deployment.`)
  return sandbox === null ? problem('NOT_CONFIGURED', `The chain of this sandbox does not run, so ${what} is not available.`) : null
}

const AMOUNT = z.strictObject({
  token: z.enum(TEST_TOKENS).describe('Kind of token.'),
  currency: z.string().describe('USDC, EURC or ETH.'),
  amount_minor: z.string().describe('Amount in the smallest units.'),
  amount: z.string().describe('The same as decimal text.'),
})

const fund = defineEndpoint({
  id: 'sandbox-fund',
  only_in: 'sandbox',
  method: 'post',
  path: FAUCET_PATH,
  summary: 'In a sandbox: gives test USDC, test EURC and a little test ETH to any address, once a day each.',
  description:
    `Gives ${FAUCET_AMOUNTS_TEXT}; none of it has any value. A repeated request gives nothing more and shows the balances. At most ` +
    `${FAUCET_RULES.client_daily} requests of a client, ${FAUCET_RULES.network_daily} of its network and ${FAUCET_RULES.all_daily} of all give something on a UTC day.`,
  rate: RATE,
  body: {
    schema: named(
      'sandbox-fund',
      z.strictObject({
        address: z
          .string()
          .regex(/^0x[0-9a-fA-F]{40}$/)
          .describe('Address that gets the tokens; any account, new ones too.'),
        token: z.enum(TEST_TOKENS).optional().describe('Gives this token only; left out, all three.'),
      }),
    ),
    bounds: { body_bytes: FAUCET_RULES.body_bytes, depth: 2, nodes: 16, unsafe_numbers: 'refuse' },
    example: { address: '0x1000000000000000000000000000000000000001' },
  },
  answers: {
    200: {
      description: 'What was given, and the balances. `funded` is false if the address had got everything today.',
      json: z.strictObject({
        address: z.string().describe('The address, with the checksum of EIP-55.'),
        funded: z.boolean().describe('True if this request gave something.'),
        given: z.array(AMOUNT.extend({ transaction: z.string().describe('Hash of the mined transaction.') })).describe('What was given.'),
        already_given: z.array(z.enum(TEST_TOKENS)).describe('Tokens that the address had already got today.'),
        balances: z.array(AMOUNT).describe('Balances of the address now.'),
        limits: z
          .strictObject({
            per_address: z.array(AMOUNT).describe('What one address gets a day.'),
            per_client: z.int().describe('Requests of one client that give something, a day.'),
            per_network: z.int().describe('The same for its network (/24 of IPv4, /48 of IPv6).'),
            resets_at: z.string().describe('RFC 3339.'),
          })
          .describe('Limits of the faucet.'),
        chain_id: z.int().describe('Chain of the tokens.'),
        contracts: z.record(z.string(), z.string()).describe('Contracts of the tokens.'),
        rpc_url: z.string().describe('JSON-RPC of the chain, for wallet libraries.'),
        next: z.array(z.string()).describe('What to do with the tokens.'),
      }),
    },
  },
  problems: ['NOT_FOUND', 'NOT_CONFIGURED', 'OVERLOADED', 'UPSTREAM_RPC_UNAVAILABLE', 'STORE_UNAVAILABLE'],
  refuse: (deps) => missing(deps, 'The faucet'),
  async run({ body, caller }, deps) {
    const { sandbox, test_chain = null } = deps
    if (sandbox === null || test_chain === null) return problem('NOT_CONFIGURED', 'The chain of this sandbox does not run.')
    const read = readEvmAddress(body.address)
    const fault = read === null ? 'It is not an address.' : addressFault(body.address, read.checksummed, sandbox)
    if (read === null || fault !== null) {
      const errors = [{ pointer: '/address', code: 'not_fundable', message: fault ?? '' }]
      return problem('INPUT_SCHEMA_INVALID', `The field "address" cannot be funded. ${fault ?? ''}`, { errors })
    }
    const end = await test_chain.faucet.fund(body.address.toLowerCase(), body.token ?? null, caller)
    if (!end.ok) return end.problem
    return jsonReply(200, JSON.stringify(fundedBody(deps, sandbox, read.checksummed, end.funded)), NO_STORE)
  },
})

/** Why an address gets nothing; null if it may. */
function addressFault(given: string, checksummed: string, { usdc, eurc, pay_to }: SandboxInfo): string | null {
  const address = given.toLowerCase()
  const is_mixed = /[a-f]/.test(given.slice(2)) && /[A-F]/.test(given)
  if (is_mixed && given !== checksummed) return `Its checksum (EIP-55) is wrong; expected ${checksummed}, or all digits in lower case.`
  if (/^0x0{40}$/.test(address)) return 'It is the zero address, from which no token can be sent.'
  if ([usdc, eurc].some((token) => token.toLowerCase() === address)) return 'It is the contract of a test token; name your own account.'
  return address === pay_to.toLowerCase() ? 'It is the account that this sandbox is paid to; name your own account.' : null
}

function amountsOf(amounts: Readonly<Record<TestToken, bigint>>): z.output<typeof AMOUNT>[] {
  return TEST_TOKENS.map((token) => amountOf(token, amounts[token]))
}

function amountOf(token: TestToken, amount: bigint): z.output<typeof AMOUNT> {
  const { currency, decimals } = UNITS[token]
  return { token, currency, amount_minor: amount.toString(), amount: decimalText(amount, decimals) }
}

function fundedBody({ origins, chain_id }: AppDeps, { usdc, eurc }: SandboxInfo, address: string, funded: Funded) {
  const { given, already, balances, resets_at } = funded
  const rpc_url = origins.api_url + SANDBOX_RPC_PATH
  return {
    address,
    funded: given.length > 0,
    given: given.map(({ token, amount, transaction }) => ({ ...amountOf(token, amount), transaction })),
    already_given: already,
    balances: amountsOf(balances),
    limits: {
      per_address: amountsOf(FAUCET_RULES.amounts),
      per_client: FAUCET_RULES.client_daily,
      per_network: FAUCET_RULES.network_daily,
      resets_at,
    },
    chain_id,
    contracts: { usdc, eurc },
    rpc_url,
    next: [
      `Pay a call: sign the transfer in "accepts" of its 402 (x402) and send the call again; you need no ether. ${origins.site_url}/docs/payment`,
      `Pay an invoice: open its pay_url with a wallet, or send test USDC to its deposit address. ${origins.site_url}/docs/journeys`,
      `Send a transaction yourself: JSON-RPC of chain ${chain_id} at ${rpc_url}; the test ETH pays its gas.`,
    ],
  }
}

const callNode = defineEndpoint({
  id: 'sandbox-rpc',
  only_in: 'sandbox',
  method: 'post',
  path: SANDBOX_RPC_PATH,
  summary: 'In a sandbox: JSON-RPC of its chain, for wallet libraries: reads, and transactions that you signed.',
  description:
    `Takes one call or a batch of at most ${SANDBOX_RPC_RULES.batch}. Methods: ${PUBLIC_RPC_METHODS.join(', ')}. Simulated calls use at most ` +
    `${SANDBOX_RPC_RULES.call_gas} gas, log queries cover at most ${SANDBOX_RPC_RULES.log_blocks} blocks. At most ${SANDBOX_RPC_RULES.client_per_minute} calls a minute for one client.`,
  body: {
    schema: named(
      'json-rpc-call',
      z.looseObject({
        jsonrpc: z.literal('2.0').describe('Version of JSON-RPC.'),
        id: z.union([z.string(), z.number(), z.null()]).describe('Returned with the answer.'),
        method: z.string().describe('One of the methods above.'),
        params: z.array(z.unknown()).optional().describe('Parameters of the method.'),
      }),
    ),
    bounds: RPC_BOUNDS,
    example: { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] },
    // A batch is an array.
    read_by_run: true,
  },
  answers: { 200: { description: 'The answer of JSON-RPC 2.0, an error too.', json: z.looseObject({ jsonrpc: z.literal('2.0') }) } },
  problems: ['NOT_FOUND', 'NOT_CONFIGURED', 'TEST_NETWORK_RATE_LIMITED', 'OVERLOADED', 'UPSTREAM_RPC_UNAVAILABLE'],
  refuse: (deps) => missing(deps, 'The JSON-RPC of the test chain'),
  async run({ context, caller }, { test_chain = null }) {
    if (test_chain === null) return problem('NOT_CONFIGURED', 'The chain of this sandbox does not run.')
    const read = await readJson(context, RPC_BOUNDS)
    if (!read.ok) return read.problem
    const end = await test_chain.rpc.answer(read.value, caller)
    return end.ok ? jsonReply(200, JSON.stringify(end.body), NO_STORE) : end.problem
  },
})

/** Faucet and JSON-RPC of a sandbox. */
export const SANDBOX_ENDPOINTS = [fund, callNode]
