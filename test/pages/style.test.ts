import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const STYLE = readFileSync(new URL('../../src/surfaces/pages/style.css', import.meta.url), 'utf8')

type Tokens = Record<string, string>

/** The colours of the light scheme, then of the dark one. */
function schemes(): Tokens[] {
  const blocks = [...STYLE.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => [...String(block).matchAll(/--([a-z]+): (#[0-9a-f]{6});/gi)])
  return blocks.map((tokens) => Object.fromEntries(tokens.map(([, name, value]) => [name, value])))
}

/** Relative luminance of a colour (WCAG 2.2, definition "relative luminance"). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

test('every colour of words stands out from every ground by 4.5 to 1 (WCAG 2.2, 1.4.3)', () => {
  const found = schemes()
  assert.equal(found.length, 2)
  for (const [index, tokens] of found.entries()) {
    for (const words of ['ink', 'muted', 'metal', 'valid', 'unverifiable', 'invalid']) {
      for (const ground of ['paper', 'raised']) {
        const ratio = contrast(tokens[words] ?? '', tokens[ground] ?? '')
        assert.ok(ratio >= 4.5, `${words} on ${ground} of scheme ${index} has ${ratio.toFixed(2)}`)
      }
    }
  }
})

test('the measure agrees with known pairs', () => {
  assert.equal(contrast('#000000', '#FFFFFF'), 21)
  // The example of WebAIM's checker: 4.54.
  assert.equal(contrast('#767676', '#FFFFFF').toFixed(2), '4.54')
})

test('colours have names: nothing outside the two lists is coloured by itself', () => {
  const rest = STYLE.replace(/:root \{[^}]*\}/g, '')
  assert.doesNotMatch(rest, /#[0-9a-f]{3,8}\b(?![^{]*\{)|\brgba?\(|\bhsla?\(|url\(|@import/i)
})
