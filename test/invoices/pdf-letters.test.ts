import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePDFRawStream, PDFDocument, PDFRawStream } from 'pdf-lib'
import { invoicePdf } from '../../src/service/invoices/pdf.ts'
import { fixedInvoices } from '../support/invoices-memory.ts'

const MERCHANT = '0x4200000000000000000000000000000000000006'

async function paper(client_name: string, memo: string): Promise<Uint8Array> {
  const end = await fixedInvoices({ now_ms: () => Date.UTC(2026, 10, 21, 12) }).create({
    amount: '12.5',
    merchant: MERCHANT,
    client_name,
    memo,
  })
  assert.ok(end.kind === 'made')
  return invoicePdf(end.view.record)
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
  return shown.flatMap((hex) => [Buffer.from(hex, 'hex').toString('latin1'), byGlyph(hex)])
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

test('scripts that the paper cannot write are question marks and never another text', async () => {
  const read = await texts(await paper('株式 Ż', 'مرحبا Ż \u05D0'))
  assert.ok(read.includes('?? Ż'))
  assert.ok(read.includes('????? Ż ?'))
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
