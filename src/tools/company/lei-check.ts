import { z } from 'zod'
import { checkLei, LEI_DATA_AS_OF } from '../../pure/checks/lei.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  lou_prefix: z.string().describe('Characters 1-4: who first issued the code, for codes since November 2012.'),
  lou_name: z.string().nullable().describe('That issuer, or null when the partial table lacks it.'),
  entity_part: z.string().describe('Characters 5-18.'),
  check_digits: z.string().describe('Characters 19 and 20.'),
  legacy_prefix: z.boolean().describe('Characters 5 and 6 are not 00: an older code, whose prefix names no issuer.'),
  print_form: z.string().describe('An LEI is written without spaces.'),
  parts: PARTS,
})

/** Checks a Legal Entity Identifier by its own digits. */
export default defineTool({
  id: 'lei-check',
  title: 'Check an LEI',
  description:
    'Checks a Legal Entity Identifier (ISO 17442): 20 characters and ISO 7064 MOD 97-10 check digits 02-98. Returns issuer prefix, ' +
    'entity part and the digits expected. Does not ask the register whether the code was issued or is current.',
  family: 'company',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length and characters (ISO 17442)', 'check digits (ISO 7064 MOD 97-10)'],
    not_checked: ['that the code was ever issued', 'whose it is, and whether it is current'],
  },
  batch_field: 'lei',
  sources: [],
  input: z.strictObject({
    lei: IDENTIFIER.describe('The LEI, 20 characters; spaces and hyphens are allowed.'),
  }),
  register: {
    id: 'gleif',
    number: ({ normalized }) => ({ country: '', number: String(normalized) }),
    settles: ['that the code was ever issued', 'whose it is, and whether it is current'],
  },
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { lei: '5493001KJTIIGC8Y1R12' },
  run({ lei }) {
    return { ...checkLei(lei), data_as_of: { ...LEI_DATA_AS_OF } }
  },
})
