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
  /** `site_url` is where badges link to. */
  origins: { readonly site_url: string }
  /** 32 random bytes as 0x-prefixed hex. */
  randomNonce(): string
}

type Prepared = Omit<Answer, 'allowance'>

/** Who pays how much with which authorization; in the receipt of a free call nobody does. */
export interface Payer {
  payer: string
  amount_minor: bigint
  nonce: string
}

/** What a result answers. */
export interface Asked {
  tool: Tool
  input_hash: string
  /** Digest of the receipt before, in lower case. */
  previous: string | null
}

/** Hashes, signs and describes a result: everything that is in the answer but what is left of the allowance. */
export function prepare(
  stamp: Stamp,
  { tool, input_hash, previous }: Asked,
  result: Record<string, unknown>,
  paid: Payer | null,
): Prepared {
  const { crypto, signer } = stamp
  const result_text = canonicalText(result)
  const { receipt, digest } = signReceipt(
    {
      v: 'XDR-1',
      tool: tool.id,
      tool_version: tool.version,
      input_hash,
      output_hash: crypto.keccak256Hex(result_text),
      payer: paid?.payer ?? ZERO_ADDRESS,
      recipient: stamp.recipient,
      amount: paid === null ? '0' : paid.amount_minor.toString(),
      nonce: paid?.nonce ?? stamp.randomNonce(),
      ts: Math.floor(stamp.clock.now_ms() / 1000),
      tier: paid === null ? 'free' : 'paid',
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
    tier: paid === null ? 'free' : 'paid',
    embeddable_badge: badgeMarkdown(stamp.origins.site_url, tool, result, receipt_text, digest),
    proof_summary_markdown: proofSummary(tool, result, receipt, digest),
  }
}

/** What receipts and bindings know an input by. */
export function inputHash({ crypto }: Pick<Stamp, 'crypto'>, input: Record<string, unknown>): string {
  return crypto.keccak256Hex(canonicalText(input))
}
