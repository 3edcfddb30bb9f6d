/** Message catalogues of the checkout and the invoice PDF. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PDFDocument, StandardFonts } from 'pdf-lib'
import { localized } from '../../src/surfaces/pages/messages.ts'

const FOLDER = new URL('../../data/messages/', import.meta.url)

/** Placeholders of each message, by the path of its key. */
function placeholders(value: unknown, path = ''): [string, string[]][] {
  if (typeof value === 'string') return [[path, [...new Set(value.match(/\{\w+\}/g))].toSorted()]]
  return Object.entries(value as Record<string, unknown>).flatMap(([key, one]) => placeholders(one, `${path}/${key}`))
}

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))

test('every catalogue has every message of the English one, with the same placeholders, and none is empty', () => {
  const english = Object.fromEntries(placeholders(read('en.json')))
  const files = readdirSync(FOLDER)
  assert.deepEqual(files.toSorted(), ['de.json', 'en.json', 'es.json'])
  for (const file of files) {
    assert.deepEqual(Object.fromEntries(placeholders(read(file))), english, file)
    assert.doesNotMatch(readFileSync(new URL(file, FOLDER), 'utf8'), /: ""/, file)
  }
})

test('the languages differ in every section', () => {
  const [english, german, spanish] = ['en', 'de', 'es'].map((tag) => localized(tag, undefined).messages)
  for (const key of ['pay', 'merchant', 'already_paid'] as const) {
    assert.equal(new Set([english, german, spanish].map((one) => one?.checkout[key])).size, 3, key)
  }
  assert.equal(new Set([english, german, spanish].map((one) => one?.pdf.foot)).size, 3)
})

test('texts of the PDF fit its page in the standard font', async () => {
  const document = await PDFDocument.create()
  const font = await document.embedFont(StandardFonts.Helvetica)
  const known = new Set(font.getCharacterSet())
  for (const { tag } of localized('en', undefined).languages) {
    const { pdf } = localized(tag, undefined).messages
    for (const [key, text] of Object.entries(pdf)) {
      assert.ok(
        Array.from(text).every((character) => known.has(character.codePointAt(0) ?? 0)),
        `${tag} ${key}`,
      )
    }
    // A4 without its margins is 483 points wide; labels end where values begin.
    assert.ok(font.widthOfTextAtSize(pdf.foot, 8) < 483, `${tag} foot`)
    for (const key of [
      'amount_due',
      'fee',
      'token',
      'bank_account',
      'bank_reference',
      'deposit_address',
      'payable_until',
      'pay_to',
    ] as const) {
      assert.ok(font.widthOfTextAtSize(pdf[key], 10) < 110, `${tag} ${key}`)
    }
  }
})

test('the language is the requested one, else the best accepted one, else English', () => {
  const cases: [string | undefined, string | undefined, string][] = [
    [undefined, undefined, 'en'],
    ['de', 'es', 'de'],
    ['DE-AT', undefined, 'de'],
    ['xx', 'es', 'es'],
    [undefined, 'fr, es;q=0.5, de;q=0.7', 'de'],
    [undefined, 'de;q=0, es;q=0.1', 'es'],
    [undefined, 'de;q=2, es', 'es'],
    [undefined, '*', 'en'],
    [undefined, `${'fr,'.repeat(5_000)}de`, 'en'],
    ['../../etc/passwd', '__proto__', 'en'],
  ]
  for (const [requested, accepted, language] of cases) assert.equal(localized(requested, accepted?.slice(0, 100_000)).language, language)
})
