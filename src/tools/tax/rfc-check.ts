import { z } from 'zod'
import { checkRfc } from '../../pure/checks/rfc.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  kind: z.enum(['person', 'company', 'person_without_homoclave']).describe('By length: 13, 12 or 10 characters.'),
  generic: z
    .enum(['public', 'foreign'])
    .nullable()
    .describe('public or foreign for the two generic numbers, which name no taxpayer; null for all others.'),
  initials: z.string().describe('Letters in front.'),
  date_candidates: z.array(z.string()).describe('Birth or foundation in either century, where the date exists.'),
  homoclave: z.string().nullable().describe('The last three characters, or null.'),
  check_digit: z.string().nullable().describe('The last character, or null.'),
  check_matches: z.boolean().nullable().describe('Whether the check digit fits; null where there is none to compare.'),
  print_form: z.string().describe('In three groups.'),
  parts: PARTS,
})

/** Checks the structure, date and check digit of an RFC. */
export default defineTool({
  id: 'rfc-check',
  title: 'Check an RFC',
  description:
    'Checks a Mexican RFC: initials, date, homoclave and check digit of a person (13) or company (12). About one real ' +
    'number in a hundred has a wrong check digit, so a mismatch is a warning unless strict is true. Knows the generic ' +
    'numbers. Does not ask SAT whether the taxpayer exists.',
  family: 'tax',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'length and characters (Ñ and & included)',
      'date',
      'words that SAT avoids',
      'check digit (modulo 11); a fault only when strict',
    ],
    not_checked: ['that the number was issued', 'name or status of the taxpayer'],
  },
  sources: [],
  input: z.strictObject({
    rfc: IDENTIFIER.describe('The RFC, 12 or 13 characters; spaces and hyphens are allowed.'),
    strict: z.boolean().optional().describe('Whether a wrong check digit is a fault; by default it is a warning.'),
  }),
  output: checkOutput(FACTS),
  example: { rfc: 'GODE561231GR8' },
  run: ({ rfc, strict }) => checkRfc(rfc, strict),
})
