/**
 * The peer of the `payment-challenge` and `paid-call` suites: hono with the payment middleware of x402, as its README sets it up. One route,
 * one price. FACILITATOR_URL names the facilitator; without it the facilitator is an object in this process. The tool checks an IBAN in the
 * shortest way and answers about as much as the echo of the `free-call` suite. Nothing is stored, bound to its request or signed.
 */
import { serve } from '@hono/node-server'
import { HTTPFacilitatorClient, type FacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { facilitator, NETWORK } from './x402-facilitator.ts'

const { FACILITATOR_URL: url = '' } = process.env
const client = url === '' ? (facilitator as unknown as FacilitatorClient) : new HTTPFacilitatorClient({ url })
const resources = new x402ResourceServer(client).register(NETWORK, new ExactEvmScheme())
const price = {
  scheme: 'exact',
  price: '$0.005',
  network: NETWORK,
  payTo: '0x0000000000000000000000000000000000008402',
  maxTimeoutSeconds: 120,
}

const app = new Hono()
app.use(paymentMiddleware({ 'POST /v1/tools/iban-check/call': { accepts: price, description: 'Checks an IBAN.' } }, resources))
app.post('/v1/tools/iban-check/call', async (context) => {
  const { input } = await context.req.json<{ input: { iban: string } }>()
  const iban = input.iban.replaceAll(' ', '')
  return context.json({ valid: isIban(iban), iban, country: iban.slice(0, 2), findings: [], padding: PADDING })
})

const PADDING = '.'.repeat(500)

function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$/.test(text)) return false
  let remainder = 0
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder === 1
}

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stderr.write(`peer listens on http://127.0.0.1:${port}\n`),
)
