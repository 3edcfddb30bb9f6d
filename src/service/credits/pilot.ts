import type { Clock } from '../../ports/clock.ts'
import type { CreditStore } from '../../ports/credits.ts'
import type { Derivation } from '../../ports/derivation.ts'
import { creditCode } from '../../pure/credits/code.ts'
import { releasedBy, releaseText } from '../../pure/credits/release.ts'
import { PILOT_CALLS, PILOT_MINOR } from '../../pure/invoices/record.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { notFound, type InvoiceDesk } from '../invoices/desk.ts'
import type { InvoiceView } from '../invoices/view.ts'
import { problem, type Problem } from '../problems.ts'
import { creditHash } from './desk.ts'

export interface PilotParts {
  invoices: Pick<InvoiceDesk, 'look'>
  store: Pick<CreditStore, 'grant'>
  derive: Derivation
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'recover'>
  clock: Clock
  chain_id: number
}

export type PilotReleased = { ok: true; code: string; calls: number } | { ok: false; problem: Problem }

/**
 * The calls that a settled pilot invoice bought, as a credit code for the account that paid most of it. The code follows from the invoice
 * under the deployment's secret: who paid may ask for it again, and it is granted once. What was sold is given whatever the settings say now.
 */
export async function releasePilot(parts: PilotParts, invoice_id: string, signature: string): Promise<PilotReleased> {
  const view = await parts.invoices.look(invoice_id)
  if (view === null || view.terms.product !== 'ap2_pilot') return { ok: false, problem: notFound() }
  if (view.standing.status !== 'SETTLED') {
    const detail = `The invoice is ${view.standing.status}; it is worth its calls once it is settled.`
    return { ok: false, problem: problem('CREDIT_NOT_DUE', detail, { retry_after_s: 10 }) }
  }
  const signer = releasedBy(invoice_id, parts.chain_id, signature, parts.crypto)
  if (signer === null || signer !== payerOf(view)) {
    const detail = `Sign as a plain message, with the account that paid: ${releaseText(invoice_id, parts.chain_id)}`
    return { ok: false, problem: problem('CREDIT_RELEASE_INVALID', detail) }
  }
  const code = creditCode(parts.derive.hmac('pilot credit', invoice_id).slice(0, 40))
  const granted = { unit: 'calls', unit_minor: PILOT_MINOR / BigInt(PILOT_CALLS), granted: BigInt(PILOT_CALLS) } as const
  await parts.store.grant(creditHash(parts.derive, code), { ...granted, created_ms: parts.clock.now_ms() })
  return { ok: true, code, calls: PILOT_CALLS }
}

/** Who paid most of it; of two who paid alike, the one who came first. */
function payerOf({ payments }: InvoiceView): string | null {
  const paid = new Map<string, bigint>()
  for (const { payer, amount_minor } of payments) paid.set(payer, (paid.get(payer) ?? 0n) + amount_minor)
  let most: { payer: string; amount_minor: bigint } | null = null
  for (const [payer, amount_minor] of paid) if (most === null || amount_minor > most.amount_minor) most = { payer, amount_minor }
  return most?.payer ?? null
}
