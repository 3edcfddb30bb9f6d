/**
 * What the two peers of x402 share: one route, one price, and who verifies. FACILITATOR_URL names the facilitator; without it the
 * facilitator is an object in this process.
 */
import { HTTPFacilitatorClient, type FacilitatorClient } from '@x402/core/server'
import { facilitator, NETWORK } from './x402-facilitator.ts'

const { FACILITATOR_URL: url = '' } = process.env

export const client = url === '' ? (facilitator as unknown as FacilitatorClient) : new HTTPFacilitatorClient({ url })

export { NETWORK }

const price = {
  scheme: 'exact',
  price: '$0.005',
  network: NETWORK,
  payTo: '0x0000000000000000000000000000000000008402',
  maxTimeoutSeconds: 120,
}

export const PATH = '/v1/tools/iban-check/call'

export const ROUTES = { [`POST ${PATH}`]: { accepts: price, description: 'Checks an IBAN.' } }
