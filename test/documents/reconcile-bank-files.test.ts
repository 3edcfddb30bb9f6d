import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { detectKind, headText } from '../../src/pure/documents/reconcile/document-kinds.ts'
import { documentReader } from '../../src/pure/documents/reconcile/document-reader.ts'
import { ReadFindings, type BankEntry } from '../../src/pure/documents/reconcile/records.ts'
import { StatementBook } from '../../src/pure/documents/reconcile/statement-book.ts'

/** Files of banks, read as they are; counts and sums come from a few lines per format that share nothing with the readers. */

const FOLDER = new URL('./bank-files/', import.meta.url)

function readFile(bytes: Uint8Array, chunk_bytes = bytes.length) {
  const findings = new ReadFindings()
  const entries: BankEntry[] = []
  const kind = detectKind(headText(bytes))
  assert.ok(kind !== null)
  const sink = { keep_remittance: true, instruction: () => undefined, entry: (one: BankEntry) => void entries.push(one) }
  const reader = documentReader(kind, 0, findings, new StatementBook(), sink)
  for (let at = 0; at < bytes.length; at += chunk_bytes) assert.ok(reader.write(bytes.subarray(at, at + chunk_bytes)))
  reader.end()
  return { kind, entries, codes: findings.list.map(({ code }) => code), errors: findings.errors }
}

/** Signed hundredths, and the number of bookings. */
function expected(name: string, text: string): { count: number; sum: number } {
  const lines = text.split(/\r?\n/)
  const total = (amounts: number[]) => ({ count: amounts.length, sum: Math.round(amounts.reduce((sum, one) => sum + one, 0)) })
  if (name.startsWith('camt')) {
    const found = [...text.matchAll(/<Ntry>\s*(?:<NtryRef>[^<]*<\/NtryRef>\s*)?<Amt Ccy="...">([0-9.]+)<\/Amt>\s*<CdtDbtInd>(\w+)/g)]
    return total(found.map(([, amount, sign]) => (sign === 'DBIT' ? -100 : 100) * Number(amount)))
  }
  if (name.startsWith('sample')) {
    const found = lines.flatMap((line) => (line.startsWith('16,') ? [line.split(',')] : []))
    return total(found.map(([, code, amount]) => (Number(code) >= 400 ? -1 : 1) * Number(amount)))
  }
  const found = lines.flatMap((line) => {
    const parts = /^:61:\d{6}(?:\d{4})?(R?)([CD])[A-Z]?(\d+,?\d*)/.exec(line)
    return parts === null ? [] : [parts]
  })
  return total(
    found.map(
      ([, reversal, sign, amount]) => ((sign === 'C') === (reversal === '') ? 100 : -100) * Number((amount ?? '').replace(',', '.')),
    ),
  )
}

test('every file of a bank is read with the count and sum of an independent computation', () => {
  const names = readdirSync(FOLDER).filter((name) => name !== 'README.md')
  assert.equal(names.length, 24)
  for (const name of names) {
    const bytes = readFileSync(new URL(name, FOLDER))
    const { count, sum } = expected(name, bytes.toString('latin1'))
    const read = readFile(bytes)
    assert.equal(read.errors, 0, `${name}: ${read.codes.join(' ')}`)
    // No currency and the mark of before 2002 have five decimal places, so that nothing is rounded.
    const hundredths = ({ currency, amount_minor }: BankEntry) => (/^(?:XXX|DEM)$/.test(currency) ? amount_minor / 1_000n : amount_minor)
    const found = read.entries.reduce((all, one) => all + (one.direction === 'DBIT' ? -hundredths(one) : hundredths(one)), 0n)
    assert.equal(found, BigInt(sum), name)
    if (!name.startsWith('camt')) assert.equal(read.entries.length, count, name)
    // However the file is cut into chunks, the entries are the same.
    assert.deepEqual(readFile(bytes, 7).entries, read.entries, name)
  }
})

test('preambles and structures of field 86 are understood', () => {
  const of = (name: string) => readFile(readFileSync(new URL(name, FOLDER))).entries
  const [first] = of('betterplace-sepa_mt9401.sta')
  assert.deepEqual([first?.end_to_end_id, first?.returned, first?.account], ['TFNR 40005 00005', true, '50880050/0194774600888'])
  assert.equal(of('jejik-abnamro.sta').length, 10)
  assert.deepEqual(
    of('mBank-mt940.sta').map(({ currency }) => currency),
    ['PLN', 'PLN', 'PLN'],
  )
  assert.equal(of('jejik-rabobank.sta')[0]?.account, '1291.99.348')
  const wire = of('sample4-continuations-newline-delimited.txt').find(({ end_to_end_id }) => end_to_end_id === 'GSV0DL6RKT')
  assert.equal(wire?.remittance?.counterparty_name, 'TEST COMPANY')
})

test('encodings are decoded by mark, declaration and content', () => {
  const camt = (declared: string) =>
    `<?xml version="1.0"${declared}?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>` +
    '<Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><NtryDtls><TxDtls><RmtInf><Ustrd>Müller</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>'
  const mt = (text: string) =>
    `:20:A\n:25:DE89370400440532013000\n:28C:1/1\n:60F:C260228EUR1,00\n:61:2603020302D1,00NTRFNONREF\n:86:${text}\n:62F:C260302EUR0,00\n-`
  const bytes = (text: string, map: Readonly<Record<string, number>> = {}) =>
    Uint8Array.from(text, (character) => map[character] ?? character.charCodeAt(0))
  const cases: [string, Uint8Array, string][] = [
    ['UTF-8', Buffer.from(camt('')), 'Müller'],
    ['ISO-8859-1', bytes(camt(' encoding="ISO-8859-1"')), 'Müller'],
    ['ISO-8859-15', bytes(camt(' encoding="ISO-8859-15"')), 'Müller'],
    ['windows-1252', bytes(camt(' encoding="windows-1252"')), 'Müller'],
    ['IBM 850', bytes(camt(' encoding="IBM850"'), { ü: 0x81 }), 'Müller'],
    ['UTF-16', Buffer.from(`\u{FEFF}${camt(' encoding="UTF-16"')}`, 'utf16le'), 'Müller'],
    ['MT940 in UTF-8', Buffer.from(mt('Müller')), 'Müller'],
    ['MT940 in windows-1252', bytes(mt('Müller')), 'Müller'],
    ['MT940 in windows-1250', bytes(mt('Wałęsa'), { ł: 0xb3, ę: 0xea }), 'Wałęsa'],
    ['MT940 in IBM 850', bytes(mt('Müller Größe'), { ü: 0x81, ö: 0x94, ß: 0xe1 }), 'Müller Größe'],
    ['MT940 in UTF-16', Buffer.from(`\u{FEFF}${mt('Müller')}`, 'utf16le'), 'Müller'],
  ]
  for (const [name, given, text] of cases) {
    const read = readFile(given)
    assert.equal(read.errors, 0, `${name} ${read.codes.join(' ')}`)
    assert.deepEqual(read.entries[0]?.remittance?.unstructured, [text], name)
  }
})
