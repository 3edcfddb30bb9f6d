import { cutText } from '../../pure/cut-text.ts'
import type { Headline } from '../../pure/headline.ts'
import {
  type Receipt,
  type ReceiptBody,
  ZERO_ADDRESS,
  amountField,
  digestToSign,
  signedReceipt,
  type SignedReceipt,
} from '../../pure/receipts/receipt.ts'
import { notChecked } from '../catalogue/answer-view.ts'
import type { Tool } from '../catalogue/define.ts'
import { limits } from '../limits.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { encodeReceipt } from '../../pure/receipts/compact.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import { signLink } from '../../pure/receipts/chain.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signer, SigningQueue } from '../../ports/signer.ts'
import type { Answer } from './outcome.ts'
import { publicAllowance } from '../payments/allowance.ts'

/** A Markdown image that links to the receipt in its compact form; the image is drawn from its address alone. */
export function badgeMarkdown(site_url: string, tool: Tool, { word, code }: Headline, receipt: Receipt, digest: string): string {
  const compact = encodeReceipt(receipt)
  // A receipt of this service follows the grammar.
  if (!compact.ok) throw new Error(`The receipt has no compact form: ${compact.field ?? compact.code}.`)
  const image = `${site_url}/badge/${tool.id}/${code}/${digest}.svg`
  return `[![assay ${tool.id}: ${escapeMarkdown(word)}](${image})](${site_url}/verify#r=${compact.text})`
}

/** Returns a few lines of Markdown: the decision, who signed it and what it does not say. The same parts give the same text. */
export function proofSummary(
  tool: Tool,
  { word, sentence }: Headline,
  receipt: Receipt,
  digest: string,
  result: Readonly<Record<string, unknown>> = {},
): string {
  const { title, not_checked: usual } = wordsOf(tool)
  // The answer of a register settles what the tool alone does not check.
  const not_checked = result['register'] === undefined ? usual : escapeMarkdown(notChecked(tool, result).join('; '))
  const lines = [
    `**${escapeMarkdown(word)}**${sentence === '' ? '' : `: ${escapeMarkdown(cut(sentence))}`}`,
    `- ${title}: tool \`${receipt.tool}\` ${receipt.tool_version}, ts ${receipt.ts}, tier ${receipt.tier}`,
    `- Receipt \`${digest}\``,
    `- Signed by \`${receipt.signer}\``,
    `- Not checked: ${not_checked}`,
  ]
  const text = lines.join('\n')
  return cutText(text, limits.proof_summary_chars - 1)
}

const escaped = new WeakMap<Tool, { title: string; not_checked: string }>()

/** A tool's own words as Markdown, escaped once. */
function wordsOf(tool: Tool): { title: string; not_checked: string } {
  const known = escaped.get(tool)
  if (known !== undefined) return known
  const words = { title: escapeMarkdown(tool.title), not_checked: escapeMarkdown(tool.scope.not_checked.join('; ')) }
  escaped.set(tool, words)
  return words
}

/** Cuts a sentence, so that a long one leaves room for receipt and signer. */
function cut(sentence: string): string {
  return cutText(sentence, limits.proof_sentence_chars)
}

/** Keeps text from being read as markup. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|#!]/g, '\\$&').replace(/\s+/g, ' ')
}

/** Parts with which receipts are issued. */
export interface ReceiptIssuer {
  signer: Signer
  /** Signs many receipts at a time; null signs each where it is made. */
  queue: SigningQueue | null
  /** Takes every receipt to the public log; null where none is kept. */
  log: { add(digest: string, signature: string): void } | null
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

/** Payer, amount and authorization of a receipt; in the receipt of a free call the payer is the zero address. */
interface Payer {
  payer: string
  /** Price in minor units of USDC. */
  amount_minor: bigint
  /** Token other than USDC that paid it. */
  token?: { asset: string; amount_minor: bigint }
  nonce: string
}

/** Returns the amount as the receipt has it. */
function paidAmount({ amount_minor: price_minor, token }: Payer): string {
  return amountField({ asset: token?.asset ?? null, amount_minor: token?.amount_minor ?? price_minor, price_minor })
}

/** Tool and input that a result belongs to. */
interface Asked {
  tool: Tool
  input_hash: string
  /** Digest of the receipt before, in lower case. */
  previous: string | null
}

interface Draft {
  result_text: string
  body: ReceiptBody
  digest: Uint8Array
}

/** Hashes, signs and describes a result: everything that is in the answer but what is left of the allowance. */
export function prepare(stamp: ReceiptIssuer, asked: Asked, result: Record<string, unknown>, paid: Payer | null): Prepared {
  const draft = drafted(stamp, asked, result, paid)
  return described(stamp, asked, result, draft, stamp.signer.sign(draft.digest))
}

/** The same, with the signature out of the queue. */
export async function prepareQueued(
  stamp: ReceiptIssuer,
  asked: Asked,
  result: Record<string, unknown>,
  paid: Payer | null,
): Promise<Prepared> {
  if (stamp.queue === null) return prepare(stamp, asked, result, paid)
  const draft = drafted(stamp, asked, result, paid)
  return described(stamp, asked, result, draft, await stamp.queue.sign(draft.digest))
}

function drafted(stamp: ReceiptIssuer, { tool, input_hash }: Asked, result: Record<string, unknown>, paid: Payer | null): Draft {
  const { crypto } = stamp
  const result_text = canonicalText(result)
  const body: ReceiptBody = {
    v: 'XDR-1',
    tool: tool.id,
    tool_version: tool.version,
    input_hash,
    output_hash: crypto.keccak256Hex(result_text),
    payer: paid?.payer ?? ZERO_ADDRESS,
    recipient: stamp.recipient,
    amount: paid === null ? '0' : paidAmount(paid),
    nonce: paid?.nonce ?? stamp.randomNonce(),
    ts: Math.floor(stamp.clock.now_ms() / 1000),
    tier: paid === null ? 'free' : 'paid',
  }
  return { result_text, body, digest: digestToSign(body, crypto) }
}

function described(
  stamp: ReceiptIssuer,
  { tool, previous }: Asked,
  result: Record<string, unknown>,
  draft: Draft,
  signature: string,
): Prepared {
  const { crypto, signer } = stamp
  const { receipt, digest }: SignedReceipt = signedReceipt(draft.body, draft.digest, signer.address, signature)
  // A tool that is free without limit would let anybody fill the log.
  if (tool.price !== 'free') stamp.log?.add(digest, receipt.signature)
  const receipt_text = JSON.stringify(receipt)
  const headline = tool.headline(result)
  return {
    result,
    result_text: draft.result_text,
    receipt,
    receipt_text,
    chain: previous === null ? null : signLink(digest, previous, signer, crypto),
    tier: receipt.tier,
    embeddable_badge: badgeMarkdown(stamp.origins.site_url, tool, headline, receipt, digest),
    proof_summary_markdown: proofSummary(tool, headline, receipt, digest, result),
  }
}

/** Hash of the input, used in receipts and in the binding of a payment to a request. */
export function inputHash({ crypto }: Pick<ReceiptIssuer, 'crypto'>, input: Record<string, unknown>): string {
  return crypto.keccak256Hex(canonicalText(input))
}

/** The text around the place of the settlement, which is known last. */
interface SplitAnswer {
  head: string
  tail: string
}

/** The answer as JSON text but for its settlement. The result goes in as the very text that its receipt covers, so that it is written once. */
export function splitAnswer(answer: Answer): SplitAnswer {
  const { result_text, receipt_text, chain, tier, allowance, unwrapped = false, embeddable_badge, proof_summary_markdown } = answer
  // token-contract-risk answers unwrapped, and its result already has a member `chain`.
  const link = chain === null ? '' : `,"${unwrapped ? 'receipt_chain' : 'chain'}":${JSON.stringify(chain)}`
  const members = { allowance: allowance && publicAllowance(allowance), embeddable_badge, proof_summary_markdown }
  return {
    head: `${unwrapped ? result_text.slice(0, -1) : `{"result":${result_text}`},"receipt":${receipt_text}${link},"tier":"${tier}","settlement":`,
    tail: `,${JSON.stringify(members).slice(1)}`,
  }
}

/** Text of an answer that was not paid on the chain. */
export function answerText(answer: Answer): string {
  const { head, tail } = splitAnswer(answer)
  return `${head}null${tail}`
}
