/** Pages of the site as a visitor sees them, for tests, measurements and screenshots. */

const MERCHANT = `0x${'0'.repeat(32)}a11ce0bb`

/** Paths of pages that need nothing but a running service. */
export const SITE_PATHS = [
  '/',
  '/?q=iban',
  '/tools/iban-check',
  '/tools/iso20022-validate',
  '/verify',
  '/preflight',
  '/reconcile',
  '/merchant',
  '/credits',
  '/credits/done',
  '/docs',
  '/docs/reference',
  '/status',
  '/problems',
  '/problems/PAYMENT_REQUIRED',
  '/nowhere',
] as const

/** Bank details of an invoice, with the IBAN of the registry's example. */
export const BANK_DETAILS = { name: 'Example GmbH', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX', currency: 'EUR', amount: '45.00' }

/** Issues an invoice and returns the path of its checkout. */
export async function checkoutPath(url: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const body = JSON.stringify({ amountUsdc: '49', merchant: MERCHANT, clientName: 'Example GmbH', memo: 'Annual licence 2027', ...more })
  const response = await fetch(`${url}/api/invoice/create`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (response.status !== 201) throw new Error(await response.text())
  return `/pay/${((await response.json()) as { invoice_id: string }).invoice_id}`
}
