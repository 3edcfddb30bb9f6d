import type { Receipt } from '../../pure/receipts/receipt.ts'
import type { Tool } from '../catalogue/define.ts'
import { limits } from '../limits.ts'

/** Tools without a verdict whose `valid` is one. With the others it only says that there is an answer: they tell facts, or what became of something. */
const JUDGE_BY_VALID: ReadonlySet<unknown> = new Set(['iso20022-validate', 'iso20022-to-x402-intent', 'receipt-verify'])

/** The verdict in one word: the tool's own, else what `valid` says where it judges, else that it answered. */
export function verdictWord(result: Record<string, unknown>): BadgeVerdict {
  const verdict = result['verdict']
  if (verdict === 'valid' || verdict === 'invalid') return verdict
  if (verdict === 'well_formed_unverifiable') return 'unverifiable'
  if (result['valid'] === false) return 'invalid'
  return result['valid'] === true && JUDGE_BY_VALID.has(result['tool']) ? 'valid' : 'done'
}

/** The words that a badge may carry. */
export const BADGE_VERDICTS = ['valid', 'unverifiable', 'invalid', 'done'] as const
export type BadgeVerdict = (typeof BADGE_VERDICTS)[number]

export const VERDICT_TEXT: Record<BadgeVerdict, string> = {
  valid: 'valid',
  unverifiable: 'well formed, not verifiable',
  invalid: 'invalid',
  done: 'answered',
}

/** A Markdown image that links to the receipt, given as its JSON text; the image is drawn from its address alone. */
export function badgeMarkdown(site_url: string, tool: Tool, result: Record<string, unknown>, receipt_text: string, digest: string): string {
  const verdict = verdictWord(result)
  const image = `${site_url}/badge/${tool.id}/${verdict}/${digest}.svg`
  return `[![assay ${tool.id}: ${VERDICT_TEXT[verdict]}](${image})](${site_url}/verify#r=${Buffer.from(receipt_text).toString('base64url')})`
}

/** A few lines of Markdown that say what was found, by whom it is signed and what it does not say. The same parts give the same text. */
export function proofSummary(tool: Tool, result: Record<string, unknown>, receipt: Receipt, digest: string): string {
  const reason = typeof result['reason'] === 'string' ? ` ${escapeMarkdown(result['reason'])}` : ''
  const { title, not_checked } = wordsOf(tool)
  const lines = [
    `**${title}**: ${VERDICT_TEXT[verdictWord(result)]}.${reason}`,
    `- Tool \`${receipt.tool}\` ${receipt.tool_version}, ts ${receipt.ts}, tier ${receipt.tier}`,
    `- Receipt \`${digest}\``,
    `- Signed by \`${receipt.signer}\``,
    `- Not checked: ${not_checked}`,
  ]
  const text = lines.join('\n')
  return text.length < limits.proof_summary_chars ? text : `${text.slice(0, limits.proof_summary_chars - 2)}…`
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

/** Keeps text from being read as markup. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|#!]/g, '\\$&').replace(/\s+/g, ' ')
}
