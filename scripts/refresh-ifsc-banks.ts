/**
 * Rebuilds data/ifsc-banks.json from the bank names of razorpay/ifsc (src/banknames.json, MIT): an object of bank code and name.
 *
 *   node scripts/refresh-ifsc-banks.ts --source <path or URL> --published 2026-05-27 --retrieved 2026-11-21
 */
import { assert, option, printDifference, readSource, rowsOf, tableDates, writeTable } from './support/table.ts'

interface Row {
  code: string
  name: string
}

const PATH = new URL('../data/ifsc-banks.json', import.meta.url)
/** Banks that have always been there; the names they go by. */
const SENTINELS: Readonly<Record<string, RegExp>> = {
  SBIN: /State Bank of India/i,
  HDFC: /HDFC/i,
  ICIC: /ICICI/i,
  UTIB: /Axis/i,
  YESB: /Yes/i,
  PUNB: /Punjab National/i,
}

const names: unknown = JSON.parse(new TextDecoder().decode(await readSource(option('source'))))
assert(typeof names === 'object' && names !== null && !Array.isArray(names), 'the source is not an object of codes and names')
const rows = Object.entries(names)
  .map(([code, name]): Row => {
    assert(/^[A-Z]{4}$/.test(code), `"${code}" is not a bank code`)
    assert(typeof name === 'string' && name.trim() !== '' && name.length <= 100, `${code}: the name is missing or too long`)
    return { code, name: name.trim() }
  })
  .toSorted((one, other) => (one.code < other.code ? -1 : 1))
const before = await rowsOf<Row>(PATH)
assert(rows.length >= 1_200 && rows.length <= 3_000, `${rows.length} banks`)
assert(rows.length >= before.length * 0.95, `the list shrank from ${before.length} to ${rows.length} banks`)
for (const [code, name] of Object.entries(SENTINELS)) {
  const row = rows.find((one) => one.code === code)
  assert(row !== undefined && name.test(row.name), `${code} is not what it was`)
}
printDifference(before, rows, ({ code }) => code)
await writeTable(
  PATH,
  {
    schema: 'assay/ifsc-banks/1',
    source: 'razorpay/ifsc, src/banknames.json (MIT), built from the lists of the Reserve Bank of India and NPCI',
    source_version: option('published'),
    ...tableDates(option('source')),
    notes: 'Names by the first four characters of an IFSC. Codes of merged banks stay listed; branches are not.',
  },
  rows,
)
