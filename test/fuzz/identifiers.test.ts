import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBic, isBic } from '../../src/pure/checks/bic.ts'
import { checkIban, isIban } from '../../src/pure/checks/iban.ts'
import { checkIsbn, isIsbn } from '../../src/pure/checks/isbn.ts'
import { checkLei, isLei } from '../../src/pure/checks/lei.ts'
import { checkLuhn, isLuhn } from '../../src/pure/checks/luhn.ts'
import { REASON_CODES, type Check, type Finding } from '../../src/pure/checks/verdict.ts'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { toolSchemas } from '../../src/service/catalogue/json-schema.ts'
import { runs, SEED } from '../support/counts.ts'
import { newAjv } from '../support/json-schema.ts'
import { fixedSources } from '../support/sources.ts'
import { hostileText, spoiled } from './hostile-text.ts'
import { seeded, type Random } from './random.ts'
import { hostileInput, knownInput, TOOLS } from './tool-inputs.ts'

const CARD = { min_digits: 12, max_digits: 19 }

interface Subject {
  tool: string
  check(text: string): Check<unknown>
  is(text: string): boolean
}

const SUBJECTS: readonly Subject[] = [
  { tool: 'iban-check', check: checkIban, is: isIban },
  { tool: 'lei-check', check: checkLei, is: isLei },
  { tool: 'swift-bic-check', check: checkBic, is: isBic },
  { tool: 'isbn-check', check: checkIsbn, is: isIsbn },
  { tool: 'luhn-check', check: (text) => checkLuhn(text, CARD), is: (text) => isLuhn(text, CARD) },
  { tool: 'luhn-check', check: (text) => checkLuhn(text), is: (text) => isLuhn(text) },
]

const sources = fixedSources(TOOLS)
const ajv = newAjv()
const OUTPUTS = new Map(TOOLS.map((tool) => [tool.id, ajv.compile(toolSchemas(tool).output)]))

function toolOf(id: string): Tool {
  const tool = TOOLS.find((one) => one.id === id)
  assert.ok(tool !== undefined)
  return tool
}

test('every check of a single value is among those that are tried', () => {
  const checks = TOOLS.filter((tool) => tool.batch_field !== undefined && tool.id !== 'context-distill').map(({ id }) => id)
  assert.deepEqual(checks.toSorted(), [...new Set(SUBJECTS.map(({ tool }) => tool))].toSorted())
})

/** Hostile, nearly good, or longer than anything that is read. */
function identifier(random: Random, tool: Tool): string {
  if (random.chance(0.005)) return random.pick(['7', 'A', ' ', '\u0301', '\u200b', '😀', '٣', 'IBAN']).repeat(100_000)
  const known = knownInput(random, tool)[tool.batch_field ?? '']
  if (typeof known === 'string' && random.chance(0.6)) return spoiled(random, known)
  return hostileText(random, random.pick([12, 40, 256, 300]))
}

/** What holds for every answer of every check, beyond what the tests of each say about right and wrong. */
function assertAnswer({ check, is }: Subject, text: string): void {
  const answer = check(text)
  const { valid, verdict, reason_code, reason, normalized, findings, warnings, suggestion, expected_check } = answer
  assert.equal(is(text), valid)
  assert.equal(valid, verdict !== 'invalid')
  assert.equal(reason_code, findings[0]?.code ?? 'ok')
  assert.equal(valid, findings.length === 0)
  assert.ok(reason.length > 0 && reason.length < 200)
  for (const finding of [...findings, ...warnings]) assertFinding(finding, normalized)
  assert.ok(normalized.length <= Math.min(text.length, 256))
  assert.ok(suggestion === null || (!valid && is(suggestion)))
  assert.ok(expected_check === null || /^[0-9A-Z]{1,2}$/.test(expected_check))
  if (valid) assert.equal(check(normalized).valid, true)
  assert.deepEqual(check(text), answer)
}

function assertFinding({ code, position, expected, found, message }: Finding, normalized: string): void {
  assert.ok(Object.hasOwn(REASON_CODES, code))
  assert.ok(message.length > 0 && (expected === null || expected.length < 200))
  if (position === null) return
  const [start, end] = position
  assert.ok(start >= 0 && start < end && end <= normalized.length)
  assert.equal(found, normalized.slice(start, end).slice(0, 34).toWellFormed())
}

function everyCase(count: number, each: (random: Random) => void): void {
  for (let index = 0; index < count; index++) {
    try {
      each(seeded(SEED, index))
    } catch (error) {
      throw new Error(`case ${index}`, { cause: error })
    }
  }
}

test('any text: each check answers in its own words, agrees with its boolean and never throws', () => {
  everyCase(runs(3_000, 100_000), (random) => {
    const subject = random.pick(SUBJECTS)
    assertAnswer(subject, identifier(random, toolOf(subject.tool)))
  })
})

test('any input: each tool refuses it in our words, or answers by its published schema with a text that can be signed', async () => {
  const answers: Promise<void>[] = []
  everyCase(runs(1_000, 30_000), (random) => {
    const tool = random.pick(TOOLS)
    const input = hostileInput(random, tool)
    // Half surrogate pairs end at the edge.
    if (!isWellFormed(input)) return
    const decoded = decodeInput(tool, input)
    if (!decoded.ok) assert.equal(decoded.problem.code, 'INPUT_SCHEMA_INVALID')
    else answers.push(Promise.resolve(tool.execute(decoded.input, sources)).then((result) => assertOutput(tool, result)))
  })
  assert.ok(answers.length > runs(500, 15_000))
  await Promise.all(answers)
})

function assertOutput(tool: Tool, result: Record<string, unknown>): void {
  const fits = OUTPUTS.get(tool.id)
  assert.ok(fits?.(result) === true, `${tool.id}: ${JSON.stringify(fits?.errors)} in ${JSON.stringify(result).slice(0, 500)}`)
  assert.deepEqual(tool.output.parse(result), result)
  assert.deepEqual(JSON.parse(canonicalText(result)), result)
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item))
}
