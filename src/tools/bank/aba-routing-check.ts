import { z } from 'zod'
import { ABA_CLASSES, ABA_DATA_AS_OF, checkAba } from '../../pure/checks/aba.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  class: z.enum(ABA_CLASSES).describe('What the first two digits are set aside for.'),
  fed_district: z.int().min(1).max(12).nullable().describe('Federal Reserve district, or null for prefixes of none.'),
  fed_city: z.string().nullable().describe('City of that Federal Reserve Bank.'),
  routing_symbol: z.string().describe('Federal Reserve routing symbol, digits 1-4.'),
  institution: z.string().describe('Institution within it, digits 5-8.'),
  check_digit: z.string().describe('Digit 9.'),
  wire_or_ach_only: z.null().describe('Always null: the digits do not show which services the number serves.'),
  parts: PARTS,
})

const NUMBER = IDENTIFIER.optional()

const INPUT = z
  .strictObject({
    aba_routing: NUMBER.describe('The routing number, 9 digits; spaces and hyphens are allowed. Give this or routing.'),
    routing: NUMBER.describe('The same by its other name. Where both are given, they must be equal.'),
  })
  .check(({ value: { aba_routing, routing }, issues }) => {
    if (aba_routing === undefined && routing === undefined) {
      issues.push({
        code: 'custom',
        input: undefined,
        path: ['aba_routing'],
        message: 'Give aba_routing, or its alias routing.',
        params: { code: 'missing' },
      })
    } else if (aba_routing !== undefined && routing !== undefined && aba_routing !== routing) {
      issues.push({
        code: 'custom',
        input: routing,
        path: ['routing'],
        message: 'aba_routing and routing differ; give one of them.',
        params: {},
      })
    }
  })
  // What JSON Schema can say of it: an object with none of its fields is refused.
  .meta({ minProperties: 1 })

/** Checks a US bank routing number by its own digits. */
export default defineTool({
  id: 'aba-routing-check',
  title: 'Check a US routing number',
  description:
    'Checks an ABA routing number: 9 digits, a prefix that is set aside for use, and the check digit (weights 3, 7, 1, modulus 10). ' +
    'Returns class and Federal Reserve district. Does not establish that the number is assigned, or to which bank.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['9 digits', 'prefix by the ABA routing number policy', 'check digit (weights 3, 7, 1, modulus 10)'],
    not_checked: ['that the number is assigned, and to whom', 'whether it serves wires, ACH or both', 'its fractional form'],
  },
  batch_field: 'aba_routing',
  sources: [],
  input: INPUT,
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { aba_routing: '021000021' },
  run: ({ aba_routing, routing }) => ({ ...checkAba(aba_routing ?? routing ?? ''), data_as_of: { ...ABA_DATA_AS_OF } }),
})
