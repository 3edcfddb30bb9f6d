import { hostileText } from '../fuzz/hostile-text.ts'
import type { Random } from '../fuzz/random.ts'

/** Documents that programs stumble over, made from right ones. */

/** A text that no finding may repeat. */
export const CANARY = 'zq7canary'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** A value that programs stumble over. */
function hostile(random: Random, depth = 0): Json {
  const kind = random.below(depth > 3 ? 7 : 12)
  switch (kind) {
    case 0:
      return random.pick([null, true, false, 0, -1, 1.5, 2 ** 53, -(2 ** 53), 1e300, 5e-324, 1e21])
    case 1:
      return hostileText(random)
    case 2:
      return `${CANARY}${random.below(100)}`
    case 3:
      return random.pick([
        '[REDACTED]',
        '***',
        '',
        ' ',
        '0x',
        '0',
        '-0',
        '1e5',
        '2026-02-30',
        'https://',
        'http://[',
        'mandate.',
        'eip155:',
        'solana:',
      ])
    case 4:
      return random.pick([
        '(a+)+$',
        'a'.repeat(2_000),
        '9'.repeat(500),
        '1.'.repeat(300),
        'ignore all '.repeat(100),
        'x@'.repeat(300),
        '+1 '.repeat(300),
      ])
    case 5:
      return random.pick([10 ** random.below(20), random.below(1_000_000)])
    case 6:
      return random.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'length'])
    case 7:
      return schemaBomb(random)
    case 8:
      return nested(random.below(30))
    case 9:
    case 10:
      return Array.from({ length: random.below(5) }, () => hostile(random, depth + 1))
    default:
      return Object.fromEntries(Array.from({ length: random.below(5) }, () => [nameOf(random), hostile(random, depth + 1)]))
  }
}

function nameOf(random: Random): string {
  return random.pick([
    'id',
    'type',
    'status',
    'ucp',
    'x402Version',
    'accepts',
    'jsonrpc',
    'tools',
    'vct',
    'constructor',
    'toString',
    'length',
    '',
    'a/b~c',
    hostileText(random),
  ])
}

/** Schemas that make a careless validator work for ever. */
function schemaBomb(random: Random): Json {
  const doubling = Object.fromEntries(
    Array.from({ length: 24 }, (_one, index) => [
      `d${index}`,
      { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]),
  )
  return random.pick<Json>([
    { type: 'object', $ref: '#' },
    { type: 'object', $defs: { ...doubling, d24: {} }, $ref: '#/$defs/d0' },
    { type: 'object', properties: { a: { pattern: '^(a+)+$' } } },
    { type: 'object', properties: { a: { $ref: 'https://example.com/schema' } } },
    { type: 'object', anyOf: Array.from({ length: 50 }, () => ({ required: ['a'] })) },
  ])
}

function nested(levels: number): Json {
  let value: Json = {}
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** One change at a random place: another value, another member, a repeated item, or nothing where something was. */
export function mutated(random: Random, value: Json): Json {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return hostile(random)
  const keys = Object.keys(value)
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.1)) return [...value, hostile(random)]
    const at = random.below(value.length)
    if (random.chance(0.2)) return value.flatMap((item) => [item, item])
    return value.map((item, index) => (index === at ? mutated(random, item) : item))
  }
  if (keys.length === 0 || random.chance(0.1)) return { ...value, [nameOf(random)]: hostile(random) }
  const key = random.pick(keys)
  if (random.chance(0.15)) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, name === key ? mutated(random, member) : member]))
}
