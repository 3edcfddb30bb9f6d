import { z } from 'zod'
import { checkLuhn } from '../../pure/checks/luhn.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const DIGITS = { min_digits: 12, max_digits: 19 }

const LUHN_FACTS = z.strictObject({
  digit_count: z.int().min(DIGITS.min_digits).max(DIGITS.max_digits).describe('Number of digits.'),
  payload: z.string().describe('All digits but the last.'),
  check_digit: z.string().describe('The last digit.'),
  blind_spots: z.array(z.string()).readonly().describe('Mistakes that the method cannot see.'),
  parts: PARTS,
})

/** Checks Luhn's check digit on 12 to 19 digits. Returns no card network or issuer, so that callers have no reason to send card numbers. */
export default defineTool({
  id: 'luhn-check',
  title: 'Check a number by the Luhn method',
  description:
    'Checks the Luhn (modulus 10) check digit of a number of 12 to 19 digits, such as an IMEI, an ICCID or a published test number. ' +
    'Never send a real payment card number: it must not be submitted here. A passing number need not exist.',
  family: 'bank',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['12 to 19 digits', 'Luhn modulus 10 check digit (ISO/IEC 7812-1, annex B)'],
    not_checked: ['that the number was issued', 'card network or issuer', 'the mistakes listed in blind_spots'],
  },
  batch_field: 'number',
  sources: [],
  input: z.strictObject({
    number: IDENTIFIER.describe('The number, 12 to 19 digits; spaces and hyphens are allowed. Never a real payment card number.'),
  }),
  output: checkOutput(LUHN_FACTS),
  example: { number: '490154203237518' },
  run: ({ number }) => checkLuhn(number, DIGITS),
})
