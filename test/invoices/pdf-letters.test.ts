import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import fontkit from '@pdf-lib/fontkit'
import fc from 'fast-check'
import { decodePDFRawStream, PDFDocument, PDFRawStream } from 'pdf-lib'
import { isPrinted } from '../../src/pure/invoices/printable.ts'
import { localized } from '../../src/surfaces/pages/messages.ts'
import { invoicePdf } from '../../src/service/invoices/pdf.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedInvoices } from '../support/invoices-memory.ts'

const MERCHANT = '0x1000000000000000000000000000000000000001'

async function view(client_name: string, memo: string) {
  const end = await fixedInvoices({ now_ms: () => Date.UTC(2026, 10, 21, 12) }).create({
    amount: '12.5',
    merchant: MERCHANT,
    client_name,
    memo,
  })
  assert.ok(end.kind === 'made', 'the invoice was not made')
  return end.view
}

async function paper(client_name: string, memo: string): Promise<Uint8Array> {
  return invoicePdf((await view(client_name, memo)).record, null, localized('en', undefined))
}

/** What a reader copies out: each text by the ToUnicode map of the embedded font (PDF 32000-1 §9.10.3), or, where there is none, by its bytes. */
async function texts(bytes: Uint8Array): Promise<string[]> {
  const document = await PDFDocument.load(bytes)
  const streams = document.context.enumerateIndirectObjects().flatMap(([, one]) => (one instanceof PDFRawStream ? [one] : []))
  const written = streams.map((one) => Buffer.from(decodePDFRawStream(one).decode()).toString('latin1'))
  const maps = written.flatMap((one) => [...one.matchAll(/^<([0-9A-F]{4})> <([0-9A-F]{4,})>$/gim)])
  const letters = new Map(maps.map(([, glyph = '', code = '']) => [glyph.toUpperCase(), utf16(code)]))
  const byGlyph = (hex: string) => (hex.match(/.{4}/g) ?? []).map((glyph) => letters.get(glyph) ?? '').join('')
  const shown = written.flatMap((one) => [...one.matchAll(/<([0-9A-F]+)> Tj/g)].map(([, hex = '']) => hex))
  return shown.flatMap((hex) => [new TextDecoder('windows-1252').decode(Buffer.from(hex, 'hex')), byGlyph(hex)])
}

function utf16(hex: string): string {
  return (hex.match(/.{4}/g) ?? []).map((unit) => String.fromCharCode(Number.parseInt(unit, 16))).join('')
}

test('names in the alphabets of Europe stand on the paper as they are written', async () => {
  const memo = 'Faktura za říjen, Ελληνικά, Українська, ქართული, Հայերեն'
  const read = await texts(await paper('Łódzka Spółka Żeglugowa', memo))
  for (const text of ['Łódzka Spółka Żeglugowa', memo]) assert.ok(read.includes(text), text)
})

test('a letter and its accent are one letter', async () => {
  const read = await texts(await paper('Cafe\u0301 Mu\u0308ller', 'c\u030Cas'))
  assert.ok(read.includes('Caf\u00E9 M\u00FCller'))
  assert.ok(read.includes('\u010Das'))
})

test('scripts that the paper does not print are named by field and character, and there is no paper', async () => {
  const unprinted = {
    Japanese: ['請求書', '請 (U+8ACB), 求 (U+6C42), 書 (U+66F8)'],
    Arabic: ['فاتورة', 'ف (U+0641), ا (U+0627), ت (U+062A), و (U+0648), ر (U+0631), ة (U+0629)'],
    Hebrew: ['אב', 'א (U+05D0), ב (U+05D1)'],
    Hindi: ['बिल', 'ब (U+092C), U+093F, ल (U+0932)'],
    Thai: ['ใบ', 'ใ (U+0E43), บ (U+0E1A)'],
    Korean: ['청', '청 (U+CCAD)'],
    emoji: ['\u{1f600} ok', '\u{1f600} (U+1F600)'],
    'a mark that joins no letter': ['q\u0307', 'U+0307'],
  }
  for (const [script, [text = '', listed]] of Object.entries(unprinted)) {
    for (const [client_name, memo, field] of [
      [text, 'x', 'client_name'],
      ['x', text, 'memo'],
    ] as const) {
      const { record } = await view(client_name, memo)
      assert.deepEqual(record['pdf_unprintable'], [{ field, characters: listed?.split(', ') }], script)
      await assert.rejects(invoicePdf(record, null, localized('en', undefined)), RangeError)
    }
  }
  assert.equal((await view('Łódź €', 'Ελλάδα')).record['pdf_unprintable'], null)
})

test('any text is printed character by character or named: no other character takes the place of one', async () => {
  const text = fc.array(
    fc.oneof(fc.constantFrom(...Array.from('Łódźabc €Ω Жђ')), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  await fc.assert(
    fc.asyncProperty(text, async (parts) => {
      const memo = `a${parts.join('').replace(/[\p{C}\p{Z}]/gu, '')}b`
      const { record } = await view('x', memo)
      const missing = (record['pdf_unprintable'] as { characters: string[] }[] | null)?.[0]?.characters
      if (missing === undefined)
        assert.ok((await texts(await invoicePdf(record, null, localized('en', undefined)))).includes(memo.normalize('NFC')), memo)
      else
        assert.ok(
          missing.every((one) => one.startsWith('U+') || memo.normalize('NFC').includes(Array.from(one)[0] ?? '?')),
          memo,
        )
    }),
    { numRuns: runs(60, 500), seed: SEED },
  )
})

test('the table of printed characters holds what the font has, of scripts that need no shaping', async () => {
  const file = await readFile(new URL(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')))
  const document = await PDFDocument.create()
  document.registerFontkit(fontkit)
  const known = new Set((await document.embedFont(file)).getCharacterSet())
  const plain = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}]$/u
  for (let code = 0x20; code < 0x20000; code++) {
    // Surrogates, and what Arabic shares with its neighbours.
    if ((code >= 0xd800 && code < 0xe000) || (code >= 0x600 && code < 0x700)) continue
    const character = String.fromCodePoint(code)
    const isPlain = plain.test(character) && !/[\p{M}\p{C}]|\p{Emoji_Presentation}/u.test(character)
    if (isPrinted(character)) assert.ok(known.has(code) && isPlain, `U+${code.toString(16)} is printed`)
    else if (/\p{L}/u.test(character) && code < 0x10000) assert.ok(!known.has(code) || !isPlain, `U+${code.toString(16)} is not printed`)
  }
})

test('a paper brings a font only for texts that need one, and is the same each time', async () => {
  const [plain, wide, again] = [await paper('Müller €', 'x'), await paper('Żak', 'x'), await paper('Żak', 'x')]
  const fonts = async (bytes: Uint8Array) => {
    const document = await PDFDocument.load(bytes)
    return document.context.enumerateIndirectObjects().filter(([, one]) => String(one).includes('/FontFile')).length
  }
  assert.deepEqual([await fonts(plain), await fonts(wide)], [0, 1])
  assert.deepEqual(wide, again)
  assert.ok(wide.length < plain.length + 20_000)
})

test('lines end between words, and a word longer than a line is broken', async () => {
  const [words, long] = ['dłuższy '.repeat(30).trim(), 'ż'.repeat(150)]
  const read = await texts(await paper('x', `${words} ${long}`))
  const lines = read.filter((text) => /^[dłuższy ]+$/.test(text))
  assert.equal(
    lines.join(' ').replaceAll(/ż+ ż+ ż+$/g, (end) => end.replaceAll(' ', '')),
    `${words} ${long}`,
  )
  assert.ok(lines.filter((line) => line.includes('dłuższy')).every((line) => /^dłuższy( dłuższy)+$/.test(line)))
})

test('a memo as long as it may be, of the widest letters, is printed whole', async () => {
  for (const letter of ['W', 'Ж', 'Ω']) {
    const read = await texts(await paper('x', letter.repeat(500)))
    assert.equal(read.filter((text) => new RegExp(`^${letter}+$`).test(text)).join('').length, 500, letter)
  }
})
