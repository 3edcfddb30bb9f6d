/**
 * A peer of the suite `voucher-call`: hono with the payment middleware of x402 and its own server of batch-settlement, whose channels are kept
 * in memory. The facilitator says that every channel is well funded; after its first voucher the server verifies the others itself.
 */
import { serve } from '@hono/node-server'
import type { FacilitatorClient } from '@x402/core/server'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { ibanAnswer } from './iban.ts'
import { NETWORK } from './x402-facilitator.ts'

const PATH = '/v1/tools/iban-check/call'
const RECEIVER = '0x0000000000000000000000000000000000008402'
const AUTHORIZER = '0x0000000000000000000000000000000000008403'
const BALANCE = '1000000000000'

interface Payment {
  payload: { channelConfig: { payer: string }; voucher: { channelId: string } }
}

const facilitator = {
  getSupported: () =>
    Promise.resolve({
      kinds: [{ x402Version: 2, scheme: 'batch-settlement', network: NETWORK, extra: { receiverAuthorizer: AUTHORIZER } }],
      extensions: [],
      signers: {},
    }),
  verify: ({ payload: { channelConfig, voucher } }: Payment) =>
    Promise.resolve({
      isValid: true,
      payer: channelConfig.payer,
      extra: { channelId: voucher.channelId, balance: BALANCE, totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: '0' },
    }),
  settle: () => Promise.reject(new Error('a voucher is settled by the server')),
}

const price = { scheme: 'batch-settlement', price: '$0.005', network: NETWORK, payTo: RECEIVER, maxTimeoutSeconds: 120 }
const resources = new x402ResourceServer(facilitator as unknown as FacilitatorClient)
const app = new Hono()
app.use(
  paymentMiddleware(
    { [`POST ${PATH}`]: { accepts: price, description: 'Checks an IBAN.' } } as never,
    resources.register(NETWORK, new BatchSettlementEvmScheme(RECEIVER)),
  ),
)
app.post(PATH, async (context) => {
  const { input } = await context.req.json<{ input: { iban: string } }>()
  return context.json(ibanAnswer(input.iban))
})

// A connection that is closed while the machine is busy would lose a voucher, and with it the rest of its channel.
const serverOptions = { keepAliveTimeout: 60_000 }
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0, serverOptions }, ({ port }) =>
  process.stderr.write(`peer listens on http://127.0.0.1:${port}\n`),
)
