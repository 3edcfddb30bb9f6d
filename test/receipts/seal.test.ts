import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SEAL_UNITS, sealPaths, sealSvg } from '../../src/pure/receipts/seal.ts'
import { runs, SEED } from '../support/counts.ts'
import { DIGEST } from './example.ts'

const ANY_DIGEST = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)

/** Lengths of the rim's ticks, read off the drawing. */
function tickLengths(digest: string): number[] {
  const rim = sealPaths(digest)[0]?.d ?? ''
  return [...rim.matchAll(/M-?\d+ -?\d+l(-?\d+) ?(-?\d+)/g)].map(([, dx, dy]) => Math.hypot(Number(dx), Number(dy)))
}

test('the drawing is made of whole numbers, small, inside its square, and the same every time', () => {
  fc.assert(
    fc.property(ANY_DIGEST, fc.boolean(), (digest, broken) => {
      const svg = sealSvg(digest, { broken })
      assert.equal(svg, sealSvg(digest, { broken }))
      assert.ok(svg.length <= 6_000, `${svg.length} characters`)
      assert.match(svg, /^<svg [^<>]*><title>[^<>]*<\/title><g [^<>]*>(?:<path stroke-width="\d" d="[-\dMLlc ]+"\/>)+<\/g><\/svg>$/)
      for (const { d } of sealPaths(digest, { broken })) {
        for (const [, x, y] of d.matchAll(/[ML](-?\d+) (-?\d+)/g)) {
          assert.ok(Number(x) >= 0 && Number(x) <= SEAL_UNITS && Number(y) >= 0 && Number(y) <= SEAL_UNITS)
        }
      }
    }),
    { numRuns: runs(100, 2_500), seed: SEED },
  )
})

test('the rim says the whole digest: the longer the tick, the larger its hex digit', () => {
  fc.assert(
    fc.property(ANY_DIGEST, (digest) => {
      const lengths = tickLengths(digest)
      const digits = Array.from(digest.slice(2), (digit) => parseInt(digit, 16))
      assert.equal(lengths.length, 64)
      // A tick is 8 units and 3 for each step of its digit, off by rounding its two ends.
      for (const [index, digit] of digits.entries()) assert.ok(Math.abs((lengths[index] ?? 0) - (8 + 3 * digit)) < 1.5)
    }),
    { numRuns: runs(50, 2_000), seed: SEED },
  )
})

test('a broken seal lacks ticks, is cracked and says so; text that is no digest draws no seal', () => {
  const [whole, broken] = [sealPaths(DIGEST), sealPaths(DIGEST, { broken: true })]
  assert.ok((broken[0]?.d.match(/M/g)?.length ?? 0) < 64)
  assert.equal(broken.length, whole.length + 1)
  assert.match(sealSvg(DIGEST, { broken: true }), /Broken seal/)
  for (const text of ['', DIGEST.slice(2), `${DIGEST}"><script>`]) assert.equal(sealPaths(text).length, 1)
})
