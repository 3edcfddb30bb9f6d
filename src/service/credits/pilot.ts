import type { Clock } from '../../ports/clock.ts'
import type { CreditStore } from '../../ports/credits.ts'
import type { Derivation } from '../../ports/derivation.ts'
import { creditCode } from '../../pure/credits/code.ts'
import { releaseDigest, releasedBy, releaseText } from '../../pure/credits/release.ts'
import { PILOT_CALLS, PILOT_MINOR } from '../../pure/invoices/record.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { ContractSignatures } from '../invoices/contract-signature.ts'
import { notFound, type InvoiceDesk } from '../invoices/desk.ts'
import type { InvoiceView } from '../invoices/view.ts'
import type { OutsideReads } from '../payments/outside-reads.ts'
import { problem, type Problem } from '../problems.ts'
import { creditHash } from './desk.ts'

export interface PilotParts {
  invoices: Pick<InvoiceDesk, 'read' | 'look'>
  store: Pick<CreditStore, 'grant'>
  derive: Derivation
  crypto: Pick<ReceiptCrypto, 'keccak256' | 'recover'>
  clock: Clock
  chain_id: number
  /** Asks payers that are contracts; null where there is no chain to ask. */
  contracts: ContractSignatures | null
  /** Budget of the reads for requests without a payment. */
  reads: OutsideReads
}

export type PilotReleased = { ok: true; code: string; calls: number } | { ok: false; problem: Problem }

/**
 * The calls that a settled pilot invoice bought, as a credit code for the account that paid most of it. The code follows from the invoice
 * under the deployment's secret: who paid may ask for it again, and it is granted once. What was sold is given whatever the settings say now.
 */
export async function releasePilot(parts: PilotParts, invoice_id: string, signature: string, client: string): Promise<PilotReleased> {
  const stored = await parts.invoices.read(invoice_id)
  if (stored === null || stored.terms.product !== 'ap2_pilot') return { ok: false, problem: notFound() }
  const taken = await parts.reads.take(client, 'CREDIT_RATE_LIMITED')
  if (!taken.ok) return { ok: false, problem: taken.problem }
  const view = (await parts.invoices.look(invoice_id)) ?? stored
  if (view.standing.status !== 'SETTLED') {
    const detail = `The invoice is ${view.standing.status}; it is worth its calls once it is settled.`
    return { ok: false, problem: problem('CREDIT_NOT_DUE', detail, { retry_after_s: 10 }) }
  }
  const unsigned = await signatureFault(parts, invoice_id, payerOf(view), signature, client)
  if (unsigned !== null) return { ok: false, problem: unsigned }
  const code = creditCode(parts.derive.hmac('pilot credit', invoice_id).slice(0, 40))
  const granted = { unit: 'calls', unit_minor: PILOT_MINOR / BigInt(PILOT_CALLS), granted: BigInt(PILOT_CALLS) } as const
  await parts.store.grant(creditHash(parts.derive, code), { ...granted, created_ms: parts.clock.now_ms() })
  return { ok: true, code, calls: PILOT_CALLS }
}

/** Null when the payer signed it: an account by its key, a contract wallet by its own word on the chain (ERC-1271). */
async function signatureFault(
  parts: PilotParts,
  invoice_id: string,
  payer: string | null,
  signature: string,
  client: string,
): Promise<Problem | null> {
  const { chain_id, crypto, contracts } = parts
  const wrong = problem(
    'CREDIT_RELEASE_INVALID',
    `Sign as a plain message, with the account that paid: ${releaseText(invoice_id, chain_id)}`,
  )
  if (payer === null) return wrong
  const signer = releasedBy(invoice_id, chain_id, signature, crypto)
  if (signer === payer) return null
  if (contracts === null) return wrong
  const digest = releaseDigest(invoice_id, chain_id, crypto)
  return contracts.refusal({ wallet: payer, digest, signature, client, wrong, rate_code: 'CREDIT_RATE_LIMITED' })
}

/**
 * Who paid most of it; of two who paid alike, the one who came first. What came after it was paid is not counted: nobody takes the calls from
 * the payer by sending more.
 */
function payerOf({ payments, terms }: InvoiceView): string | null {
  const paid = new Map<string, bigint>()
  let left = BigInt(terms.amount_minor)
  const ordered = payments.toSorted((one, other) => one.block_number - other.block_number || one.log_index - other.log_index)
  for (const { payer, amount_minor } of ordered) {
    const counted = amount_minor < left ? amount_minor : left
    paid.set(payer, (paid.get(payer) ?? 0n) + counted)
    left -= counted
  }
  let most: { payer: string; amount_minor: bigint } | null = null
  for (const [payer, amount_minor] of paid) if (most === null || amount_minor > most.amount_minor) most = { payer, amount_minor }
  return most?.payer ?? null
}
