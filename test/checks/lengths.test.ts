import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { fixedSources } from '../support/sources.ts'

const { tools } = await loadCatalogue()

/** A value of a wrong length for each check, with the length and the expected one as its standard has it. */
const CASES: readonly (readonly [tool: string, value: string, code: string, found: string, expected: string])[] = [
  ['aba-routing-check', '02100002', 'bad_length', '8 digits', '9 digits'],
  ['abn-check', '5182475355', 'bad_length', '10 digits', '11 digits'],
  ['abn-check', '004085616', 'bad_length', '9 digits', '11 digits'],
  ['cnpj-check', '1234567800019', 'bad_length', '13 digits', '14 characters'],
  ['ean13-check', '73513537', 'bad_length', '8 digits', '13 digits; an EAN-8 has 8'],
  ['ein-format-check', '12345678', 'bad_length', '8 digits', '9 digits'],
  ['gstin-check', '27AAPFU0939F1Z', 'bad_length', '14 characters', '15 characters'],
  ['iban-check', 'GB82WEST1234569876543', 'too_short', '21 characters', '22 characters'],
  ['iban-check', 'GB82WEST123456987654321', 'too_long', '23 characters', '22 characters'],
  ['ifsc-check', 'HDFC000001', 'bad_length', '10 characters', '11 characters'],
  ['isbn-check', '978030640615', 'bad_length', '12 digits', '10 or 13 characters'],
  ['isin-check', 'US037833100', 'bad_length', '11 characters', '12 characters'],
  ['iso4217-currency-check', 'EURO', 'bad_length', '4 characters', 'three letters or three digits'],
  ['japan-corp-check', '70000120500022', 'bad_length', '14 digits', '13 digits'],
  ['kra-pin-check', 'P05136594M', 'bad_length', '10 characters', '11 characters'],
  ['lei-check', '5493001234567846', 'bad_length', '16 digits', '20 characters'],
  ['luhn-check', '79927398713', 'bad_length', '11 digits', '12 to 19 digits'],
  ['pan-format-check', 'ACUPA7085', 'bad_length', '9 characters', '10 characters'],
  ['rfc-check', 'GODE561231GR', 'bad_structure', '', ''],
  ['rfc-check', 'GODE561231G', 'bad_length', '11 characters', '12 characters for a company, 13 for a person'],
  ['sedol-check', '026349', 'bad_length', '6 digits', '7 characters'],
  ['swift-bic-check', 'DEUTDEFFX', 'bad_length', '9 characters', '8 or 11 characters'],
  ['uae-trn-check', '10012345670000', 'bad_length', '14 digits', '15 digits'],
  ['uscc-check', '9111000060003734', 'bad_length', '16 digits', '18 characters'],
  ['e164-check', '+1234567', 'too_short', '7 digits', '8 to 15 digits'],
]

test('a value of a wrong length is told how long it is and how long it should be', async () => {
  for (const [id, value, code, found, expected] of CASES) {
    const tool = tools.find((one) => one.id === id)
    assert.ok(tool !== undefined, id)
    const field = Object.keys(tool.input.shape)[0] ?? ''
    const answer = await tool.execute(tool.input.parse({ [field]: value }), fixedSources(tools))
    assert.equal(answer['reason_code'], code, `${id} ${value}`)
    if (found === '') continue
    const [finding] = answer['findings'] as { found: string; expected: string; message: string }[]
    assert.deepEqual([finding?.found, finding?.expected], [found, expected], `${id} ${value}`)
    assert.ok(finding?.message.endsWith(`The value has ${found}; expected: ${expected}.`), `${id}: ${finding?.message}`)
    assert.equal(answer['reason'], finding?.message)
  }
})
