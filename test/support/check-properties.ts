import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stdnum } from 'stdnum'
import type { Check } from '../../src/pure/checks/verdict.ts'
import { runs, SEED } from './counts.ts'
import { anyText } from './identifiers.ts'

interface Checked {
  check(text: string): Check<{ parts: { start: number; end: number }[] }>
  is(text: string): boolean
  /** Codes that may be answered with; `ok` goes without saying. */
  codes: string
  warnings: string
  /** Texts that are close to good ones. */
  near: fc.Arbitrary<string>
}

const many = { numRuns: runs(2_000, 20_000), seed: SEED }

/** What holds for each check on any text. */
export function holdsForAnyText({ check, is, codes, warnings, near }: Checked): void {
  const [fatal, remarks] = [new Set(`ok ${codes}`.split(' ')), new Set(warnings.split(' '))]
  test('any text: documented codes only, a stable normal form, parts in order, and the fast check agrees', () => {
    const seen = { good: 0, bad: 0 }
    fc.assert(
      fc.property(fc.oneof(anyText, near, near), (text) => {
        const answer = check(text)
        seen[answer.valid ? 'good' : 'bad']++
        assert.ok(fatal.has(answer.reason_code), answer.reason_code)
        for (const { code } of answer.warnings) assert.ok(remarks.has(code), code)
        assert.equal(is(text), answer.valid, text)
        assert.equal(answer.valid, answer.findings.length === 0)
        // An identifier that no published list or series confirms is not valid, but not invalid either.
        const unconfirmed = answer.verdict === 'well_formed_unverifiable' && answer.findings.length === 1 && answer.facts !== null
        assert.equal(answer.verdict === 'invalid', !answer.valid && !unconfirmed)
        for (const { found } of [...answer.findings, ...answer.warnings]) assert.ok(found === null || found.isWellFormed())
        if (answer.facts !== null) partsInOrder(answer.facts.parts, answer.normalized.length)
        if (answer.normalized === '') return
        const again = check(answer.normalized)
        assert.deepEqual([again.normalized, again.changes, again.reason_code], [answer.normalized, [], answer.reason_code])
      }),
      many,
    )
    assert.ok(seen.good > 0 && seen.bad > 0, 'the texts try only one side')
  })

  test('a suggestion passes', () => {
    let suggested = 0
    fc.assert(
      fc.property(near, (text) => {
        const { suggestion } = check(text)
        if (suggestion === null) return
        suggested++
        assert.equal(check(suggestion).valid, true, suggestion)
      }),
      many,
    )
    assert.ok(suggested > 0, 'nothing was suggested')
  })
}

function partsInOrder(parts: readonly { start: number; end: number }[], length: number): void {
  let end = 0
  for (const part of parts) {
    assert.ok(part.start >= end && part.end > part.start && part.end <= length)
    end = part.end
  }
}

/** Good values, and good values with one character replaced. */
export function around(good: fc.Arbitrary<string>, units: string): fc.Arbitrary<string> {
  const spoiled = fc.tuple(good, fc.nat(40), fc.constantFrom(...Array.from(units))).map(([value, place, unit]) => {
    const at = place % value.length
    return value.slice(0, at) + unit + value.slice(at + 1)
  })
  const swapped = fc.tuple(good, fc.nat(40)).map(([value, place]) => {
    const at = place % (value.length - 1)
    return value.slice(0, at) + value.charAt(at + 1) + value.charAt(at) + value.slice(at + 2)
  })
  return fc.oneof(good, spoiled, swapped)
}

/** Text of exactly so many of these characters. */
export function exactly(length: number, units: string): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...Array.from(units)), minLength: length, maxLength: length })
}

/** What the npm package stdnum says of a text, by country and kind of number. */
export function stdnumTakes(country: string, kind: string, text: string): boolean {
  const validator = stdnum[country]?.[kind]
  assert.ok(validator !== undefined, `stdnum has no ${country} ${kind}`)
  const { stackTraceLimit } = Error
  // It makes an Error for each text that it refuses; the stacks take most of its time.
  Error.stackTraceLimit = 0
  try {
    return validator.validate(text).isValid
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
