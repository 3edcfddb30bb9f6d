import { cutText } from '../../pure/cut-text.ts'
import { isObject } from '../../pure/is-object.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import { type Receipt, receiptDigest } from '../../pure/receipts/receipt.ts'
import { arrangeFacts, viewAnswer } from './answer-view.ts'
import type { Tool } from './define.ts'
import { checkHeadline } from './headlines.ts'
import type { JsonSchema } from './wire-schemas.ts'

/** Levels of detail of the text that a model reads. */
export const DETAILS = ['brief', 'standard', 'full'] as const
export type Detail = (typeof DETAILS)[number]

/** Members of an answer that its brief form is made from. */
export interface BriefParts {
  result: Readonly<Record<string, unknown>>
  receipt: Receipt
  settlement: unknown
  /** Null for tools that are free without limit. */
  allowance: { remaining: number; limit: number } | null
}

const MOST_REMARKS = 3
const MOST_FACTS = 5
const MOST_CHECKS = 8
const LINE_CHARS = 125
/** Facts are shown whole or left out: half an address is of no use. */
const FACTS_CHARS = 150

/**
 * Brief form of an answer for models, a few lines: decision and reason, checked value, remarks, checks and facts in the order of the tool's
 * schema, what was not checked, price, remaining free calls, receipt digest and hash of the whole result.
 */
export function briefText(tool: Tool, output: JsonSchema | undefined, { result, receipt, settlement, allowance }: BriefParts): string {
  const headlineOf = (one: Readonly<Record<string, unknown>>) => (one === result ? tool.headline(one) : checkHeadline(one))
  const view = viewAnswer(result, headlineOf)
  const { reasons, advice, checks, key_facts } = arrangeFacts(view, fieldOrder(output), checkHeadline)
  const { word, sentence } = view.headline
  const remarks = [...view.findings, ...view.warnings].map(({ message }) => message).filter((message) => message !== sentence)
  const lines = [
    sentence === '' ? word : `${word}: ${sentence}`,
    view.value === null ? '' : `Value: ${view.value}`,
    view.suggestion === null ? '' : `Suggestion (do not pay it unasked): ${view.suggestion}`,
    ...[...remarks, ...reasons.map(({ message }) => message)].slice(0, MOST_REMARKS).map((message) => `- ${message}`),
    ...[...view.items, ...checks].slice(0, MOST_CHECKS).map(checkLine),
    ...advice.slice(0, 1).map((message) => `Next: ${message}`),
  ]
  const limits = [
    `Not checked: ${tool.scope.not_checked.join('; ')}`,
    `${priceText(receipt, settlement)}${allowance === null ? '' : `; ${allowance.remaining} of ${allowance.limit} free calls left today`}`,
  ]
  const proof = `Receipt 0x${Buffer.from(receiptDigest(receipt)).toString('hex')}, output_hash ${receipt.output_hash}`
  const cut = (texts: string[]) => texts.map((text) => cutText(text, LINE_CHARS))
  return [...cut(lines), factsLine(key_facts), ...cut(limits), proof].filter((line) => line !== '').join('\n')
}

function checkLine({ index, value, headline, sentence }: ReturnType<typeof viewAnswer>['items'][number]): string {
  const name = [index, value].filter((part) => part !== '').join(' ')
  return `- ${name}: ${headline === null ? sentence : headline.word}`
}

function factsLine(facts: readonly (readonly [string, unknown])[]): string {
  return facts.slice(0, MOST_FACTS).reduce((line, [label, value]) => {
    const longer = `${line === '' ? '' : `${line}; `}${label}: ${Array.isArray(value) ? value.join(', ') : String(value)}`
    return longer.length > FACTS_CHARS ? line : longer
  }, '')
}

function priceText({ tier, amount }: Receipt, settlement: unknown): string {
  if (tier === 'paid') return `Paid ${usdcText(BigInt(amount))}`
  const method = isObject(settlement) ? settlement['method'] : null
  return method === 'credit' ? 'Paid from the credit' : 'Price: free'
}

/** Names of the fields in the order of the schema, those of `facts` first. */
function fieldOrder(output: JsonSchema | undefined): string[] {
  const own = propertiesOf(output)
  const facts = own['facts']
  const forms = isObject(facts) && Array.isArray(facts['anyOf']) ? (facts['anyOf'] as unknown[]) : [facts]
  return [...forms.flatMap((form) => Object.keys(propertiesOf(form))), ...Object.keys(own)]
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  return isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
}
