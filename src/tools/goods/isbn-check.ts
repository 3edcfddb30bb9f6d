import { z } from 'zod'
import { checkIsbn, ISBN_DATA_AS_OF } from '../../pure/checks/isbn.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { checkOutput, DATA_AS_OF, IDENTIFIER, PARTS } from '../../service/catalogue/schemas.ts'

const ISBN_FACTS = z.strictObject({
  form: z.enum(['isbn13', 'isbn10', 'sbn']).describe('How the number was written.'),
  prefix: z.string().describe('978 or 979; 978 for the shorter forms.'),
  group: z.string().nullable().describe('Registration group element.'),
  group_name: z.string().nullable().describe('Country, region or language area of the group.'),
  registrant: z.string().nullable().describe('Registrant (publisher) element, null where no range is assigned.'),
  publication: z.string().nullable().describe('Publication element.'),
  check: z.string().describe('The check character as given.'),
  isbn10: z.string().nullable().describe('As ISBN-10; null with prefix 979 or a wrong check digit.'),
  isbn10_hyphenated: z.string().nullable().describe('The same with hyphens.'),
  isbn13: z.string().nullable().describe('As ISBN-13; null with a wrong check digit.'),
  isbn13_hyphenated: z.string().nullable().describe('The same with hyphens.'),
  gtin: z.string().nullable().describe('GTIN-13 of the bar code; null with a wrong check digit.'),
  parts: PARTS,
})

/** ISBN-10 and ISBN-13, taken apart by the ranges of the International ISBN Agency and turned into one another. */
export default defineTool({
  id: 'isbn-check',
  title: 'Check an ISBN',
  description:
    'Checks an ISBN-10 (modulus 11) or ISBN-13 (modulus 10, prefix 978 or 979) and gives group, registrant, publication, hyphenation, ' +
    'the other form and the GTIN. Recognizes an ISMN or an ISSN bar code. A valid ISBN need not belong to a book.',
  family: 'goods',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['length, characters and prefix (ISO 2108)', 'check digit', 'registration group and registrant ranges'],
    not_checked: ['that a book with this number exists', 'title, author or publisher'],
  },
  batch_field: 'isbn',
  sources: [],
  input: z.strictObject({
    isbn: IDENTIFIER.describe('ISBN-10 or ISBN-13; spaces, hyphens and the word ISBN in front are allowed.'),
  }),
  output: checkOutput(ISBN_FACTS).extend({ data_as_of: DATA_AS_OF }),
  example: { isbn: '978-0-306-40615-7' },
  run: ({ isbn }) => ({ ...checkIsbn(isbn), data_as_of: { ...ISBN_DATA_AS_OF } }),
})
