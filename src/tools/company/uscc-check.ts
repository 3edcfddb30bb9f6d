import { z } from 'zod'
import { checkUscc, USCC_DATA_AS_OF } from '../../pure/checks/uscc.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const FACTS = z.strictObject({
  authority_code: z.string().describe('Who registered: the first character.'),
  authority_name: z.string().nullable().describe('That authority, or null when our table lacks it.'),
  category_code: z.string().describe('What was registered: the second character.'),
  category_name: z.string().nullable().describe('That category, or null.'),
  division_code: z.string().describe('Six digits of the division; 100000 is the whole country.'),
  province: z.string().nullable().describe('Province by its first two digits, or null.'),
  organization_code: z.string().describe('Characters 9-17.'),
  organization_check_valid: z.boolean().describe('Whether its own check character holds.'),
  parts: PARTS,
})

/** Checks a unified social credit code. */
export default defineTool({
  id: 'uscc-check',
  title: 'Check a Chinese company code',
  description:
    'Checks a Chinese unified social credit code (GB 32100-2015): 18 characters without I, O, S, V, Z, and a check ' +
    'character modulo 31. Returns authority, category, province and the organization code with its own check. Does not ask ' +
    'the register whether the entity exists.',
  family: 'company',
  version: '1.1.1',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'length and characters',
      'check character (modulo 31)',
      'authority, category and province, as warnings',
      'organization code (GB 11714), as a warning',
    ],
    not_checked: ['that the code was issued', 'whose it is, and whether the entity is active'],
  },
  sources: [],
  input: z.strictObject({
    uscc: IDENTIFIER.describe('The code, 18 characters; spaces and hyphens are allowed.'),
  }),
  output: checkOutput(FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { uscc: '91110000600037341L' },
  run({ uscc }) {
    return { ...checkUscc(uscc), data_as_of: { ...USCC_DATA_AS_OF } }
  },
})
