import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAbn, isAbn } from '../../src/pure/checks/abn.ts'
import { checkCnpj, isCnpj } from '../../src/pure/checks/cnpj.ts'
import { checkCompanyNumber, isCompanyNumber } from '../../src/pure/checks/company-number.ts'
import { checkEin, isEin } from '../../src/pure/checks/ein.ts'
import { checkGstin, isGstin } from '../../src/pure/checks/gstin.ts'
import { checkJapanCorp, isJapanCorp } from '../../src/pure/checks/japan-corp.ts'
import { checkKraPin, isKraPin } from '../../src/pure/checks/kra-pin.ts'
import { checkLei, isLei } from '../../src/pure/checks/lei.ts'
import { checkPan, isPan } from '../../src/pure/checks/pan.ts'
import { checkRfc, isRfc } from '../../src/pure/checks/rfc.ts'
import { checkUaeTrn, isUaeTrn } from '../../src/pure/checks/uae-trn.ts'
import { checkUscc, isUscc } from '../../src/pure/checks/uscc.ts'
import { checkVat, isVat } from '../../src/pure/checks/vat.ts'
import { assertTakenOff, type Labelled } from '../support/labelled.ts'

const LABELLED: readonly Labelled[] = [
  { check: checkAbn, passes: isAbn, value: '51824753556', words: ['ABN', 'ABN No.', 'ABN number', 'A.B.N.'] },
  { check: checkCnpj, passes: isCnpj, value: '16727230000197', words: ['CNPJ', 'CNPJ No.', 'CNPJ/MF', 'CNPJ nº'] },
  {
    check: checkCompanyNumber,
    passes: isCompanyNumber,
    value: 'SC123456',
    words: ['Company No.', 'Registered number', 'Company Reg. No.'],
  },
  { check: checkEin, passes: isEin, value: '123456789', words: ['EIN', 'FEIN', 'Federal EIN', 'Tax ID', 'US TIN', 'EIN No.'] },
  { check: checkGstin, passes: isGstin, value: '27AAPFU0939F1ZV', words: ['GSTIN', 'GSTIN/UIN', 'GST No.', 'GSTIN number'] },
  { check: checkJapanCorp, passes: isJapanCorp, value: '7000012050002', words: ['Corporate Number', '法人番号', '登録番号'] },
  { check: checkKraPin, passes: isKraPin, value: 'P051365947M', words: ['PIN', 'KRA PIN', 'PIN No.'] },
  { check: checkLei, passes: isLei, value: '5493001KJTIIGC8Y1R12', words: ['LEI', 'LEI code'] },
  { check: checkPan, passes: isPan, value: 'ACUPA7085R', words: ['PAN', 'PAN number'] },
  { check: checkRfc, passes: isRfc, value: 'GODE561231GR8', words: ['RFC', 'R.F.C.'] },
  { check: checkUaeTrn, passes: isUaeTrn, value: '100123456700003', words: ['TRN', 'TRN No.'] },
  { check: checkUscc, passes: isUscc, value: '91110000600037341L', words: ['USCC', 'Unified Social Credit Code', '统一社会信用代码'] },
]

/** What invoices of the country print before its number. */
const VAT_WORDS: readonly (readonly [number: string, words: readonly string[]])[] = [
  ['DE136695976', ['VAT number', 'VAT ID No.', 'VAT-ID', 'EU VAT', 'USt-IdNr.', 'USt-ID', 'Umsatzsteuer-Identifikationsnummer']],
  ['GB980780684', ['VAT Reg No', 'VAT Registration Number', 'VAT Reg. No.', 'VAT No.']],
  ['FR40303265045', ['TVA', 'N° TVA', 'TVA intracommunautaire', 'N° TVA intracommunautaire']],
  ['NL004495445B01', ['BTW', 'BTW-nummer', 'btw-identificatienummer']],
  ['IT00743110157', ['P.IVA', 'P. IVA', 'Partita IVA']],
  ['ESB58378431', ['IVA', 'NIF', 'CIF', 'Nº IVA']],
  ['PL8567346215', ['NIP', 'NIP no.']],
  ['CZ25123891', ['DIČ', 'DIC']],
  ['SK2022749619', ['IČ DPH', 'DPH']],
  ['SE556188840401', ['Momsreg. nr', 'Moms']],
  ['CHE107787577', ['MWST-Nr.', 'UID']],
  ['NO974760673', ['VAT registration no.', 'VAT number', 'VAT ID']],
]

test('a word in front is taken off whatever space or sign sets it off', () => {
  for (const labelled of LABELLED) assertTakenOff(labelled)
})

test('the names of VAT numbers are taken off in the languages of invoices', () => {
  for (const [value, words] of VAT_WORDS) assertTakenOff({ check: checkVat, passes: isVat, value, words })
})

// "NO" of "VAT ID No. DE…" is no Norway, and "Nu" and "Re" of number and registration are neither Niue nor Réunion.
test('a wrong VAT number behind a word is judged for its own country', () => {
  for (const word of ['VAT ID No. ', 'VAT number: ', 'VAT registration no. ']) {
    const { facts, reason_code } = checkVat(`${word}DE136695978`)
    assert.deepEqual([facts?.country, reason_code], ['DE', 'bad_checksum'], word)
  }
  const bare = checkVat('VAT number: 00743110157')
  assert.deepEqual([bare.valid, bare.facts?.also_passes], [false, ['IT']])
})

test('a number of initials RFC, or of the register NO, keeps its letters', () => {
  assert.equal(checkRfc('RFC 561231 GR8').normalized, 'RFC561231GR8')
  assert.equal(isRfc('RFC 561231 GR8'), true)
  assert.equal(checkCompanyNumber('NO 123456').normalized, 'NO123456')
  assert.equal(checkCompanyNumber('No. 12345678').normalized, '12345678')
})
