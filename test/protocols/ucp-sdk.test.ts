import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type * as Sdk from '@ucp-js/sdk'
import fc from 'fast-check'
import { runs, SEED } from '../support/counts.ts'
import { checkText } from './harness.ts'
import { UCP_CLEAN } from './ucp-clean.ts'
import { changed, DROPPED, stepsIn } from './ucp-mutants.ts'

/**
 * The published package reads the shape of 2026-01-11 and looks at types alone. What it refuses, these rules refuse too, whatever one place
 * of a right document is changed into; the other way round they ask for much more.
 */

interface Schema {
  safeParse(value: unknown): { success: boolean }
}

// Its modules import each other without file extensions, which Node refuses; its CommonJS form works.
const sdk = createRequire(import.meta.url)('@ucp-js/sdk') as typeof Sdk

const CHECKOUT: readonly Schema[] = [
  sdk.CheckoutResponseSchema,
  sdk.CheckoutWithAp2MandateSchema,
  sdk.CheckoutWithBuyerConsentResponseSchema,
  sdk.CheckoutWithDiscountResponseSchema,
  sdk.CheckoutWithFulfillmentResponseSchema,
]

const DOCUMENTS: readonly { name: string; schemas: readonly Schema[] }[] = [
  { name: 'business 01-11', schemas: [sdk.UcpDiscoveryProfileSchema] },
  { name: 'platform 01-11', schemas: [sdk.UcpDiscoveryProfileSchema] },
  { name: 'checkout 01-11', schemas: CHECKOUT },
  { name: 'completed 01-11', schemas: CHECKOUT },
  { name: 'order 01-11', schemas: [sdk.OrderSchema] },
]

/** Where the package refuses and these rules do not, by the place in the document. */
const DISAGREEMENTS: readonly { name: string; place: RegExp; reason: string }[] = [
  {
    name: 'ap2 without checkout_mandate',
    place: /^completed 01-11\/ap2(?:\/checkout_mandate)?$/,
    reason: 'The platform sends the mandate when it completes a checkout; the business answers with merchant_authorization alone.',
  },
]

const VALUES: readonly unknown[] = [DROPPED, null, true, 7, 1.5, -1, '', 'x', [], {}, [7], [null], { a: 1 }, 'x'.repeat(300)]

interface Mutant {
  name: string
  schemas: readonly Schema[]
  pointer: string
  document: unknown
}

const mutants: fc.Arbitrary<Mutant> = fc.constantFrom(...DOCUMENTS).chain(({ name, schemas }) => {
  const document = UCP_CLEAN[name]?.document
  return fc.tuple(fc.constantFrom(...stepsIn(document)), fc.constantFrom(...VALUES)).map(([steps, to]) => ({
    name,
    schemas,
    pointer: `/${steps.join('/')}`,
    document: changed(document, steps, to),
  }))
})

const refuses = (schemas: readonly Schema[], document: unknown) => schemas.some((schema) => !schema.safeParse(document).success)

test('the package accepts the right documents of 2026-01-11', () => {
  for (const { name, schemas } of DOCUMENTS) {
    // Only a completed checkout carries a mandate; the schema for mandates asks for nothing else when there is none.
    assert.equal(refuses(schemas, UCP_CLEAN[name]?.document), false, name)
  }
})

test('what the package refuses is refused here, but for the named disagreements', () => {
  const met = { refused: 0, accepted: 0 }
  const property = fc.property(mutants, ({ name, schemas, pointer, document }) => {
    const theirs = refuses(schemas, document)
    met[theirs ? 'refused' : 'accepted']++
    if (!theirs || DISAGREEMENTS.some(({ place }) => place.test(`${name}${pointer}`))) return
    assert.equal(checkText('ucp', JSON.stringify(document)).status, 'fail', `${name} ${pointer}`)
  })
  fc.assert(property, { numRuns: runs(200, 2_000), seed: SEED })
  assert.ok(met.refused > 100 && met.accepted > 30, JSON.stringify(met))
})
