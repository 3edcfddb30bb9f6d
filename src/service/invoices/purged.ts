import type { InvoiceStore, PurgedInvoice } from '../../ports/invoices.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { DEPOSIT_FACTORY, depositAddress, sweepCall } from '../../pure/contracts/deployment.ts'
import { instant } from '../../pure/invoices/instant.ts'
import { INVOICE_ID } from '../../pure/invoices/terms.ts'
import type { Job } from '../jobs/jobs.ts'
import { INVOICE_RULES } from '../limits.ts'
import { problem, type Problem } from '../problems.ts'
import { notFound } from './merchant-signature.ts'

/** Invoices that expired unpaid and were deleted. Their deposit addresses still pay their merchants; any account can send the transaction for it. */

const DAY_MS = 86_400_000
const PURGE_EVERY_MS = 600_000

/** Deletes unpaid invoices when the watch of their transfers is over, 30 days after they expired. */
export function purgeInvoicesJob(invoices: Pick<InvoiceStore, 'purge_unpaid'>): Job {
  const { purged_kept_days, purged_together } = INVOICE_RULES
  return {
    name: 'purge-invoices',
    every_ms: PURGE_EVERY_MS,
    run: async (now_ms) => void (await invoices.purge_unpaid(now_ms, now_ms - purged_kept_days * DAY_MS, purged_together)),
  }
}

/** The problem of an id without an invoice: it expired and was deleted, or there was none. */
export async function absentInvoice(invoices: Pick<InvoiceStore, 'purged'>, token: string, invoice_id: string): Promise<Problem> {
  const purged = INVOICE_ID.test(invoice_id) ? await invoices.purged(invoice_id) : null
  return purged === null ? notFound() : gone(purged, token)
}

const shown = (address: string) => readEvmAddress(address)?.checksummed ?? address

function gone({ invoice_id, merchant, expires_s }: PurgedInvoice, token: string): Problem {
  const address = shown(depositAddress({ invoice_id, merchant }))
  const expired_at = instant(expires_s)
  const detail =
    `This invoice expired at ${expired_at}. No payment of it was seen until 30 days later, when it was deleted. Do not pay it: ask the merchant for a ` +
    `new one. USDC sent to its deposit address ${address} since then is not lost: the address can only pay the merchant ${shown(merchant)}, and anyone ` +
    'can send the transaction in deposit.sweep that does so.'
  const deposit = {
    address,
    factory: DEPOSIT_FACTORY.address,
    sweep: { to: DEPOSIT_FACTORY.address, data: sweepCall(token, [{ invoice_id, merchant }]) },
  }
  return problem('INVOICE_GONE', detail, { extra: { expired_at, merchant: shown(merchant), deposit } })
}
