import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Check } from '../../src/pure/checks/verdict.ts'
import { runs, SEED } from './counts.ts'
import { anyText, singleEdits } from './identifiers.ts'

/** What a check promises of any text whatever, and what its rule says when it is written down apart. */
interface Promised {
  check(text: string): Check<{ parts: { start: number; end: number }[] }>
  is(text: string): boolean
  /** Text close to the identifier. */
  near: fc.Arbitrary<string>
  /** Whether a normalized value passes, apart from the code under test. */
  passesByRule(value: string): boolean
  /** Codes of findings, and of warnings, that the check documents; those of unreadable text are added. */
  codes: string
  warnings: string
  /** A zero in front may be proposed where it is missing. */
  leading_zero?: boolean
}

const UNREADABLE = ['ok', 'empty', 'too_long_input', 'non_ascii_digits', 'bad_charset', 'bad_separator']

/** Any text: documented codes only, a boolean that agrees, the rule written apart, a stable normal form, parts that tile it. */
export function holdsForAnyText({ check, is, near, passesByRule, codes, warnings }: Promised): void {
  const known = new Set([...UNREADABLE, ...codes.split(' ')])
  const remarks = new Set(warnings.split(' '))
  const property = fc.property(fc.oneof(anyText, near), (text) => {
    const result = check(text)
    assert.ok(known.has(result.reason_code), result.reason_code)
    assert.equal(result.valid, result.findings.length === 0)
    assert.equal(is(text), result.valid, JSON.stringify(text))
    assert.equal(passesByRule(result.normalized), result.valid, result.normalized)
    for (const { code } of result.warnings) assert.ok(remarks.has(code), code)
    for (const { found } of result.findings) assert.ok(found === null || found.isWellFormed())
    if (result.facts !== null) {
      const bounds = result.facts.parts.flatMap(({ start, end }) => [start, end])
      const tiling = result.facts.parts.flatMap(({ end }, index) => [result.facts?.parts[index - 1]?.end ?? 0, end])
      assert.deepEqual([bounds, bounds.at(-1)], [tiling, result.normalized.length])
    }
    if (result.reason_code === 'too_long_input') return
    const again = check(result.normalized)
    assert.equal(again.normalized, result.normalized)
    assert.deepEqual(again.changes, [])
    assert.equal(again.valid, result.valid)
  })
  fc.assert(property, { numRuns: runs(2_000, 20_000), seed: SEED })
}

/** A suggestion passes, and it is the only single edit that does. */
export function suggestsTheOnlyRepair({ check, is, near, passesByRule, leading_zero }: Promised): void {
  let suggested = 0
  const property = fc.property(near, (text) => {
    const { reason_code, normalized, suggestion } = check(text)
    if (suggestion !== null) {
      suggested++
      assert.equal(is(suggestion), true)
    }
    if (reason_code === 'ok' || reason_code === 'empty' || reason_code === 'non_ascii_digits') return
    const padded = leading_zero === true && passesByRule(`0${normalized}`) ? [`0${normalized}`] : []
    const passing = [...singleEdits(normalized).filter(passesByRule), ...padded]
    assert.equal(suggestion, passing.length === 1 ? passing[0] : null, text)
  })
  fc.assert(property, { numRuns: runs(2_000, 20_000), seed: SEED })
  assert.ok(suggested > 0, 'no text led to a suggestion')
}

/** A good value with one character spoiled, dropped or doubled. */
export function spoiled(good: fc.Arbitrary<string>, wrong: string): fc.Arbitrary<string> {
  return fc
    .tuple(good, fc.nat(40), fc.constantFrom(...Array.from(wrong), '', '00'))
    .map(([value, at, put]) => value.slice(0, at % value.length) + put + value.slice((at % value.length) + 1))
}

/** Text of so many of the characters. */
export function textOf(characters: string, length: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...Array.from(characters)), minLength: length, maxLength: length })
}
