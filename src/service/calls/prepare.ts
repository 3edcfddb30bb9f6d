import { canonicalText } from '../../pure/receipts/canonical.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { signLink } from '../../pure/receipts/chain.ts'
import { ZERO_ADDRESS } from '../../pure/receipts/receipt.ts'
import { signReceipt } from '../../pure/receipts/sign.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signer } from '../../ports/signer.ts'
import type { Tool } from '../catalogue/define.ts'
import type { Answer } from './outcome.ts'
import { badgeMarkdown, proofSummary } from './proof.ts'

/** What stamps an answer. */
export interface Stamp {
  signer: Signer
  crypto: ReceiptCrypto
  clock: Clock
  /** Address that paid calls pay; free receipts name it too. */
  recipient: string
  /** Origin of the pages that badges link to. */
  /** `site_url` is where badges link to. */
  origins: { readonly site_url: string }
  /** 32 random bytes as 0x-prefixed hex. */
  randomNonce(): string
}

type Prepared = Omit<Answer, 'settlement' | 'allowance'>

/** Hashes, signs and describes a result: everything that is in the answer but what it cost. `previous` is a receipt hash in lower case. */
export function prepare(
  stamp: Stamp,
  tool: Tool,
  input: Record<string, unknown>,
  result: Record<string, unknown>,
  previous: string | null,
): Prepared {
  const { crypto, signer } = stamp
  const result_text = canonicalText(result)
  const { receipt, digest } = signReceipt(
    {
      v: 'XDR-1',
      tool: tool.id,
      tool_version: tool.version,
      input_hash: crypto.keccak256Hex(canonicalText(input)),
      output_hash: crypto.keccak256Hex(result_text),
      payer: ZERO_ADDRESS,
      recipient: stamp.recipient,
      amount: '0',
      nonce: stamp.randomNonce(),
      ts: Math.floor(stamp.clock.now_ms() / 1000),
      tier: 'free',
    },
    signer,
    crypto,
  )
  const receipt_text = JSON.stringify(receipt)
  return {
    result,
    result_text,
    receipt,
    receipt_text,
    chain: previous === null ? null : signLink(digest, previous, signer, crypto),
    tier: 'free',
    embeddable_badge: badgeMarkdown(stamp.origins.site_url, tool, result, receipt_text, digest),
    proof_summary_markdown: proofSummary(tool, result, receipt, digest),
  }
}
