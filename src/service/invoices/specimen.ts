import type { StoredInvoice } from '../../ports/invoices.ts'
import { FEE_POLICY, FEE_POLICY_HASH } from '../../pure/invoices/fee.ts'
import { cartHash, termsText } from '../../pure/invoices/terms.ts'

/** An id that is known everywhere, so that examples run: a void invoice, which nobody can pay. */
export const SPECIMEN_ID = 'inv_000000000000'

const CREATED_S = 1_795_219_200
const NOBODY = '0x000000000000000000000000000000000000dead'

export function specimen(chain_id: number, token: string): StoredInvoice {
  const cart = { merchant: NOBODY, amount_minor: '1000000', memo: 'A specimen. Do not pay it.', client_name: null, chain_id, token }
  const terms = termsText({
    v: 1,
    invoice_id: SPECIMEN_ID,
    ...cart,
    referrer: null,
    product: null,
    created_s: CREATED_S,
    expires_s: CREATED_S,
    salt: `0x${'0'.repeat(64)}`,
    cart_hash: cartHash(cart),
    fee_policy_version: FEE_POLICY.version,
    fee_policy_hash: FEE_POLICY_HASH,
  })
  const times = { created_ms: CREATED_S * 1_000, voided_ms: CREATED_S * 1_000, updated_ms: CREATED_S * 1_000, expires_s: CREATED_S }
  const signatures = { issue_signature: null, void_signature: null }
  return { invoice_id: SPECIMEN_ID, merchant: NOBODY, amount_minor: 1_000_000n, terms, ...times, ...signatures, closed: true, marks: '' }
}
