import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkUpiVpa, isUpiVpa } from '../../src/pure/checks/upi-vpa.ts'
import { around, exactly, holdsForAnyText } from '../support/check-properties.ts'
import { SEED } from '../support/counts.ts'

const SMALL = 'abcdefghijklmnopqrstuvwxyz'
const table = JSON.parse(readFileSync(new URL('../../data/upi-handles.json', import.meta.url), 'utf8')) as {
  rows: { handle: string; status: string; source: string }[]
  sources: Record<string, string>
}
const handles = table.rows.map(({ handle }) => handle)
const payable = new Set(table.rows.filter(({ status }) => status !== 'withdrawn').map(({ handle }) => handle))
const local = fc.string({ unit: fc.constantFrom(...Array.from(`${SMALL}0123456789._-`)), minLength: 2, maxLength: 20 })
const good = fc.tuple(local, fc.constantFrom(...handles)).map((parts) => parts.join('@'))

holdsForAnyText({
  check: checkUpiVpa,
  is: isUpiVpa,
  codes:
    'empty too_long_input non_ascii_digits bad_charset bad_separator bad_structure bad_component too_short withdrawn handle_not_in_registry',
  warnings: 'withdrawn bad_component',
  near: around(good, `${SMALL}ABZ0123456789@._- +é٣`),
})

test('a listed handle behind a name of the right form, and nothing else', () => {
  const any = fc.oneof(good, exactly(8, 'a@1'), exactly(12, 'ab.@_-1 '))
  fc.assert(
    fc.property(any, (vpa) => {
      const formed = /^[a-z0-9._-]{2,}@[a-z][a-z0-9]+$/.test(vpa.trim())
      assert.equal(isUpiVpa(vpa), formed && payable.has(vpa.trim().split('@')[1] ?? ''))
      const { verdict } = checkUpiVpa(vpa)
      if (formed && !handles.includes(vpa.trim().split('@')[1] ?? '')) assert.equal(verdict, 'well_formed_unverifiable')
    }),
    { numRuns: 3_000, seed: SEED },
  )
})

test('capitals and space around change nothing', () => {
  fc.assert(
    fc.property(good, (vpa) => {
      const written = ` ${vpa.toUpperCase()}\u00a0`
      assert.deepEqual({ ...checkUpiVpa(written), changes: [] }, checkUpiVpa(vpa))
    }),
    { numRuns: 500, seed: SEED },
  )
})

test('every listed handle is known, and a suggestion is one edit away from what was sent', () => {
  for (const { handle, status, source } of table.rows) {
    const { facts, verdict, reason_code, suggestion } = checkUpiVpa(`name@${handle}`)
    if (status === 'withdrawn') assert.deepEqual([verdict, reason_code, facts, suggestion], ['invalid', 'withdrawn', null, null])
    else assert.deepEqual([verdict, facts?.handle_status, facts?.handle_source, suggestion], ['valid', status, table.sources[source], null])
    assert.ok(table.sources[source]?.match(/20[0-9]{2}/), `${handle}: source ${source} has no date`)
  }
  const spoiled = fc.tuple(fc.constantFrom(...handles), fc.nat(20), fc.constantFrom(...Array.from(SMALL)))
  let suggested = 0
  fc.assert(
    fc.property(spoiled, ([handle, place, letter]) => {
      const at = place % handle.length
      const other = handle.slice(0, at) + letter + handle.slice(at + 1)
      const near = table.rows.filter(
        ({ handle: one, status }) =>
          status === 'known' &&
          Math.min(one.length, other.length) >= 6 &&
          distance(one, other) === 1 &&
          !other.replace(one, '#').match(/^#|#$/),
      )
      const { suggestion } = checkUpiVpa(`name@${other}`)
      if (handles.includes(other)) return
      if (suggestion !== null) suggested++
      assert.equal(suggestion, near.length === 1 ? `name@${near[0]?.handle}` : null, other)
    }),
    { numRuns: 1_000, seed: SEED },
  )
  assert.ok(suggested > 0)
})

test('handles in use that our list lacks are no look-alikes of short ones, or of those that they contain', () => {
  for (const handle of ['hdfc', 'up', 'zz', 'abc', 'xokaxis', 'okaxisx']) {
    const { findings, suggestion } = checkUpiVpa(`shop@${handle}`)
    assert.deepEqual(
      [findings.map(({ code, expected }) => [code, expected]), suggestion],
      [[['handle_not_in_registry', null]], null],
      handle,
    )
  }
})

test('capitals made small are a change that is told', () => {
  const told = (text: string) => [checkUpiVpa(text).normalized, checkUpiVpa(text).changes]
  assert.deepEqual(told('Name@OKHDFCBank'), ['name@okhdfcbank', ['lowercased']])
  assert.deepEqual(told('name@okhdfcbank'), ['name@okhdfcbank', []])
  assert.deepEqual(told(' Ｎame@ybl'), ['name@ybl', ['folded_fullwidth', 'stripped_spaces', 'lowercased']])
  for (const empty of ['', ' ']) assert.deepEqual(checkUpiVpa(empty).changes.includes('lowercased'), false)
})

/** Apart from the code under test: edits counted in a table, a swap of neighbours as one (Damerau, optimal string alignment). */
function distance(one: string, other: string): number {
  const across = Array.from(` ${other}`, (_, column) => column)
  const rows = Array.from(` ${one}`, (_, row) => across.map((column) => (row === 0 ? column : column === 0 ? row : 0)))
  const cell = (row: number, column: number) => rows[row]?.[column] ?? Number.MAX_SAFE_INTEGER
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1] ? 0 : 1
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const edits = [cell(row - 1, column) + 1, cell(row, column - 1) + 1, cell(row - 1, column - 1) + same]
      if (swapped) edits.push(cell(row - 2, column - 2) + 1)
      rows[row]?.splice(column, 1, Math.min(...edits))
    }
  }
  return cell(one.length, other.length)
}
