/** Attacks by texts that make a regular expression backtrack: all expressions of the source are judged, and the slow ones must say why they may be. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import tables from '../../data/iso20022/types.json' with { type: 'json' }
import { isDecimalText, isSumText } from '../../src/pure/documents/iso20022/accumulators.ts'
import { assertGrowth } from '../fuzz/growth.ts'
import { readSources } from '../support/source.ts'
import { expressionsOf, growthOf, type Growth } from './regex-automaton.ts'

/** Expressions that backtrack, or seem to: what bounds the text that they meet, or why they do not. By file, then the beginning of the expression. */
const ALLOWED: Record<string, Record<string, string>> = {
  'surfaces/pages/html.ts': { '\\s*\\n': 'our own templates' },
  'surfaces/pages/components/samples.ts': { '("(?:': 'our own samples' },
  'surfaces/pages/components/receipt-proof.ts': { '=+$': 'Base64 that the page wrote' },
  'surfaces/pages/components/pay-panel.ts': { '^.*T(': 'a time that the service wrote', '\\.?0+$': 'digits of a price' },
  'surfaces/pages/browser-modules.ts': { '^((?:import': 'our own source' },
  'service/catalogue/answer-view.ts': { '^(?:standard': 'names of members that the tools define' },
  'pure/documents/markdown/hidden-elements.ts': { '\\/\\*': 'it takes all to the end, so that no text fails' },
  'pure/documents/json-schema/load.ts': { '^(?:([A-Za-z]': 'each part ends at a character that the next begins with; no text fails' },
  'adapters/chain/json-rpc.ts': {
    replacement: 'at most 500 characters of a node',
    insufficient: 'at most 500 characters of a node',
    'nonce too high': 'at most 500 characters of a node',
    'max ?fee': 'at most 500 characters of a node',
    'pool is full': 'at most 500 characters of a node',
  },
  'adapters/chain/history.ts': { range: 'at most 500 characters of a node' },
  'adapters/facilitator/http.ts': { '\\/+$': 'a setting of the operator' },
  'adapters/witness/http.ts': { '\\/+$': 'a setting of the operator' },
  'cli/mcp.ts': { '\\/+$': 'an argument of the user' },
  'client/exchange.ts': { '\\/+$': 'an option of the user' },
  'pure/checks/e164.ts': {
    '(?:;ext=': 'at most 256 characters of an identifier',
    '[^0-9+]+': 'what stands before the plus is looked at for one character',
  },
  'pure/checks/iban.ts': { '(\\d+)!': 'a reference table' },
  'pure/checks/domains.ts': { '^https?': 'at most 320 characters of a domain' },
  'pure/documents/distill.ts': { '(?<![': 'what looks behind lets no run of stops be begun in its middle' },
  'pure/documents/iso20022/accumulators.ts': { '0+$': 'digits of a number that we wrote' },
  'pure/documents/iso20022/structure.ts': { '^([\\w.]+)': 'tables of the source', '(?:SEPA)?': 'tables of the source' },
  'pure/documents/iso20022/value-forms.ts': { '(\\[(?:': 'tables of the source' },
  'pure/documents/xml/parser.ts': { ':.*$': 'it takes all to the end, so that no text fails' },
  'pure/evm/token-answers.ts': { '(?:00)+$': '64 digits' },
  'pure/invoices/input.ts': { '0+$': '18 digits' },
  'pure/market/fraction.ts': { '\\.?0+$': 'digits of a number that we wrote' },
  'pure/protocols/ap2/rules-closed.ts': { '^[^eE]*': 'a number of JSON, which has one point' },
  'pure/protocols/kit/keys.ts': { '=+$': 'two signs, as the expression before it says' },
  'pure/payments/usdc.ts': { '0+$': 'six digits' },
  'pure/receipts/receipt.ts': { '0+$': 'six digits' },
  'surfaces/pages/docs-page.ts': { '^([A-Z]': 'our own descriptions' },
}

test('the judge tells linear, squared and exponential expressions apart', () => {
  const known: [source: string, flags: string, growth: Growth][] = [
    ['(a+)+$', '', 'exponential'],
    ['^(a|a)*$', '', 'exponential'],
    ['^(a*)*$', '', 'exponential'],
    ['^(\\w+\\s?)*$', '', 'exponential'],
    ['^([a-z]|\\w{1,2})+!', '', 'exponential'],
    ['^a*a*$', '', 'squared'],
    ['\\s+$', '', 'squared'],
    ['sender.*balance', 'i', 'squared'],
    ['^\\d+\\.?\\d*$', '', 'squared'],
    ['^\\s+$', '', 'linear'],
    ['\\s+', 'g', 'linear'],
    ['^[a-z]+(\\.[a-z]+)+$', '', 'linear'],
    ['^(?:0|[1-9]\\d*)(?:\\.\\d+)?$', '', 'linear'],
    ['^(?:[^*]|\\*(?!\\/))*$', '', 'linear'],
  ]
  for (const [source, flags, growth] of known) assert.equal(growthOf(source, flags), growth, source)
})

// attack: regular expressions that backtrack
// in: documents and texts
// asset: processor time
// attacker: author
// defence: every expression of the source is analysed; quadratic ones read bounded texts only
test('no expression of the source takes exponential time, and those that take squared time meet short texts alone', () => {
  const slow: string[] = []
  const met = new Set<string>()
  const judged = new Map<string, Growth>()
  let count = 0
  for (const { path, text } of readSources('src/**/*.ts')) {
    const file = path.replace(/^src\//, '')
    for (const { source, flags } of expressionsOf(path, text)) {
      count++
      const key = `/${source}/${flags}`
      const growth = judged.get(key) ?? growthOf(source, flags)
      judged.set(key, growth)
      if (growth === 'linear') continue
      const why = Object.keys(ALLOWED[file] ?? {}).find((beginning) => source.startsWith(beginning))
      if (growth === 'exponential' || why === undefined) slow.push(`${path} ${growth} ${key}`)
      else met.add(`${file} ${why}`)
    }
  }
  assert.ok(count > 500)
  assert.deepEqual(slow, [], 'write it so that each text can be read in one way, or bound the text and say so')
  const stale = Object.entries(ALLOWED).flatMap(([file, rows]) => Object.keys(rows).map((row) => `${file} ${row}`))
  assert.deepEqual(
    stale.filter((row) => !met.has(row)),
    [],
    'these are gone or have become linear',
  )
})

test('the patterns of the structure tables take linear time', () => {
  const texts = Object.values(tables.values).filter((text) => text.startsWith('pattern '))
  const patterns = new Set(texts.map((text) => text.split(' ').slice(3).join(' ')))
  assert.ok(patterns.size > 50)
  for (const pattern of patterns) assert.equal(growthOf(`^(?:${pattern})$`, 'u'), 'linear', pattern)
})

test('numbers of any length in a message are read in linear time', async () => {
  await assertGrowth('a rate of digits', 400, (size) => () => isDecimalText(`${'1'.repeat(size)}x`, 11, 10))
  await assertGrowth('a sum of zeros', 400, (size) => () => isSumText(`0.${'0'.repeat(size)}1`))
})
