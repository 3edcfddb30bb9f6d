import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentCard } from '@a2a-js/sdk'
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client'
import fc from 'fast-check'
import { runs, SEED } from '../support/counts.ts'
import { A2A_CLEAN } from './a2a-clean.ts'
import { checkText } from './harness.ts'
import { changed, DROPPED, stepsIn } from './ucp-mutants.ts'

/**
 * The official package reads cards leniently: of 1.0 it refuses a null where an object of a list or a map should stand, and takes everything
 * else, an empty object too; of older cards it also refuses what is no list where there should be one, and schemes of unknown types. What it
 * refuses, these rules refuse too, whatever one place of a right card is changed into. There are no exceptions.
 */

const CARDS = Object.entries(A2A_CLEAN)
  .filter(([, { document }]) => typeof document === 'object' && document !== null && !('jsonrpc' in document))
  .map(([name, { document, version }]) => ({ name, document, version }))

function refuses(document: unknown, version: string): boolean {
  try {
    if (version === '1.0') AgentCard.fromJSON(document)
    else parseLegacyAgentCard(document)
    return false
  } catch {
    return true
  }
}

const VALUES: readonly unknown[] = [DROPPED, null, true, 7, 1.5, -1, '', 'x', [], {}, [7], [null], { a: 1 }, 'x'.repeat(300)]

const mutants = fc.constantFrom(...CARDS).chain(({ name, version, document }) =>
  fc.tuple(fc.constantFrom(...stepsIn(document)), fc.constantFrom(...VALUES)).map(([steps, to]) => ({
    name: `${name} /${steps.join('/')} ${String(to)}`,
    version,
    document: changed(document, steps, to),
  })),
)

test('the package accepts the right cards', () => {
  assert.ok(CARDS.length > 5)
  for (const { name, document, version } of CARDS) assert.equal(refuses(document, version), false, name)
})

test('the package accepts next to everything as a card of 1.0', () => {
  for (const lenient of [{}, [], 'card', 7, { supportedInterfaces: [{}], skills: 'none' }]) assert.equal(refuses(lenient, '1.0'), false)
  for (const strict of [null, { skills: [null] }]) assert.equal(refuses(strict, '1.0'), true)
})

test('what the package refuses is refused here', () => {
  const met = { refused: 0, accepted: 0 }
  const property = fc.property(mutants, ({ name, version, document }) => {
    const theirs = refuses(document, version)
    met[theirs ? 'refused' : 'accepted']++
    if (theirs) assert.equal(checkText('a2a', JSON.stringify(document)).status, 'fail', name)
  })
  fc.assert(property, { numRuns: runs(200, 2_000), seed: SEED })
  assert.ok(met.refused > 10 && met.accepted > 50, JSON.stringify(met))
})
