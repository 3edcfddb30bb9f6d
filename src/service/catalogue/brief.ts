import { cutText } from '../../pure/cut-text.ts'
import { isObject } from '../../pure/is-object.ts'
import { currencyOf } from '../../pure/networks.ts'
import { usdcText } from '../../pure/payments/usdc.ts'
import { resultIn } from '../../pure/receipts/chain.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { readAmount, type Receipt, receiptDigest } from '../../pure/receipts/receipt.ts'
import { type AllowanceState, publicAllowance } from '../payments/allowance.ts'
import { arrangeFacts, labelOf, notChecked, viewAnswer, type ItemView } from './answer-view.ts'
import type { Tool } from './define.ts'
import { checkHeadline } from './headlines.ts'
import type { JsonSchema } from './wire-schemas.ts'

/** Levels of detail of an answer. */
export const DETAILS = ['brief', 'standard', 'full'] as const
export type Detail = (typeof DETAILS)[number]

/** Members of an answer that its brief form is made from. */
export interface BriefParts {
  result: Readonly<Record<string, unknown>>
  receipt: Receipt
  settlement: unknown
  /** Null for tools that are free without limit. */
  allowance: Pick<AllowanceState, 'limit' | 'remaining' | 'resets_at'> | null
}

/** Reads the parts out of the text of an answer, also of one with the members of the result at top level. */
export function readBriefParts(answer_text: string): BriefParts {
  const answer = JSON.parse(answer_text) as Record<string, unknown> & BriefParts
  return { ...answer, result: resultIn(answer) as BriefParts['result'] }
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
export function briefText(tool: Tool, output: JsonSchema | undefined, parts: BriefParts): string {
  const { receipt, settlement, allowance } = parts
  const { headline, value, suggestion, remarks, checks, next, facts, not_checked } = extract(tool, output, parts)
  const left = allowance === null ? '' : `; ${allowance.remaining} of ${allowance.limit} free calls left today`
  const lines = [
    headline.sentence === '' ? headline.word : `${headline.word}: ${headline.sentence}`,
    value === null ? '' : `Value: ${value}`,
    suggestion === null ? '' : `Suggestion (do not pay it unasked): ${suggestion}`,
    ...remarks.map((message) => `- ${message}`),
    ...checks.map(({ name, result }) => `- ${name}: ${result}`),
    next === null ? '' : `Next: ${next}`,
  ]
  const limits = [`Not checked: ${not_checked}`, `${priceText(receipt, settlement)}${left}`]
  const proof = `Receipt ${toHex(receiptDigest(receipt))}, output_hash ${receipt.output_hash}`
  const cut = (texts: string[]) => texts.map((text) => cutText(text, LINE_CHARS))
  return [...cut(lines), facts.map(factText).join('; '), ...cut(limits), proof].filter((line) => line !== '').join('\n')
}

/**
 * The same as JSON, for REST and A2A; members without content are left out, except those that the schema requires. `answer_url` brings the
 * whole answer; null where it is not stored.
 */
export function briefJson(tool: Tool, output: JsonSchema | undefined, parts: BriefParts, answer_url: string | null): string {
  const { receipt, settlement, allowance } = parts
  const { headline, value, suggestion, remarks, checks, next, facts, not_checked } = extract(tool, output, parts)
  const { word, tone, sentence } = headline
  const cut = (text: string) => cutText(text, LINE_CHARS)
  return JSON.stringify({
    detail: 'brief',
    tool: receipt.tool,
    headline: { word, tone, sentence: cut(sentence) },
    reason_code: textOf(parts.result['reason_code']),
    value: value === null ? null : cut(value),
    ...(suggestion === null ? {} : { suggestion: cut(suggestion) }),
    ...(remarks.length === 0 ? {} : { remarks: remarks.map(cut) }),
    ...(checks.length === 0 ? {} : { checks: checks.map(({ name, result }) => ({ name: cut(name), result: cut(result) })) }),
    ...(next === null ? {} : { next: cut(next) }),
    facts: Object.fromEntries(facts.map(({ name, value: fact }) => [name, fact])),
    not_checked: cut(not_checked),
    price: { tier: receipt.tier, amount_minor: priceMinor(receipt.amount), method: methodOf(settlement) },
    allowance: allowance && publicAllowance(allowance),
    receipt_digest: toHex(receiptDigest(receipt)),
    output_hash: receipt.output_hash,
    answer_url,
  })
}

/** Schema of the brief form. */
export function briefSchema(allowance: JsonSchema): JsonSchema {
  const text = (description: string, more: JsonSchema = {}) => ({ type: 'string', ...more, description })
  const orNull = (description: string) => ({ type: ['string', 'null'], description })
  const hash = (description: string) => text(description, { pattern: '^0x[0-9a-f]{64}$' })
  const closed = (properties: Record<string, JsonSchema>) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
  const remarks = { type: 'array', maxItems: MOST_REMARKS, items: { type: 'string' }, description: 'Findings, warnings and reasons.' }
  const checks = {
    type: 'array',
    maxItems: MOST_CHECKS,
    items: closed({ name: text('The check, or the item of a batch.'), result: text('Its decision.') }),
    description: 'Checks that the tool made itself.',
  }
  const always = {
    detail: { const: 'brief' },
    tool: text('Id of the tool.'),
    headline: closed({
      word: text('The decision, such as "valid" or "BLOCK".'),
      tone: text('How it is meant.', { enum: ['good', 'bad', 'caution', 'neutral'] }),
      sentence: text('Why; empty where the word says all.'),
    }),
    reason_code: orNull('Reason of the decision, for programs; null where the tool states none.'),
    value: orNull('The checked value in its normal form; null where the tool checks no single value.'),
    facts: { type: 'object', maxProperties: MOST_FACTS, description: 'Key facts of the result, in the order of the tool.' },
    not_checked: text('What the tool did not check.'),
    price: closed({
      tier: text('Whether the call was free or paid.', { enum: ['free', 'paid'] }),
      amount_minor: text('Price in minor units of USDC.', { pattern: '^\\d{1,20}$' }),
      method: orNull('How it was paid; null for a free call.'),
    }),
    allowance: { anyOf: [allowance, { type: 'null' }], description: 'Free calls; null for tools that are free without limit.' },
    receipt_digest: hash('Digest of the receipt, which covers the whole result.'),
    output_hash: hash('keccak-256 of the RFC 8785 text of the whole result.'),
    answer_url: orNull('Address of the whole answer with its receipt; null where it is not stored.'),
  }
  return {
    type: 'object',
    description: 'Answer to a call with the header X-Detail: brief, or ?detail=brief. Texts are cut after 125 characters.',
    properties: {
      ...always,
      suggestion: text('A repair that would pass. Ask before you use it for a payment.'),
      remarks,
      checks,
      next: text('The recommended next step.'),
    },
    required: Object.keys(always),
    additionalProperties: false,
  }
}

interface Fact {
  name: string
  label: string
  value: unknown
}

/** Members that both brief forms show, in order. */
function extract(tool: Tool, output: JsonSchema | undefined, { result }: BriefParts) {
  const headlineOf = (one: Readonly<Record<string, unknown>>) => (one === result ? tool.headline(one) : checkHeadline(one))
  const view = viewAnswer(result, headlineOf)
  const { reasons, advice, checks, key_facts } = arrangeFacts(view, fieldOrder(output), checkHeadline)
  const names = new Map(Object.keys(view.facts).map((name) => [labelOf(name), name]))
  const placed = placedFindings(result['findings'])
  const messages = placed.length > 0 ? placed : view.findings.map(({ message }) => message)
  const remarks = [...messages, ...view.warnings.map(({ message }) => message)].filter((message) => message !== view.headline.sentence)
  return {
    headline: view.headline,
    value: view.value,
    suggestion: view.suggestion,
    remarks: [...remarks, ...reasons.map(({ message }) => message)].slice(0, MOST_REMARKS),
    checks: [...view.items, ...checks].slice(0, MOST_CHECKS).map(checkOf),
    next: advice[0] ?? null,
    facts: shortFacts(key_facts.map(([label, value]) => ({ name: names.get(label) ?? label, label, value }))),
    not_checked: notChecked(tool, result).join('; '),
  }
}

/** Path elements of a finding that are shown: the last ones say where it is. */
const SHOWN_ELEMENTS = 3
const SEVERITIES = ['error', 'warning', 'info']

/** Findings with a place in a document, errors first: `P_NBTX_GROUP GrpHdr/NbOfTxs:4 3 → 2`. */
function placedFindings(findings: unknown): string[] {
  const placed = (Array.isArray(findings) ? findings : []).filter(
    (one: unknown): one is Record<string, unknown> =>
      isObject(one) && typeof one['path'] === 'string' && typeof one['severity'] === 'string',
  )
  const rank = ({ severity }: Record<string, unknown>) => SEVERITIES.indexOf(String(severity))
  return placed
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST_REMARKS)
    .map(({ code, path, line, found, expected, message }) => {
      const place = String(path).split('/').slice(-SHOWN_ELEMENTS).join('/')
      const values = [found, expected].filter((value) => typeof value === 'string').join(' → ')
      return `${String(code)} ${place}${typeof line === 'number' ? `:${line}` : ''} ${values === '' ? String(message) : values}`
    })
}

function checkOf({ index, value, headline, sentence }: ItemView): { name: string; result: string } {
  const name = [index, value].filter((part) => part !== '').join(' ')
  return { name, result: headline === null ? sentence : headline.word }
}

/** The first facts whose texts fit on one line together. */
function shortFacts(facts: readonly Fact[]): Fact[] {
  let chars = 0
  return facts.slice(0, MOST_FACTS).filter((fact) => {
    const longer = chars + (chars === 0 ? 0 : 2) + factText(fact).length
    if (longer > FACTS_CHARS) return false
    chars = longer
    return true
  })
}

function factText({ label, value }: Fact): string {
  return `${label}: ${Array.isArray(value) ? value.join(', ') : String(value)}`
}

function priceText({ tier, amount }: Receipt, settlement: unknown): string {
  if (tier === 'paid') return `Paid ${paidText(amount)}`
  return methodOf(settlement) === 'credit' ? 'Paid from the credit' : 'Price: free'
}

/** Price of a call in minor units of USDC, also of one that was paid in another token. */
function priceMinor(amount: string): string {
  return readAmount(amount)?.price_minor.toString() ?? amount
}

function paidText(amount: string): string {
  const paid = readAmount(amount)
  if (paid === null) return amount
  const { asset, amount_minor, price_minor } = paid
  return `${usdcText(amount_minor)} ${currencyOf(asset)}${asset === null ? '' : ` for ${usdcText(price_minor)} USD`}`
}

function methodOf(settlement: unknown): string | null {
  return isObject(settlement) ? textOf(settlement['method']) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
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
