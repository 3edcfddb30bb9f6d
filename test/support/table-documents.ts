/** Documents of the feeds of tables in the forms of their publishers, made of the rows of the release. */
import { domainToUnicode } from 'node:url'
import { COUNTRIES } from '../../src/pure/checks/countries.ts'
import { TABLES } from '../../src/pure/datasets/datasets.ts'

export type Rows = Record<string, unknown>[]

const xml = (text: unknown) => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const rowsOf = (id: keyof typeof TABLES) => TABLES[id].bundled().rows as Rows

export interface Currency {
  alpha: string
  numeric: string | null
  name: string
  minor_units: number | null
  countries: string[]
  other_entities: string[]
  withdrawn: string | null
}

/** Lists one and three in the form of SIX, with an entry for each entity of a currency. */
export function currencyLists(published: string, change: (rows: Currency[]) => Currency[] = (rows) => rows): Record<string, string> {
  const entries = change(rowsOf('iso4217') as unknown as Currency[]).flatMap((row) => {
    const names = [...row.countries.map((code) => COUNTRIES.get(code)?.name ?? code), ...row.other_entities]
    const tag = row.withdrawn === null ? 'CcyNtry' : 'HstrcCcyNtry'
    const number = row.numeric === null ? '' : `<CcyNbr>${row.numeric}</CcyNbr>`
    const end = row.withdrawn === null ? `<CcyMnrUnts>${row.minor_units ?? 'N.A.'}</CcyMnrUnts>` : `<WthdrwlDt>${row.withdrawn}</WthdrwlDt>`
    return (names.length === 0 ? ['ZZ01_Bond Markets Unit'] : names).map(
      (entity) => `<${tag}><CtryNm>${xml(entity)}</CtryNm><CcyNm>${xml(row.name)}</CcyNm><Ccy>${row.alpha}</Ccy>${number}${end}</${tag}>`,
    )
  })
  const list = (tag: string, table: string) =>
    `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<ISO_4217 Pblshd="${published}"><${table}>${entries
      .filter((entry) => entry.startsWith(`<${tag}>`))
      .join('\n')}</${table}></ISO_4217>\n`
  return { 'list-one.xml': list('CcyNtry', 'CcyTbl'), 'list-three.xml': list('HstrcCcyNtry', 'HstrcCcyTbl') }
}

export function rangeMessage(change: (rows: Rows) => Rows = (rows) => rows): string {
  const groups = change(rowsOf('isbn_ranges')).map(({ group, name, ranges }) => {
    const rules = (ranges as [string, string][]).map(
      ([first, last]) => `<Rule><Range>${first.padEnd(7, '0')}-${last.padEnd(7, '9')}</Range><Length>${first.length}</Length></Rule>`,
    )
    return `<Group><Prefix>${String(group)}</Prefix><Agency>${xml(name)}</Agency><Rules>${rules.join('')}<Rule><Range>9999999-9999999</Range><Length>0</Length></Rule></Rules></Group>`
  })
  return `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE ISBNRangeMessage [ <!ELEMENT MessageDate (#PCDATA) > <!ELEMENT Group (Prefix, Agency, Rules) > ]>
<ISBNRangeMessage><MessageSource>International ISBN Agency</MessageSource><MessageSerialNumber>11fa4d3a-8c67-4b24-acdb-274cac377fcd</MessageSerialNumber>
<MessageDate>Thu, 5 Nov 2026 16:45:46 GMT</MessageDate>
<EAN.UCCPrefixes><EAN.UCC><Prefix>978</Prefix><Agency>International ISBN Agency</Agency><Rules><Rule><Range>0000000-5999999</Range><Length>1</Length></Rule></Rules></EAN.UCC></EAN.UCCPrefixes>
<RegistrationGroups>${groups.join('\n')}</RegistrationGroups></ISBNRangeMessage>`
}

export function bootstrap(change: (rows: Rows) => Rows = (rows) => rows): string {
  const services = change(rowsOf('rdap_bootstrap'))
    .filter(({ origin }) => origin === 'iana')
    .map(({ tld, url: server_url }) => [[tld], [`http://old.${String(tld)}.example/`, server_url]])
  return JSON.stringify({ description: 'RDAP bootstrap file', publication: '2026-11-20T20:00:02Z', services, version: '1.0' })
}

export function bankNames(change: (rows: Rows) => Rows = (rows) => rows): string {
  return JSON.stringify(Object.fromEntries(change(rowsOf('ifsc_banks')).map(({ code, name }) => [code, name])))
}

export function domains(change: (rows: Rows) => Rows = (rows) => rows): string {
  return `${change(rowsOf('disposable_domains'))
    .map(({ domain }) => String(domain))
    .join('\n')}\n`
}

/** The list as its server sends it: rules in their own alphabet, comments, and remarks behind a rule. */
export function suffixList(change: (rows: Rows) => Rows = (rows) => rows): string {
  const rows = change(rowsOf('public_suffixes')).map(({ rule, section }) => ({ rule: domainToUnicode(String(rule)), section }))
  const of = (section: string) =>
    rows
      .filter((row) => row.section === section)
      .map(({ rule }, index) => (index % 100 === 0 ? `\n// Registry ${index} : https://registry.example\n${rule} // remark` : rule))
      .join('\n')
  return `// This Source Code Form is subject to the terms of the Mozilla Public
// License, v. 2.0.

// VERSION: 2026-11-20_08-14-41_UTC
// COMMIT: 0b6e2a05b1f6d2f0c4b9a4f3b4a1c9d8e7f60512

// ===BEGIN ICANN DOMAINS===
${of('icann')}
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
${of('private')}
// ===END PRIVATE DOMAINS===
`
}

/** The file of the package, with the plan of Switzerland for a region that does not exist. */
export function phonePlans(change: (rows: Rows) => Rows = (rows) => rows): string {
  const rows = change(rowsOf('phone_plans')) as { calling_code: string; region: string | null; plan: unknown[] }[]
  const regions = rows.filter(({ region }) => region !== null)
  const codes = Map.groupBy(regions, ({ calling_code }) => calling_code)
  return JSON.stringify({
    version: 4,
    country_calling_codes: Object.fromEntries(Array.from(codes, ([code, of]) => [code, of.map(({ region }) => region)])),
    countries: Object.fromEntries(regions.map(({ region, plan }) => [region, plan])),
    nonGeographic: Object.fromEntries(rows.filter(({ region }) => region === null).map(({ calling_code, plan }) => [calling_code, plan])),
  })
}

/** The text file of SWIFT: a line for each fact, a column for each country, names in Latin-1, addresses with line breaks. */
export function ibanRegistry(change: (rows: Rows) => Rows = (rows) => rows): string {
  const rows = change(rowsOf('iban_registry').filter(({ registry }) => registry === true))
  const place = (parts: string, label: string) => {
    let end = 0
    for (const part of parts.split(' ')) {
      const [name = '', size = '0'] = part.split(':')
      end += Number(size)
      if (name === label) return `${end - Number(size) + 1}-${end}`
    }
    return label === 'branch' ? 'N/A' : ''
  }
  const lists = (codes: unknown) => ((codes as string[]).length === 0 ? 'N/A' : `"${(codes as string[]).join(', ')}"`)
  const line = (label: string, of: (row: Rows[number]) => string) => `${label}\t${rows.map(of).join('\t')}`
  return `${[
    line('Data element', () => 'Description - Pattern - Example'),
    line('Name of country', ({ country }) => `"${String(country)}, Land \u00fc"`),
    line('IBAN prefix country code (ISO 3166)', ({ country }) => String(country)),
    line('Country code includes other countries/territories', ({ territories }) => lists(territories)),
    line('SEPA country', () => 'Yes'),
    line('BBAN', () => ''),
    line('BBAN structure', ({ structure }) => String(structure)),
    line('BBAN length', ({ length }) => String(Number(length) - 4)),
    line('Bank identifier position within the BBAN', ({ parts }) => place(String(parts), 'bank')),
    line('Branch identifier position within the BBAN', ({ parts }) => place(String(parts), 'branch')),
    line('IBAN structure', ({ country, structure }) => `${String(country)}2!n${String(structure)}`),
    line('IBAN length', ({ length }) => String(length)),
    line('IBAN electronic format example', ({ example }) => String(example)),
    line('Street Address', () => '"1, Avenue ""A""\nPO BOX 705"'),
    line('Name', () => ''),
  ].join('\n')}\n`
}

export const PHILIPPINES = {
  country: 'PH',
  structure: '4!a10!n',
  length: 18,
  parts: 'bank:4 account:10',
  territories: [],
  registry: true,
  // 98 - (BANK 0123456789 PH00 as digits) mod 97, ISO 13616.
  example: `PH${String(98n - ((BigInt('1110232001234567892517') * 100n) % 97n)).padStart(2, '0')}BANK0123456789`,
}
