/**
 * Whether an answer is what its receipt says: signed by a key of the service, over this input, this result and this payment, and linked to
 * the receipt before. It says nothing of whether the result is true.
 */
import { verifyLink } from '../pure/receipts/chain.ts'
import type { KeyList } from '../pure/receipts/keys.ts'
import { valueHash, ZERO_ADDRESS, type Receipt } from '../pure/receipts/receipt.ts'
import { verifyReceipt, type ReceiptVerdict } from '../pure/receipts/verify.ts'
import type { AnswerBody } from './answer.ts'
import type { Payment } from './payment.ts'
import type { Check, Verification } from './proof.ts'
import { ANY_CHAIN } from './service-facts.ts'

/** What was sent, as the answer must agree with it. */
export interface Sending {
  tool: string
  input_hash: string
  previous_receipt: string | null
  payment: Payment | null
}

/** Never throws, whatever the answer holds. */
export function verifyAnswer(body: AnswerBody<object>, sent: Sending, keys: KeyList): Verification {
  const receipt = verifyReceipt(body.receipt, keys)
  // An answer that was kept may hold anything, and no receipt at all.
  const { tool, input_hash }: Partial<Receipt> = { ...body.receipt }
  const checks: Check[] = [
    { name: 'signature', ok: receipt.valid, words: receipt.reason },
    keyCheck(receipt, sent.payment, keys),
    check('tool', tool === sent.tool, 'The receipt names the tool that was called.', 'The receipt is of another tool.'),
    check('input', input_hash === sent.input_hash, 'The receipt covers the input as it was sent.', 'The receipt covers another input.'),
    check('result', isCovered(body), 'The receipt covers the result as it came.', 'The receipt covers another result.'),
    paymentCheck(body, sent.payment),
    settlementCheck(body, sent.payment),
    linkCheck(body, receipt, sent.previous_receipt),
  ]
  return { ok: checks.every(({ ok }) => ok), checks, receipt }
}

function keyCheck(
  { signer_published, signer_valid_at_ts, signer_recovered }: ReceiptVerdict,
  payment: Payment | null,
  keys: KeyList,
): Check {
  const good = signer_published === true && signer_valid_at_ts === true
  const chains = keys.filter(({ address }) => address === signer_recovered).map(({ chain_id }) => chain_id)
  const here = payment === null || chains.some((chain_id) => chain_id === ANY_CHAIN || chain_id === payment.chain_id)
  return check('key', good && here, 'The key is published, and was good at that time.', 'The key is not one of the service for this.')
}

function isCovered({ result, receipt }: AnswerBody<object>): boolean {
  try {
    return valueHash(result) === receipt.output_hash
  } catch {
    // A result without canonical text is covered by no hash.
    return false
  }
}

function paymentCheck({ receipt, tier }: AnswerBody<object>, payment: Payment | null): Check {
  const wanted =
    payment === null
      ? { tier: 'free', payer: ZERO_ADDRESS, amount: '0' }
      : { tier: 'paid', payer: payment.payer, amount: payment.amount_minor, nonce: payment.nonce, recipient: payment.pay_to }
  const told: Record<string, unknown> = { ...receipt }
  const ok = tier === wanted.tier && Object.entries(wanted).every(([name, value]) => told[name] === value)
  return check('payment', ok, 'The receipt names what was paid, and by whom.', 'The receipt names another payment.')
}

function settlementCheck({ settlement }: AnswerBody<object>, payment: Payment | null): Check {
  const ok =
    payment === null
      ? settlement === null
      : settlement !== null &&
        settlement.network === `eip155:${payment.chain_id}` &&
        settlement.payer === payment.payer &&
        settlement.amount_minor === payment.amount_minor &&
        /^0x[0-9a-f]{64}$/.test(settlement.transaction ?? '')
  return check('settlement', ok, 'The settlement is that of this payment.', 'The settlement is not that of this payment.')
}

function linkCheck({ chain }: AnswerBody<object>, { digest, signer_recovered }: ReceiptVerdict, previous: string | null): Check {
  if (previous === null) {
    return check('link', chain === null, 'No receipt before was named.', 'The answer links a receipt that nobody named.')
  }
  const linked = chain !== null && chain.prev_receipt_hash === previous && digest !== null && signer_recovered !== null
  const ok = linked && verifyLink(chain, digest, signer_recovered).valid
  return check('link', ok, 'The key of the receipt has linked it to the one before.', 'The link to the receipt before is missing or wrong.')
}

function check(name: Check['name'], ok: boolean, good: string, bad: string): Check {
  return { name, ok, words: ok ? good : bad }
}
