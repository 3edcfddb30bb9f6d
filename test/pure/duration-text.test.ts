import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationText, waitText } from '../../src/pure/duration-text.ts'

test('a duration has its two largest units, rounded down, without zeros', () => {
  const cases: [number, string][] = [
    [-1, '0 s'],
    [0, '0 s'],
    [59.9, '59 s'],
    [60, '1 min'],
    [119, '1 min 59 s'],
    [3_599, '59 min 59 s'],
    [3_600, '1 h'],
    [72_671, '20 h 11 min'],
    [86_399, '23 h 59 min'],
    [90_061, '1 d 1 h'],
    [86_460, '1 d'],
  ]
  for (const [seconds, text] of cases) assert.equal(durationText(seconds), text)
})

test('a wait is rounded up to the minute and is never shorter than one', () => {
  const cases: [number, string][] = [
    [0, '1 min'],
    [60, '1 min'],
    [61, '2 min'],
    [3_541, '1 h'],
    [86_400, '1 d'],
  ]
  for (const [seconds, text] of cases) assert.equal(waitText(seconds), text)
})
