/**
 * A peer of the suites that pay: express with the payment middleware of x402, as its README sets it up. The body is read behind the
 * middleware, so that a 402 does not cost its reading. Nothing is stored, bound to its request or signed.
 */
import type { AddressInfo } from 'node:net'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { ibanAnswer } from './iban.ts'
import { client, NETWORK, PATH, ROUTES } from './x402-shop.ts'

const app = express()
app.use(paymentMiddleware(ROUTES, new x402ResourceServer(client).register(NETWORK, new ExactEvmScheme())))
app.post(PATH, express.json(), (request, response) => {
  response.json(ibanAnswer((request.body as { input: { iban: string } }).input.iban))
})

const listener = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`peer listens on http://127.0.0.1:${(listener.address() as AddressInfo).port}\n`)
})
