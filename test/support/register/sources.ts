import { newPayers, PAYMENT_HEADER, signedPayments } from '../bulk-payments.ts'
import { channelEntry, PayingChannel } from '../channels.ts'
import { answerOf, PAID_CALL, paidTerms, type HostileRequest } from '../hostile.ts'
import { newMerchant } from '../invoicing.ts'
import type { RowAttacks } from './attack.ts'
import { createInvoice, manyAccounts } from './merchants.ts'
import { post } from './requests.ts'
import { JSON_TYPE, type Side } from './sides.ts'

const MANY = 200
const BAD_SIGNATURE = `0x${'1'.repeat(128)}1b`

/** Calls with payments of accounts without funds; `amount` is another than the price where it is given. */
async function unfunded({ port }: Side, amount?: string): Promise<HostileRequest[]> {
  const { resource, accepts } = await paidTerms(port)
  const [accepted] = accepts
  const terms = { resource, accepts: [{ ...accepted, amount: amount ?? accepted.amount }] as typeof accepts }
  return signedPayments(await newPayers(MANY), terms, MANY).map((payment) => ({
    ...PAID_CALL,
    headers: { ...JSON_TYPE, [PAYMENT_HEADER]: payment },
  }))
}

/** Deposits of accounts without funds into channels of their own, or refunds of such channels. */
async function channelRequests({ port }: Side, act: 'deposit' | 'refund'): Promise<HostileRequest[]> {
  const { headers } = await answerOf(port, { ...PAID_CALL, headers: JSON_TYPE })
  const entry = channelEntry(String(headers['payment-required']))
  const amount = BigInt(entry.amount)
  const request: HostileRequest = act === 'deposit' ? PAID_CALL : { method: 'GET', path: '/v1/channels/refund' }
  return Promise.all(
    Array.from({ length: 60 }, async () => {
      const channel = new PayingChannel(newMerchant(), entry)
      const payment = act === 'deposit' ? await channel.deposit(20n * amount, amount) : await channel.refund(amount)
      return { ...request, headers: { ...JSON_TYPE, [PAYMENT_HEADER]: payment } }
    }),
  )
}

/** Attacks on the resources of payments, outside sources and the sandbox. */
export const SOURCE_ATTACKS = {
  free_calls: {
    by: 'free calls of a tool of which a client has two a day',
    settings: { ASSAY_FREE_DAILY_OVERRIDES: 'lei-check=0,isbn-check=2' },
    flood: () => ({ requests: [post('/v1/tools/isbn-check/call', { input: { isbn: '9783161484100' } })] }),
  },
  source_reads: {
    by: 'free calls that read the chain',
    flood: () => ({
      requests: manyAccounts(MANY).map(({ address }) => post('/v1/tools/settlement-history-check/call', { input: { address } })),
    }),
  },
  unpaid_reads: {
    by: 'signatures of invoices that no account made, which a contract might accept',
    flood: async (side) => {
      const { invoice_id } = await createInvoice(side, '127.12.1.1')
      return { requests: [post(`/api/invoice/${invoice_id}/sign`, { signature: BAD_SIGNATURE })] }
    },
  },
  verification_reads: {
    by: 'payments of accounts without funds; one client is refused after thirty in a minute',
    flood: async (side) => ({ requests: await unfunded(side) }),
    refused: null,
  },
  failed_verifications: {
    by: 'payments of accounts without funds',
    flood: async (side) => ({ requests: await unfunded(side) }),
  },
  refused_lookups: {
    by: 'payments of another amount than the price, which are looked up in the chain before they are refused',
    flood: async (side) => ({ requests: await unfunded(side, '1') }),
    refused: null,
  },
  restored_payments: { shown_by: 'test/paying/lost-rows.test.ts' },
  mismatches: {
    by: 'a payment that another client used, with other requests and guessed answer tokens',
    flood: async (side) => {
      const headers = { ...JSON_TYPE, [PAYMENT_HEADER]: side.payments.pop() ?? '' }
      await answerOf(side.port, { ...PAID_CALL, headers }, '127.12.2.1')
      const guess = { ...headers, 'x-answer-token': '0'.repeat(64) }
      return {
        requests: Array.from({ length: MANY }, (_, lei) => ({ ...post(PAID_CALL.path, { input: { lei: String(lei) } }), headers: guess })),
      }
    },
  },
  name_queries: { shown_by: 'test/full/attacks/name-servers.test.ts' },
  proof_files: { shown_by: 'test/full/attacks/insurance.test.ts' },
  register_reads: { shown_by: 'test/contracts/registers.test.ts' },
  channel_deposits: {
    by: 'deposits of accounts without funds',
    flood: async (side) => ({ requests: await channelRequests(side, 'deposit') }),
    refused: null,
  },
  channel_refunds: {
    by: 'refunds of channels that are not there',
    flood: async (side) => ({ requests: await channelRequests(side, 'refund') }),
    refused: null,
  },
  faucet: {
    by: 'requests for test money for new accounts',
    flood: () => ({ requests: manyAccounts(MANY).map(({ address }) => post('/v1/sandbox/fund', { address })) }),
  },
  sandbox_rpc: {
    by: 'calls of the public JSON-RPC',
    flood: () => ({
      requests: [
        post(
          '/v1/sandbox/rpc',
          Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] })),
        ),
      ],
    }),
  },
} as const satisfies RowAttacks
