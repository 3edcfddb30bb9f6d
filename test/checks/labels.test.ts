import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAba, isAba } from '../../src/pure/checks/aba.ts'
import { checkBic, isBic } from '../../src/pure/checks/bic.ts'
import { checkE164, isE164 } from '../../src/pure/checks/e164.ts'
import { checkEan13, isEan13 } from '../../src/pure/checks/ean13.ts'
import { checkIban, isIban } from '../../src/pure/checks/iban.ts'
import { checkIfsc, isIfsc } from '../../src/pure/checks/ifsc.ts'
import { checkIsbn, isIsbn } from '../../src/pure/checks/isbn.ts'
import { checkIsin, isIsin } from '../../src/pure/checks/isin.ts'
import { checkLuhn, isLuhn } from '../../src/pure/checks/luhn.ts'
import { checkSedol, isSedol } from '../../src/pure/checks/sedol.ts'
import { checkUpiVpa, isUpiVpa } from '../../src/pure/checks/upi-vpa.ts'
import { assertTakenOff, SIGNS, type Labelled } from '../support/labelled.ts'

const LABELLED: readonly Labelled[] = [
  { check: checkAba, passes: isAba, value: '021000021', words: ['ABA', 'ABA routing number', 'Routing transit number', 'ABA/RTN'] },
  {
    check: checkBic,
    passes: isBic,
    value: 'BNPAFRPP',
    words: ['BIC', 'Swift Code', 'SWIFT/BIC code', 'BIC (SWIFT)', 'SWIFT (BIC) Code', '\uff22\uff29\uff23', '\ufeffBIC'],
  },
  { check: checkE164, passes: isE164, value: '+442071838750', words: ['Tel.', 'Phone', 'Telephone', 'Mobile no.', 'FAX'] },
  { check: checkEan13, passes: isEan13, value: '4006381333931', words: ['EAN', 'EAN-13', 'EAN 13', 'GTIN-13', 'EAN code'] },
  { check: checkIban, passes: isIban, value: 'GB82WEST12345698765432', words: ['IBAN', 'IBAN-Nr.', 'Iban number'] },
  { check: checkIfsc, passes: isIfsc, value: 'HDFC0000001', words: ['IFSC', 'IFSC code', 'IFS Code'] },
  { check: checkIsbn, passes: isIsbn, value: '9780306406157', words: ['ISBN', 'ISBN-13', 'ISBN 13', 'ISBN13'] },
  { check: checkIsin, passes: isIsin, value: 'US0378331005', words: ['ISIN', 'ISIN code', 'ISIN-Nr.'] },
  { check: checkLuhn, passes: isLuhn, value: '490154203237518', words: ['IMEI', 'IMEI no.'] },
  { check: checkSedol, passes: isSedol, value: 'B15KXQ8', words: ['SEDOL', 'SEDOL code', 'Sedol no.'] },
]

test('a word in front is taken off whatever space or sign sets it off', () => {
  for (const labelled of LABELLED) assertTakenOff(labelled)
})

// BICB is in Nepal (NP) when the word is read as a part of the code: the answer would praise another bank's code.
test('behind the word BIC a wrong code stays wrong', () => {
  for (const rest of ['BNPAF1PP', 'BNPAF', 'BNPAFRP', 'BNPAFRPPX', 'BNPAQQPP'])
    for (const sign of SIGNS) {
      assert.equal(checkBic(`BIC${sign}${rest}`).normalized, rest, rest)
      assert.equal(isBic(`BIC${sign}${rest}`), false, rest)
    }
  assert.equal(checkBic('BIC: BIC BNPAFRPP').normalized, 'BNPAFRPP')
  assert.equal(checkBic('BICBNPAF').normalized, 'BICBNPAF')
  assert.equal(checkBic('BICB NP AF').normalized, 'BICBNPAF')
})

// The number of the word, or its letters, would fill the number up to a length that may pass.
test('a number that lacks digits stays too short behind EAN 13 or ISBN 10', () => {
  for (const sign of [' ', '-', ': ', '\u00a0']) {
    for (const word of ['EAN 13', 'EAN-13', 'GTIN13']) assert.equal(checkEan13(`${word}${sign}40063813339`).reason_code, 'bad_length')
    for (const rest of ['00000001', '0000002']) {
      const { reason_code, normalized } = checkIsbn(`ISBN-10${sign}${rest}`)
      assert.deepEqual([reason_code, normalized], ['bad_length', rest])
    }
  }
  assert.equal(checkEan13('EAN 1300000000008').normalized, '1300000000008')
  assert.equal(checkIsbn('ISBN13 978O306406157').suggestion, '9780306406157')
})

test('a routing number behind its word gets back the zero that it lost', () => {
  const { reason_code, suggestion } = checkAba('ABA 21000021')
  assert.deepEqual([reason_code, suggestion], ['bad_length', '021000021'])
})

test('the words of UPI are set off by space or colon only, since an address may begin with them', () => {
  for (const word of ['UPI', 'upi id', 'VPA', 'UPI-ID', 'UPI address'])
    for (const sign of [' ', ': ', ':', '\u00a0', '\uff1a', '\n', ' : ']) {
      const text = `${word}${sign}name@okhdfcbank`
      const { valid, normalized, changes } = checkUpiVpa(text)
      assert.deepEqual([valid, normalized, changes.at(-1)], [true, 'name@okhdfcbank', 'removed_prefix'], JSON.stringify(text))
      assert.equal(isUpiVpa(text), true)
    }
  for (const address of ['upi-name@ybl', 'vpa.name@ybl', 'upi@ybl']) assert.equal(checkUpiVpa(address).normalized, address)
  for (const text of ['UPI ID-name@ybl', 'UPI  ID-name@ybl', 'UPI ID \u2014 name@ybl']) assert.equal(checkUpiVpa(text).valid, false, text)
  assert.deepEqual(checkUpiVpa('UPI: Name@ybl').changes, ['removed_prefix', 'lowercased'])
})
