import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LineFault, LineSplitter, type InputLine } from '../../src/cli/input.ts'
import { limits } from '../../src/service/limits.ts'
import { runs, SEED } from '../support/counts.ts'

function split(chunks: readonly Uint8Array[]): InputLine[] {
  const splitter = new LineSplitter()
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

/** What stands on each line, worked out the slow way: one byte at a time, each line decoded alone by the platform's own decoder. */
function expected(bytes: Uint8Array): (string | null)[] {
  const lines: number[][] = [[]]
  for (const byte of bytes) {
    if (byte === 10) lines.push([])
    else lines.at(-1)?.push(byte)
  }
  if (lines.at(-1)?.length === 0) lines.pop()
  return lines.map((line) => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(line)).replace(/\r$/, '')
    } catch {
      return null
    }
  })
}

function words(lines: readonly InputLine[]): (string | null)[] {
  return lines.map((line) => (typeof line === 'string' ? line : null))
}

const PIECES = ['\n', '\r\n', '\r', '\uFEFF', '{"a":1}', 'é', '𝄞', ' ', 'x']

test('any bytes in any chunks give the lines that they hold', () => {
  const part = fc.oneof(
    fc.constantFrom(...PIECES).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 4 }),
  )
  const stream = fc.record({ bytes: fc.array(part, { maxLength: 30 }), cuts: fc.array(fc.nat(120), { maxLength: 6 }) })
  fc.assert(
    fc.property(stream, ({ bytes: parts, cuts }) => {
      const bytes = Buffer.concat(parts)
      const ends = [...cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b), bytes.length]
      const chunks = ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end))
      assert.deepEqual(words(split(chunks)), expected(bytes))
    }),
    { numRuns: runs(500, 50_000), seed: SEED },
  )
})

test('a line of the longest length passes, one character more does not, in one chunk or in many', () => {
  const longest = 'é'.repeat(limits.jsonl_line_chars)
  for (const chunk_bytes of [65_536, 4 * limits.jsonl_line_chars]) {
    const bytes = Buffer.from(`${longest}\n${longest}x\nend`)
    const chunks = Array.from({ length: Math.ceil(bytes.length / chunk_bytes) }, (_, index) =>
      bytes.subarray(index * chunk_bytes, (index + 1) * chunk_bytes),
    )
    const [first, second, third, ...rest] = split(chunks)
    assert.equal(first, longest)
    assert.ok(second instanceof LineFault && second.code === 'too_long')
    assert.deepEqual([third, ...rest], ['end'])
  }
})
