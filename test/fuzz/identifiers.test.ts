import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAba, isAba } from '../../src/pure/checks/aba.ts'
import { checkAbn, isAbn } from '../../src/pure/checks/abn.ts'
import { checkCnpj, isCnpj } from '../../src/pure/checks/cnpj.ts'
import { checkCompanyNumber, isCompanyNumber } from '../../src/pure/checks/company-number.ts'
import { checkCurrency, isCurrency } from '../../src/pure/checks/currency.ts'
import { checkE164, isE164 } from '../../src/pure/checks/e164.ts'
import { checkEan13, isEan13 } from '../../src/pure/checks/ean13.ts'
import { checkEin, isEin } from '../../src/pure/checks/ein.ts'
import { checkGstin, isGstin } from '../../src/pure/checks/gstin.ts'
import { checkIfsc, isIfsc } from '../../src/pure/checks/ifsc.ts'
import { checkIsin, isIsin } from '../../src/pure/checks/isin.ts'
import { checkJapanCorp, isJapanCorp } from '../../src/pure/checks/japan-corp.ts'
import { checkKraPin, isKraPin } from '../../src/pure/checks/kra-pin.ts'
import { checkPan, isPan } from '../../src/pure/checks/pan.ts'
import { checkRfc, isRfc } from '../../src/pure/checks/rfc.ts'
import { checkSedol, isSedol } from '../../src/pure/checks/sedol.ts'
import { checkUaeTrn, isUaeTrn } from '../../src/pure/checks/uae-trn.ts'
import { checkUpiVpa, isUpiVpa } from '../../src/pure/checks/upi-vpa.ts'
import { checkUscc, isUscc } from '../../src/pure/checks/uscc.ts'
import { checkVat, isVat } from '../../src/pure/checks/vat.ts'
import { checkBic, isBic } from '../../src/pure/checks/bic.ts'
import { checkIban, isIban } from '../../src/pure/checks/iban.ts'
import { checkIsbn, isIsbn } from '../../src/pure/checks/isbn.ts'
import { checkLei, isLei } from '../../src/pure/checks/lei.ts'
import { checkLuhn, isLuhn } from '../../src/pure/checks/luhn.ts'
import { REASON_CODES, type Check, type Finding } from '../../src/pure/checks/verdict.ts'
import { canonicalText } from '../../src/pure/receipts/canonical.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import { Refusal, type Tool } from '../../src/service/catalogue/define.ts'
import { PROBLEMS } from '../../src/service/problems.ts'
import { toolSchemas } from '../../src/service/catalogue/wire-schemas.ts'
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
  { tool: 'aba-routing-check', check: (text) => checkAba(text), is: (text) => isAba(text) },
  { tool: 'abn-check', check: (text) => checkAbn(text), is: (text) => isAbn(text) },
  { tool: 'cnpj-check', check: (text) => checkCnpj(text), is: (text) => isCnpj(text) },
  { tool: 'company-number-format', check: (text) => checkCompanyNumber(text), is: (text) => isCompanyNumber(text) },
  { tool: 'iso4217-currency-check', check: (text) => checkCurrency(text), is: (text) => isCurrency(text) },
  { tool: 'e164-check', check: (text) => checkE164(text), is: (text) => isE164(text) },
  { tool: 'ean13-check', check: (text) => checkEan13(text), is: (text) => isEan13(text) },
  { tool: 'ein-format-check', check: (text) => checkEin(text), is: (text) => isEin(text) },
  { tool: 'gstin-check', check: (text) => checkGstin(text), is: (text) => isGstin(text) },
  { tool: 'ifsc-check', check: (text) => checkIfsc(text), is: (text) => isIfsc(text) },
  { tool: 'isin-check', check: (text) => checkIsin(text), is: (text) => isIsin(text) },
  { tool: 'japan-corp-check', check: (text) => checkJapanCorp(text), is: (text) => isJapanCorp(text) },
  { tool: 'kra-pin-check', check: (text) => checkKraPin(text), is: (text) => isKraPin(text) },
  { tool: 'pan-format-check', check: (text) => checkPan(text), is: (text) => isPan(text) },
  { tool: 'rfc-check', check: (text) => checkRfc(text), is: (text) => isRfc(text) },
  { tool: 'sedol-check', check: (text) => checkSedol(text), is: (text) => isSedol(text) },
  { tool: 'uae-trn-check', check: (text) => checkUaeTrn(text), is: (text) => isUaeTrn(text) },
  { tool: 'upi-vpa-check', check: (text) => checkUpiVpa(text), is: (text) => isUpiVpa(text) },
  { tool: 'uscc-check', check: (text) => checkUscc(text), is: (text) => isUscc(text) },
  { tool: 'vat-mod97-check', check: (text) => checkVat(text), is: (text) => isVat(text) },
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
  const tried = new Set(SUBJECTS.map(({ tool }) => tool))
  assert.deepEqual(
    checks.filter((id) => !tried.has(id)),
    [],
  )
})

/** Hostile, nearly good, or longer than anything that is read. */
function identifier(random: Random, tool: Tool): string {
  if (random.chance(0.005)) return random.pick(['7', 'A', ' ', '\u0301', '\u200b', '😀', '٣', 'IBAN']).repeat(100_000)
  const known = knownInput(random, tool)[tool.batch_field ?? Object.keys(tool.input.shape)[0] ?? '']
  if (typeof known === 'string' && random.chance(0.6)) return spoiled(random, known)
  return hostileText(random, random.pick([12, 40, 256, 300]))
}

/** Reason codes of values that are well formed but not confirmed. */
const UNCONFIRMED: ReadonlySet<string> = new Set(['handle_not_in_registry', 'series_newer'])

/** What holds for every answer of every check, beyond what the tests of each say about right and wrong. */
function assertAnswer({ check, is }: Subject, text: string): void {
  const answer = check(text)
  const { valid, verdict, reason_code, reason, normalized, changes, findings, warnings, suggestion, expected_check } = answer
  assert.equal(is(text), valid)
  // Without being valid, only a well-formed value that no published list or series confirms is not invalid.
  const unconfirmed = verdict === 'well_formed_unverifiable' && UNCONFIRMED.has(reason_code)
  assert.equal(valid, verdict !== 'invalid' && !unconfirmed)
  assert.equal(reason_code, findings[0]?.code ?? 'ok')
  assert.equal(valid, findings.length === 0)
  assert.ok(reason.length > 0 && reason.length < 200)
  for (const finding of [...findings, ...warnings]) assertFinding(finding, normalized)
  // Leading zeros that people leave out are put back.
  const added = changes.includes('padded_zeros') ? 8 : 0
  assert.ok(normalized.length <= Math.min(text.length + added, 256))
  // What is good in form may still look like a slip for something known.
  assert.ok(suggestion === null || ((!valid || warnings.length > 0) && is(suggestion)))
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
    else answers.push(answerOf(tool, decoded.input))
  })
  assert.ok(answers.length > runs(500, 15_000))
  await Promise.all(answers)
})

/** An answer that fits, or a refusal by what is kept, in our words. */
async function answerOf(tool: Tool, input: Record<string, unknown>): Promise<void> {
  try {
    assertOutput(tool, await tool.execute(input, sources))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    assert.ok(Object.hasOwn(PROBLEMS, error.problem) && error.message.length < 200)
  }
}

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
