/** Invoices with bank details, and statements that confirm their transfers, over HTTP with wallets of viem. */
import assert from 'node:assert/strict'
import type { TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Booking } from './invoice-statements.ts'
import { invoiceUrl, send, type InvoiceShown } from './invoicing.ts'
import type { World } from './paying-world.ts'

// Examples of the IBAN registry (release 99), ISO 9362 and ISO 11649.
export const IBAN = 'DE89370400440532013000'
export const BANK = { iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX', name: 'Example GmbH', currency: 'EUR', amount: '45' }
export const EUR = (booking: Booking): Booking => ({ currency: 'EUR', name: 'N1', ...booking })

interface Coordinates {
  reference: string
  amount: string
  epc_payload: string | null
  signed: boolean
}
export const coordinates = ({ bank_coordinates }: Record<string, unknown>) => bank_coordinates as Coordinates

/** Signs what an answer asks for, and returns the changed body. */
export async function signedBody(answer: Record<string, unknown>, merchant: PrivateKeyAccount): Promise<Record<string, unknown>> {
  const { typed_data, submit } = answer['sign'] as { typed_data: TypedDataDefinition; submit: { body: Record<string, unknown> } }
  const signature = await merchant.signTypedData(typed_data)
  return JSON.parse(JSON.stringify(submit.body).replaceAll('{signature}', signature)) as Record<string, unknown>
}

export const create = (world: World, body: Record<string, unknown>) =>
  send(`${world.url}/api/invoice/create`, { amountUsdc: '49', ...body })

/** An invoice with bank details, which the merchant has signed. */
export async function banked(
  world: World,
  merchant: PrivateKeyAccount,
  bank: Record<string, unknown> = {},
  amountUsdc = '49',
): Promise<InvoiceShown> {
  const { body, status, text } = await create(world, { amountUsdc, merchant: merchant.address, bank: { ...BANK, ...bank } })
  assert.equal(status, 201, text)
  const signed = await send(`${invoiceUrl(world, body as InvoiceShown)}/sign`, await signedBody(body, merchant))
  assert.equal(signed.status, 200, signed.text)
  return signed.body as InvoiceShown
}

export async function upload(world: World, document: string, merchant: PrivateKeyAccount) {
  const asked = { document, merchant: merchant.address }
  const first = await send(`${world.url}/api/invoice/statement`, asked)
  assert.equal(first.status, 403, first.text)
  return send(`${world.url}/api/invoice/statement`, { ...asked, ...(await signedBody(first.body, merchant)) })
}

interface Found {
  invoice_id: string
  outcome: string
  received: string | null
  delta: string | null
}
export const outcomes = ({ body }: { body: Record<string, unknown> }) => (body['invoices'] as Found[]).map(({ outcome }) => outcome)
export const read = async (world: World, invoice: InvoiceShown) => (await send(invoiceUrl(world, invoice))).body as InvoiceShown
