import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HeadlineRule, HeadlineTone } from '../../src/pure/headline.ts'
import { viewAnswer } from '../../src/service/catalogue/answer-view.ts'
import { badgesOf, CHECK_HEADLINES, checkHeadline, headlineReader } from '../../src/service/catalogue/headlines.ts'
import { badgeMarkdown, proofSummary } from '../../src/service/calls/answer.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { limits } from '../../src/service/limits.ts'
import { TEST_VECTOR, type Receipt } from '../../src/pure/receipts/receipt.ts'
import { badgeSvg } from '../../src/surfaces/routes.ts'
import { fixedSources } from '../support/sources.ts'
import { readVectors } from '../support/vectors.ts'

const catalogue = await loadCatalogue()
const { tools } = catalogue
const sources = fixedSources(tools)
const DIGEST = `0x${'ab'.repeat(32)}`
const receipt = TEST_VECTOR.receipt as unknown as Receipt

interface Case {
  name: string
  result: Record<string, unknown>
}

/** Results of all vectors, by tool; made once, since some tools remember what they were asked. */
const cases = new Map<Tool, Case[]>()
for (const tool of tools) {
  const found: Case[] = []
  // What a tool refuses has no result.
  for (const { name, in: input } of readVectors(tool)?.cases.filter(({ out }) => !Object.hasOwn(out, 'problem')) ?? [])
    found.push({ name, result: await tool.execute(tool.input.parse(input), sources) })
  cases.set(tool, found)
}

/** Tones that follow from the decision itself, by the word in which rule books and lists publish it. */
const TONE_OF_DECISION: Readonly<Record<string, HeadlineTone>> = {
  BLOCK: 'bad',
  REVIEW: 'caution',
  CLEAR: 'good',
  STOP: 'bad',
  CAUTION: 'caution',
  PROCEED: 'good',
  HALTED: 'bad',
  REJECTED: 'bad',
  ELIGIBLE: 'good',
  VERIFIED: 'good',
  INCOMPLETE: 'caution',
  UPHELD: 'good',
  INCONCLUSIVE: 'caution',
  REFUSED: 'bad',
  QUOTED: 'good',
  ESCALATED: 'caution',
  RECORDED: 'good',
  BOUND: 'good',
  PENDING_UNDERWRITER: 'caution',
  match: 'bad',
  needs_review: 'caution',
  elevated: 'caution',
  not_screened: 'caution',
  no_match: 'good',
  critical: 'bad',
  high: 'bad',
  low: 'good',
  fail: 'bad',
  review: 'caution',
  pass: 'good',
  valid: 'good',
  well_formed_unverifiable: 'caution',
  invalid: 'bad',
  undetermined: 'caution',
}

/** Members that carry a decision; the first that a result has is the decision. */
const DECISIONS = ['decision', 'verdict', 'status', 'band'] as const

test('the result of every vector of every tool has a headline, and its word and tone are those of the decision', () => {
  for (const [tool, found] of cases) {
    for (const { name, result } of found) {
      const { word, tone, sentence } = tool.headline(result)
      const place = `${tool.id}, ${name}: ${word}`
      assert.ok(word !== '' && !/answered|no verdict|[{}]|undefined|null/.test(`${word}${sentence}`), place)
      const member = DECISIONS.find((one) => typeof result[one] === 'string')
      const decision = member === undefined ? '' : String(result[member])
      const expected = TONE_OF_DECISION[decision]
      if (expected === undefined) continue
      assert.equal(tone, expected, place)
    }
  }
})

test('a decision with a name of its own is the word', () => {
  const seen = new Map<string, Set<string>>()
  for (const [tool, found] of cases) {
    for (const { result } of found) {
      const { word } = tool.headline(result)
      seen.set(tool.id, (seen.get(tool.id) ?? new Set()).add(word))
    }
  }
  const words = (id: string) => [...(seen.get(id) ?? [])].toSorted()
  assert.deepEqual(words('pre-disbursement-guard'), ['BLOCK', 'CLEAR', 'REVIEW'])
  assert.deepEqual(words('rental-verdict'), ['CAUTION', 'PROCEED', 'STOP'])
  assert.deepEqual(words('dip-file-dispute'), ['INCONCLUSIVE', 'REJECTED', 'UPHELD'])
  assert.deepEqual(words('pod-verify-delivery'), ['INCOMPLETE', 'REJECTED', 'VERIFIED'])
  assert.deepEqual(words('assured-quote'), ['ESCALATED', 'QUOTED', 'REFUSED'])
  assert.ok(words('ofac-sdn-check').includes('MATCH'))
  assert.ok(words('rental-listing-risk').includes('CRITICAL RISK'))
  assert.ok(words('batch-validate').some((word) => /^\d+ of \d+ invalid/.test(word)))
  assert.deepEqual(words('receipt-verify'), ['invalid', 'signature valid, issuer unknown'])
})

/** The values of a member, where its schema lists them. */
function choices(tool: Tool, member: string): string[] {
  const schema: unknown = tool.output.shape[member]
  const options = (schema as { options?: unknown } | undefined)?.options
  return Array.isArray(options) ? options.filter((one) => typeof one === 'string') : []
}

test('every decision that a schema lists has a row in the table of its tool', () => {
  const missing = tools.flatMap((tool) =>
    DECISIONS.flatMap((member) => {
      const rules = tool.headlines.filter(({ when }) => when !== undefined && member in when)
      if (rules.length === 0) return []
      const named = new Set(rules.flatMap(({ when }) => [when?.[member]].flat()))
      const whole = tool.headlines.some(({ when }) => when === undefined)
      return whole ? [] : choices(tool, member).flatMap((one) => (named.has(one) ? [] : [`${tool.id}: ${member} ${one}`]))
    }),
  )
  assert.deepEqual(missing, [])
})

test('a tool without a table of its own is a check of one value', () => {
  const others = tools
    .filter((tool) => tool.headlines === CHECK_HEADLINES)
    .filter((tool) => {
      return JSON.stringify(choices(tool, 'verdict')) !== '["valid","well_formed_unverifiable","invalid"]'
    })
  assert.deepEqual(
    others.map(({ id }) => id),
    [],
  )
})

test('the table of a tool names only members that its result has', () => {
  const unknown = tools.flatMap(({ id, headlines, output }) =>
    headlines.flatMap(({ when, word, sentence = '' }) => {
      const placed = [...`${word}${sentence ?? '{reason}'}`.matchAll(/\{([\w.]+)/g)].map(([, path = '']) => path)
      return [...Object.keys(when ?? {}), ...placed]
        .filter((path) => !((path.split('.')[0] ?? '') in output.shape))
        .map((path) => `${id}: ${path}`)
    }),
  )
  assert.deepEqual(unknown, [])
})

test('each headline has a badge that is drawn from its address alone', () => {
  for (const [tool, found] of cases) {
    const badges = badgesOf(tool.headlines)
    for (const { result, name } of found) {
      const headline = tool.headline(result)
      const badge = badges.get(headline.code)
      assert.ok(badge !== undefined && badge.tone === headline.tone, `${tool.id}, ${name}: ${headline.code}`)
      assert.match(
        badgeMarkdown('https://a.test', tool, headline, TEST_VECTOR.receipt, DIGEST),
        new RegExp(`/badge/${tool.id}/${headline.code}/`),
      )
    }
    for (const [code, badge] of badges) {
      assert.match(code, /^[a-z0-9][a-z0-9-]{0,40}$/)
      // Letters that stand for themselves in SVG.
      assert.match(badge.word, /^[A-Za-z0-9 ,]+$/, tool.id)
      assert.ok(badgeSvg(tool.id, badge, DIGEST).includes(`>${badge.word}</text>`))
    }
  }
})

test('a proof summary leads with the decision and keeps receipt and signer within its length', () => {
  for (const [tool, found] of cases) {
    for (const { result, name } of found) {
      const headline = tool.headline(result)
      const summary = proofSummary(tool, headline, receipt, DIGEST)
      const place = `${tool.id}, ${name}\n${summary}`
      assert.ok(summary.startsWith('**'), place)
      assert.ok(summary.length < limits.proof_summary_chars && summary.includes(DIGEST) && summary.includes(receipt.signer), place)
      assert.doesNotMatch(summary, /answered/, place)
    }
  }
})

test('rules are tried in order, and one whose word cannot be filled is passed over', () => {
  const rules: HeadlineRule[] = [
    { when: { 'inner.kind': ['a', 'b'] }, tone: 'bad', word: '{inner.count|item|items}', sentence: '{missing} is gone', badge: 'items' },
    { when: { valid: true }, tone: 'good', word: 'fine' },
  ]
  const read = headlineReader(rules)
  assert.deepEqual(read({ inner: { kind: 'b', count: 1 } }), { tone: 'bad', word: '1 item', sentence: '', code: 'items' })
  assert.equal(read({ inner: { kind: 'a', count: 0 } }).word, '0 items')
  assert.equal(read({ inner: { kind: 'a', count: null }, valid: true }).word, 'fine')
  assert.deepEqual(read({ inner: { kind: 'c' }, valid: true, reason: 'As it should be.' }), {
    tone: 'good',
    word: 'fine',
    sentence: 'As it should be.',
    code: 'fine',
  })
  assert.equal(read({ valid: false }).word, 'invalid')
  // A decision that no rule names is shown as it is.
  assert.deepEqual(read({ decision: 'NEW' }), { tone: 'neutral', word: 'NEW', sentence: '', code: 'see-receipt' })
  for (const odd of [null, 1, 'x', [], { inner: 'b' }, { inner: null }]) assert.equal(read(odd).word, 'no verdict')
  assert.equal(read({ valid: true, __proto__: { decision: 'BLOCK' } }).word, 'fine')
  assert.equal(headlineReader([{ tone: 'neutral', word: '{raw}', badge: 'x' }])({ raw: '9'.repeat(100) }).word.length, 61)
  assert.equal(checkHeadline({ valid: true, verdict: 'well_formed_unverifiable' }).tone, 'caution')
})

test('an answer as people read it loses nothing: every member of every result stands in one place', () => {
  for (const [tool, list] of cases) {
    for (const { name, result } of list) {
      const view = viewAnswer(result, (one) => (one === result ? tool.headline(one) : checkHeadline(one)))
      const place = `${tool.id}: ${name}`
      assert.notEqual(view.headline.word, '', place)
      assert.deepEqual(
        [view.findings.length, view.warnings.length, view.items.length],
        ['findings', 'warnings', 'results'].map((member) => (Array.isArray(result[member]) ? result[member].length : 0)),
        place,
      )
      const facts = (result['facts'] ?? {}) as Record<string, unknown>
      const shown = new Set([...Object.keys(view.facts), ...MEMBERS_OF_THE_VIEW])
      for (const [member, value] of Object.entries({ ...result, ...facts })) {
        assert.ok(shown.has(member) || value === view.headline.sentence, `${place}: ${member} is not shown`)
      }
      for (const { range } of view.findings) assert.ok(range === null || range.end > range.start, place)
      for (const { label, start, end } of view.parts) assert.ok(label !== '' && end <= (view.value ?? '').length && start < end, place)
    }
  }
})

/** Members that a view has under names of its own, and those that say in code what the headline says in words. */
const MEMBERS_OF_THE_VIEW = [
  'scope',
  'normalized',
  'findings',
  'warnings',
  'suggestion',
  'results',
  'facts',
  'parts',
  'tool',
  'valid',
  'verdict',
  'reason',
  'reason_code',
]

test('an item of a batch that was not checked is not shown as a verdict', () => {
  const item = { index: 3, tool: 'iban-check', error: { message: 'The input does not fit.' } }
  const { items } = viewAnswer(
    { results: [item, { index: 4, tool: 'iban-check', result: { verdict: 'valid', normalized: 'X' } }] },
    checkHeadline,
  )
  assert.deepEqual(
    items.map(({ index, headline, value, sentence }) => [index, headline?.word ?? null, value, sentence]),
    [
      ['3', null, '', 'The input does not fit.'],
      ['4', 'valid', 'X', ''],
    ],
  )
})
