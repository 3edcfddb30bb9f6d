import { cutText } from '../../pure/cut-text.ts'
import type { Headline } from '../../pure/headline.ts'
import type { Receipt } from '../../pure/receipts/receipt.ts'
import type { Tool } from '../catalogue/define.ts'
import { limits } from '../limits.ts'

/** A Markdown image that links to the receipt, given as its JSON text; the image is drawn from its address alone. */
export function badgeMarkdown(site_url: string, tool: Tool, { word, code }: Headline, receipt_text: string, digest: string): string {
  const image = `${site_url}/badge/${tool.id}/${code}/${digest}.svg`
  return `[![assay ${tool.id}: ${escapeMarkdown(word)}](${image})](${site_url}/verify#r=${Buffer.from(receipt_text).toString('base64url')})`
}

/** Returns a few lines of Markdown: the decision, who signed it and what it does not say. The same parts give the same text. */
export function proofSummary(tool: Tool, { word, sentence }: Headline, receipt: Receipt, digest: string): string {
  const { title, not_checked } = wordsOf(tool)
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
