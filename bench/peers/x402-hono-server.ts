/**
 * A peer of the suites that pay: hono with the payment middleware of x402, as its README sets it up. Nothing is stored, bound to its request
 * or signed.
 */
import { serve } from '@hono/node-server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { ibanAnswer } from './iban.ts'
import { client, NETWORK, PATH, ROUTES } from './x402-shop.ts'

const app = new Hono()
app.use(paymentMiddleware(ROUTES, new x402ResourceServer(client).register(NETWORK, new ExactEvmScheme())))
app.post(PATH, async (context) => {
  const { input } = await context.req.json<{ input: { iban: string } }>()
  return context.json(ibanAnswer(input.iban))
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stderr.write(`peer listens on http://127.0.0.1:${port}\n`),
)
