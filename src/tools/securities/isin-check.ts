import { z } from 'zod'
import { checkIsin, ISIN_DATA_AS_OF, ISIN_PREFIX_KINDS } from '../../pure/checks/isin.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  prefix: z.string().describe('Characters 1 and 2.'),
  prefix_kind: z.enum(ISIN_PREFIX_KINDS).describe('Country, numbering agency, use inside one house, or a country that is gone.'),
  prefix_name: z.string().describe('Country or agency.'),
  nsin: z.string().describe('The national number, characters 3-11.'),
  check_digit: z.string().describe('Character 12.'),
  embedded: z
    .strictObject({
      kind: z.enum(['cusip', 'sedol', 'wkn', 'valor']).describe('Kind of the national number.'),
      id: z.string().describe('The number itself.'),
      check_ok: z.boolean().nullable().describe('Whether its own check digit is valid; null when it has none.'),
    })
    .nullable()
    .describe('The national number inside, where its kind is known.'),
  parts: PARTS,
})

/** Checks an ISIN by its own characters. */
export default defineTool({
  id: 'isin-check',
  title: 'Check an ISIN',
  description:
    'Checks an ISIN (ISO 6166): 12 characters, a prefix of ISO 3166 or of a numbering agency (EU, XS, XT, EZ …), and the Luhn check digit. ' +
    'Returns the CUSIP, SEDOL, WKN or Valor inside. Does not establish that the number was issued.',
  family: 'securities',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and characters (ISO 6166)', 'prefix by ISO 3166 and the list of agencies', 'check digit', 'CUSIP inside'],
    not_checked: ['that the number was issued', 'which security it names, and whether it trades'],
  },
  batch_field: 'isin',
  sources: [],
  input: z.strictObject({
    isin: IDENTIFIER.describe('The ISIN, 12 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { isin: 'US0378331005' },
  run: ({ isin }) => ({ ...checkIsin(isin), data_as_of: { ...ISIN_DATA_AS_OF } }),
})
