import { z } from 'zod'
import { checkEan13, EAN13_DATA_AS_OF, GS1_KINDS } from '../../pure/checks/ean13.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  gs1_prefix: z.string().describe('Digits 1-3.'),
  kind: z.enum(GS1_KINDS).nullable().describe('What the prefix is for; null when no range is known.'),
  organisation: z.string().nullable().describe('Organisation that issues numbers here; not a country of origin.'),
  restricted_circulation: z.boolean().describe('Given out inside one company or region; means nothing elsewhere.'),
  gtin14: z.string().describe('The same number as a GTIN-14.'),
  upc_a: z.string().nullable().describe('As UPC-A, when the first digit is 0.'),
  isbn13: z.string().nullable().describe('A book number, prefix 978 or 979 but 979-0.'),
  ismn: z.string().nullable().describe('A number of printed music, prefix 979-0.'),
  issn: z.string().nullable().describe('The ISSN of a serial, prefix 977.'),
  check_digit: z.string().describe('Digit 13.'),
  parts: PARTS,
})

/** Checks an EAN-13 by its own digits. */
export default defineTool({
  id: 'ean13-check',
  title: 'Check an EAN-13',
  description:
    'Checks an EAN-13 (GTIN-13): 13 digits and the check digit (modulus 10, weights 1 and 3). Returns the GS1 organisation, restricted ' +
    'circulation, and the UPC-A, ISBN, ISMN or ISSN inside. Does not establish that an article exists.',
  family: 'goods',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['13 digits', 'check digit (modulus 10, weights 1 and 3)', 'GS1 prefix by the list'],
    not_checked: ['that the number was given out', 'which article it names', 'where the article was made'],
  },
  batch_field: 'code',
  sources: [],
  input: z.strictObject({
    code: IDENTIFIER.describe('The code, 13 digits; spaces, hyphens and the word EAN in front are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { code: '4006381333931' },
  run: ({ code }) => ({ ...checkEan13(code), data_as_of: { ...EAN13_DATA_AS_OF } }),
})
