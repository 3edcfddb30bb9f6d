import { randomBytes } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { answerOf, type HostileRequest } from '../hostile.ts'
import { newUnderwriter } from '../hostile-attacks.ts'
import { newMerchant, signCreation, signFor, type InvoiceShown } from '../invoicing.ts'
import { statementOf } from '../invoice-statements.ts'
import type { RowAttacks } from './attack.ts'
import { post } from './requests.ts'
import { JSON_TYPE, type Side } from './sides.ts'

const MANY = 200

export function manyAccounts(count: number): PrivateKeyAccount[] {
  return Array.from({ length: count }, newMerchant)
}

type Created = InvoiceShown & { webhook_token: string }

/** An invoice that no merchant signed, made by a client at this address. */
export async function createInvoice(side: Side, address: string): Promise<Created> {
  const { status, text } = await answerOf(side.port, unsigned(), address)
  if (status !== 201) throw new Error(text)
  return JSON.parse(text) as Created
}

function unsigned(merchant = newMerchant().address): HostileRequest {
  return post('/api/invoice/create', { amountUsdc: '10', merchant, memo: randomBytes(8).toString('hex') })
}

const get = (path: string, accept = 'application/json'): HostileRequest => ({ method: 'GET', path, headers: { accept } })

let attackers = 0
const attacker = () => `127.13.${attackers++ % 250}.1`

/** Subscriptions of forty invoices, each to ten addresses of hosts without an address. */
async function subscriptions(side: Side): Promise<HostileRequest[]> {
  const invoices = await Promise.all(Array.from({ length: 40 }, () => createInvoice(side, attacker())))
  return invoices.flatMap(({ invoice_id, webhook_token: invoice_token }) =>
    Array.from({ length: 12 }, (_, number) =>
      post('/v1/webhooks', { url: `https://${invoice_id.replace('_', '-')}-${number}.example.com/`, invoice_id, invoice_token }),
    ),
  )
}

async function registrations({ url }: Side): Promise<HostileRequest[]> {
  const first = Math.floor(Math.random() * 2 ** 40)
  return Promise.all(
    Array.from({ length: MANY }, async (_, number) => {
      const { path, body = '' } = await newUnderwriter(first + number, url)
      return { path, body, headers: JSON_TYPE }
    }),
  )
}

/** Attacks on the resources of invoices, webhooks and the directory of underwriters. */
export const MERCHANT_ATTACKS = {
  invoice_writes: {
    by: 'invoices that no merchant signed, which name one merchant',
    flood: () => ({ requests: [unsigned()] }),
  },
  unsigned_invoices: {
    by: 'invoices that no merchant signed, each for another merchant',
    flood: () => ({ requests: Array.from({ length: MANY }, () => unsigned()) }),
  },
  signed_invoices: {
    by: 'invoices that one merchant signs',
    flood: async (side) => {
      const merchant = newMerchant()
      const requests = Array.from({ length: MANY }, async () => {
        const key = randomBytes(8).toString('hex')
        const signature = await signCreation(side.chain, merchant, key)
        const creation = post('/api/invoice/create', { amountUsdc: '10', merchant: merchant.address, signature })
        return { ...creation, headers: { ...JSON_TYPE, 'idempotency-key': key } }
      })
      return { requests: await Promise.all(requests) }
    },
    refused: null,
  },
  new_signed_invoices: { shown_by: 'test/full/attacks/signed-invoices.test.ts' },
  invoice_searches: { shown_by: 'test/full/attacks/signed-invoices.test.ts' },
  relays: {
    by: 'payments of an invoice by accounts without funds, to be sent by the service',
    flood: async (side) => {
      const invoice = await createInvoice(side, attacker())
      const bodies = await Promise.all(manyAccounts(60).map((payer) => signFor(side.chain, payer, invoice)))
      return { requests: bodies.map(({ body }) => post(`/api/invoice/${invoice.invoice_id}/pay`, body)) }
    },
  },
  sweeps: { shown_by: 'test/invoices/sweeper.test.ts' },
  event_streams: {
    by: 'event streams of an invoice',
    flood: async (side) => {
      const { invoice_id } = await createInvoice(side, attacker())
      return { requests: [get(`/api/invoice/${invoice_id}/events`, 'text/event-stream')], connections: 128 }
    },
  },
  invoice_documents: {
    by: 'PDF documents of an invoice',
    flood: async (side) => ({
      requests: [get(`/api/invoice/${(await createInvoice(side, attacker())).invoice_id}/pdf`, 'application/pdf')],
    }),
  },
  bank_statements: {
    by: 'bank statements of a merchant',
    flood: () => ({
      requests: [
        post('/api/invoice/statement', {
          document: statementOf([{ amount: '10.00', reference: 'RF18539007547034' }]),
          merchant: newMerchant().address,
        }),
      ],
    }),
  },
  webhook_subscriptions: {
    by: 'twelve subscriptions of each of forty invoices',
    flood: async (side) => ({ requests: await subscriptions(side) }),
  },
  webhook_receivers: { shown_by: 'test/attacks/webhooks.test.ts' },
  webhook_challenges: {
    by: 'subscriptions whose receivers have no address',
    flood: async (side) => ({ requests: await subscriptions(side) }),
  },
  webhook_deliveries: { shown_by: 'test/attacks/webhooks.test.ts' },
  directory_writes: {
    by: 'registrations of new underwriters',
    flood: async (side) => ({ requests: await registrations(side) }),
  },
  unproven_underwriters: {
    by: 'registrations of new underwriters that prove nothing',
    // The rate of the endpoint refuses an address first.
    refused: null,
    flood: async (side) => ({ requests: await registrations(side) }),
  },
  directory_pages: {
    by: 'pages of the directory of all sizes',
    flood: () => ({ requests: Array.from({ length: 100 }, (_, number) => get(`/api/insurance/register?limit=${number + 1}`)) }),
  },
} as const satisfies RowAttacks
