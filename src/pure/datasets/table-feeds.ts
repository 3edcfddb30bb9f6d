import { COUNTRIES } from '../checks/countries.ts'
import { ISO4217 } from '../checks/currency.ts'
import { DISPOSABLE_DOMAINS, PUBLIC_SUFFIXES, RDAP_BOOTSTRAP } from '../checks/domains.ts'
import { METADATA_VERSION, PHONE_PLANS, planRows } from '../checks/e164.ts'
import { IBAN_REGISTRY, type IbanRow } from '../checks/iban.ts'
import { IFSC_BANKS } from '../checks/ifsc.ts'
import { ISBN_RANGES } from '../checks/isbn.ts'
import { isObject } from '../is-object.ts'
import type { FeedCollector, FeedDefinition, Snapshot } from './definition.ts'
import { hasPart, plainParts, registryColumns } from './iban-registry.ts'
import { openingAttribute, textOf } from './list-xml.ts'
import type { ReferenceTable } from './table.ts'

/** Feeds of reference tables: documents of their publishers as snapshots. Forms as published in 2026; they were not tried on files of today. */

type RowOf<Table> = Table extends ReferenceTable<string, infer View> ? View : never

/** Makes a snapshot of what a document says. */
function snapshotOf(table: ReferenceTable, about: Omit<Snapshot, 'schema' | 'count'>) {
  const { definition } = table
  const { source, source_version, published_at, retrieved_at, notes, rows } = about
  const head = { schema: definition.schema, source, source_version, published_at, compiled_at: null, retrieved_at }
  return { dataset: definition.id, snapshot: { ...head, ...(notes === undefined ? {} : { notes }), count: rows.length, rows } }
}

/** A document that is read as a whole. */
function wholeDocument(read: (text: string, retrieved_at: string) => ReturnType<typeof snapshotOf> | string): () => FeedCollector {
  return () => {
    let whole = ''
    return {
      element: (text) => void (whole = text),
      finish(_, retrieved_at) {
        const found = read(whole, retrieved_at)
        return typeof found === 'string' ? found : [found]
      },
    }
  }
}

/** Last date of a withdrawal such as `2023-01`, `1989 to 1990` or `1990-07 to 1990-09`; later than any for a current code. */
function lastDate(withdrawn: string | null): string {
  return withdrawn?.split(' to ').at(-1) ?? '9999'
}

/** Names of entities that are not those of ISO 3166. A state that is gone stays without a code. */
const ENTITY_CODES: Readonly<Record<string, string>> = {
  BOLIVIA: 'BO',
  'HOLY SEE (VATICAN CITY STATE)': 'VA',
  LAO: 'LA',
  NETHERLANDS: 'NL',
  'NETHERLANDS (THE)': 'NL',
  'SAINT MARTIN': 'MF',
  SWAZILAND: 'SZ',
  TURKEY: 'TR',
  'UNITED STATES': 'US',
  VENEZUELA: 'VE',
  VIETNAM: 'VN',
}

/** Names are compared by their words, without articles, accents and order: ISO 4217 and ISO 3166 differ in these. */
function nameKey(name: string): string {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase().replace(/[’']/g, '')
  const words = plain.replace(/\b(THE|AND|OF)\b/g, ' ').split(/[^A-Z]+/)
  return words
    .filter((word) => word !== '')
    .sort()
    .join(' ')
}

const BY_NAME: ReadonlyMap<string, string> = new Map(Array.from(COUNTRIES.values(), ({ name, alpha2 }) => [nameKey(name), alpha2]))

/** Alpha-2 code of an entity as ISO 4217 names it; null for unions, funds and states that are gone. */
export function entityCountry(entity: string): string | null {
  return (Object.hasOwn(ENTITY_CODES, entity) ? ENTITY_CODES[entity] : undefined) ?? BY_NAME.get(nameKey(entity)) ?? null
}

type CurrencyRow = RowOf<typeof ISO4217>['rows'][number]

interface CurrencyLine {
  entity: string
  name: string
  alpha: string
  numeric: string
  units: string
  fund: boolean
  withdrawn: string | null
}

function currencyLine(xml: string): CurrencyLine | null {
  const alpha = textOf(xml, 'Ccy')
  // Antarctica and others have no currency.
  if (alpha === '') return null
  const withdrawn = textOf(xml, 'WthdrwlDt')
  return {
    entity: textOf(xml, 'CtryNm'),
    name: textOf(xml, 'CcyNm'),
    alpha,
    numeric: textOf(xml, 'CcyNbr'),
    units: textOf(xml, 'CcyMnrUnts'),
    fund: openingAttribute(xml, 'CcyNm', 'IsFund').toLowerCase() === 'true',
    withdrawn: withdrawn === '' ? null : withdrawn.replace(/^(\d{4})-(\d{4})$/, '$1 to $2'),
  }
}

/** Kind, signs and successor are not in the lists: they are those of the release; a new code has none but its letters. */
function currencyRow(lines: readonly CurrencyLine[], known: CurrencyRow | undefined): CurrencyRow | null {
  const [latest] = lines.toSorted((one, other) => (lastDate(one.withdrawn) < lastDate(other.withdrawn) ? 1 : -1))
  if (latest === undefined) return null
  const { alpha, numeric, name, units, fund, withdrawn } = latest
  const decimals = /^\d$/.test(units) ? Number.parseInt(units, 10) : null
  const entities = [...new Set(lines.map(({ entity }) => entity))].filter((entity) => entity !== '' && !/^ZZ\d\d_/.test(entity))
  const gone = withdrawn === null ? null : known
  return {
    alpha,
    numeric: numeric === '' ? null : numeric,
    name,
    minor_units: decimals,
    kind: known?.kind ?? (fund ? 'fund' : 'currency'),
    symbol: known?.symbol ?? alpha,
    symbol_distinct: known?.symbol_distinct ?? alpha,
    countries: [...new Set(entities.flatMap((entity) => entityCountry(entity) ?? []))].sort(),
    other_entities: entities.filter((entity) => entityCountry(entity) === null),
    withdrawn,
    successor: gone?.successor ?? null,
    per_successor: gone?.per_successor ?? null,
  }
}

/** A code that is current for one entity is current, even if another entity withdrew it. Current codes first, as in the release. */
function currencyRows(lines: readonly CurrencyLine[]): CurrencyRow[] {
  const known = new Map((ISO4217.bundled().rows as CurrencyRow[]).map((row) => [row.alpha, row]))
  const current = lines.filter(({ withdrawn }) => withdrawn === null)
  const used = new Set(current.map(({ alpha }) => alpha))
  const rowsOf = (some: readonly CurrencyLine[]) => {
    const groups = new Map<string, CurrencyLine[]>()
    for (const line of some) groups.set(line.alpha, [...(groups.get(line.alpha) ?? []), line])
    const rows = [...groups].map(([alpha, group]) => currencyRow(group, known.get(alpha))).filter((row) => row !== null)
    return rows.sort((one, other) => (one.alpha < other.alpha ? -1 : 1))
  }
  return [...rowsOf(current), ...rowsOf(lines.filter(({ withdrawn, alpha }) => withdrawn !== null && !used.has(alpha)))]
}

/** The publisher spells it so. */
const SIX = 'https://www.six-group.com/dam/download/financial-information/data-center/iso-currrency/lists'
const LIST_THREE = 'list-three.xml'

function collectCurrencies(): FeedCollector {
  const lines: CurrencyLine[] = []
  let misplaced = 0
  return {
    element(xml, file) {
      const line = currencyLine(xml)
      if (line === null) return
      if ((line.withdrawn !== null) === (file === LIST_THREE)) lines.push(line)
      else misplaced++
    },
    finish(_, retrieved_at, heads) {
      if (misplaced > 0) return `${misplaced} entries are in the wrong list: those of list three, and no others, have a date of withdrawal.`
      const dates = heads.map((head) => /^\d{4}-\d{2}-\d{2}$/.exec(openingAttribute(head, 'ISO_4217', 'Pblshd'))?.[0] ?? '')
      if (dates.includes('')) return 'A list does not state its date; expected <ISO_4217 Pblshd="YYYY-MM-DD">.'
      const published_at = dates.toSorted().at(-1) ?? ''
      const source = 'SIX, maintenance agency of ISO 4217: lists one and three, XML; kinds, signs and successors of the release'
      return [
        snapshotOf(ISO4217, {
          source,
          source_version: `lists of ${dates.join(' and ')}`,
          published_at,
          retrieved_at,
          rows: currencyRows(lines),
        }),
      ]
    },
  }
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Date of `Thu, 3 Aug 2017 16:45:46 CEST`; null for other text. */
function messageDate(text: string): string | null {
  const [, day = '', name = '', year = ''] = /\b(\d{1,2}) ([A-Z][a-z]{2}) (\d{4})\b/.exec(text) ?? []
  const month = MONTHS.indexOf(name) + 1
  return month === 0 ? null : `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`
}

function collectIsbnRanges(): FeedCollector {
  const rows: { group: string; name: string; ranges: string[][] }[] = []
  return {
    element(xml) {
      const rules = [...xml.matchAll(/<Range>\s*(\d{7})-(\d{7})\s*<\/Range>\s*<Length>\s*(\d)\s*<\/Length>/g)]
      // Length 0: not for use.
      const ranges = rules.flatMap(([, first = '', last = '', length = '0']) => {
        const digits = Number.parseInt(length, 10)
        return digits === 0 ? [] : [[first.slice(0, digits), last.slice(0, digits)]]
      })
      rows.push({ group: textOf(xml, 'Prefix'), name: textOf(xml, 'Agency'), ranges })
    },
    finish(head, retrieved_at) {
      const published_at = messageDate(textOf(head, 'MessageDate'))
      if (published_at === null) return 'The message does not state its date; expected <MessageDate>Thu, 3 Aug 2017 …</MessageDate>.'
      const source = 'International ISBN Agency: range message, XML'
      const source_version = textOf(head, 'MessageSerialNumber') || `message of ${published_at}`
      return [snapshotOf(ISBN_RANGES, { source, source_version, published_at, retrieved_at, rows })]
    },
  }
}

/** The registry names servers by groups of top-level domains (RFC 9224). Reviewed overrides of the release stay for domains that it lacks. */
function readBootstrap(text: string, retrieved_at: string): ReturnType<typeof snapshotOf> | string {
  const document: unknown = JSON.parse(text)
  if (!isObject(document) || typeof document['publication'] !== 'string' || !Array.isArray(document['services']))
    return 'The document is not a bootstrap registry; expected publication and services.'
  const { publication, services } = document
  const found = new Map<string, { tld: string; url: string; origin: string }>()
  for (const service of services as unknown[]) {
    const [tlds, urls] = Array.isArray(service) ? (service as unknown[]) : []
    if (!areTexts(tlds) || !areTexts(urls)) return 'A service of the registry is not a list of domains and a list of servers.'
    const url = urls.find((one) => one.startsWith('https://'))
    if (url === undefined) continue
    for (const name of tlds) {
      const tld = name.toLowerCase()
      found.set(tld, { tld, url: url.endsWith('/') ? url : `${url}/`, origin: 'iana' })
    }
  }
  if (found.size === 0) return 'The registry has no service with an https server.'
  for (const row of RDAP_BOOTSTRAP.bundled().rows as { tld: string; url: string; origin: string }[])
    if (row.origin === 'override' && !found.has(row.tld)) found.set(row.tld, row)
  return snapshotOf(RDAP_BOOTSTRAP, {
    source: 'IANA, Bootstrap Service Registry for Domain Name Space, and reviewed overrides of the release',
    source_version: `publication ${publication}`,
    published_at: publication.slice(0, 10),
    retrieved_at,
    rows: [...found.values()].sort((one, other) => (one.tld < other.tld ? -1 : 1)),
  })
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string')
}

function readBankNames(text: string, retrieved_at: string): ReturnType<typeof snapshotOf> | string {
  const document: unknown = JSON.parse(text)
  if (!isObject(document)) return 'The document is not an object of bank codes and names.'
  const rows = Object.entries(document)
    .map(([code, name]) => ({ code, name: typeof name === 'string' ? name.trim() : '' }))
    .sort((one, other) => (one.code < other.code ? -1 : 1))
  const source = 'razorpay/ifsc, src/banknames.json (MIT), built from the lists of the Reserve Bank of India and NPCI'
  return snapshotOf(IFSC_BANKS, { source, source_version: `file of ${retrieved_at}`, published_at: retrieved_at, retrieved_at, rows })
}

function readDomains(text: string, retrieved_at: string): ReturnType<typeof snapshotOf> | string {
  const lines = text.split(/\r?\n/).map((line) => line.trim().toLowerCase())
  const rows = lines.filter((line) => line !== '' && !line.startsWith('#')).map((domain) => ({ domain }))
  if (!text.endsWith('\n')) return 'The list does not end with a line break: it is truncated.'
  const source = 'disposable-email-domains, disposable_email_blocklist.conf (CC0 1.0)'
  return snapshotOf(DISPOSABLE_DOMAINS, {
    source,
    source_version: `file of ${retrieved_at}`,
    published_at: retrieved_at,
    retrieved_at,
    rows,
  })
}

const SECTION_MARK = /^\/\/ ===(BEGIN|END) (ICANN|PRIVATE) DOMAINS===$/

/**
 * Rows of `public_suffix_list.dat` (format: https://github.com/publicsuffix/list/wiki/Format): a line is read up to its first white space, comments begin with
 * two slashes, and each section is between its marks. Rules in other alphabets get their ASCII form. A text says why the list is refused.
 */
export function suffixRows(text: string): { rule: string; section: string }[] | string {
  const found = new Map<string, string>()
  let open: string | null = null
  let closed = 0
  for (const line of text.split('\n')) {
    const [, mark, name = ''] = SECTION_MARK.exec(line.trim()) ?? []
    if (mark !== undefined) {
      if ((open === null) !== (mark === 'BEGIN') || (mark === 'END' && open !== name)) return `The section ${name} begins or ends twice.`
      open = mark === 'BEGIN' ? name : null
      if (mark === 'END') closed++
      continue
    }
    const [written = ''] = line.trimStart().split(/\s/, 1)
    if (written === '' || written.startsWith('//')) continue
    if (open === null) return `The rule ${JSON.stringify(written.slice(0, 100))} is in no section.`
    const [, prefix = '', name_part = ''] = /^(!|\*\.)?(.*)$/s.exec(written) ?? []
    const ascii = /^[a-z0-9.-]+$/.test(name_part) ? name_part : URL.parse(`http://${name_part}/`)?.hostname
    if (ascii === undefined) return `The rule ${JSON.stringify(written.slice(0, 100))} has no ASCII form.`
    if (!found.has(prefix + ascii)) found.set(prefix + ascii, open.toLowerCase())
  }
  if (closed !== 2) return 'The list does not have both sections from beginning to end: it is truncated.'
  return Array.from(found, ([rule, section]) => ({ rule, section })).sort((one, other) => (one.rule < other.rule ? -1 : 1))
}

function readSuffixes(text: string, retrieved_at: string): ReturnType<typeof snapshotOf> | string {
  const rows = suffixRows(text)
  if (typeof rows === 'string') return rows
  const [, version, published_at] = /^\/\/ VERSION: ((\d{4}-\d{2}-\d{2})\S{0,40})/m.exec(text) ?? []
  if (version === undefined || published_at === undefined) return 'The list does not state its date; expected // VERSION: YYYY-MM-DD….'
  const source = 'Public Suffix List, public_suffix_list.dat'
  return snapshotOf(PUBLIC_SUFFIXES, { source, source_version: version, published_at, retrieved_at, rows })
}

/** The file that the package publishes; its members have no names, so another version of the layout is not readable. */
function readPlans(text: string, retrieved_at: string): ReturnType<typeof snapshotOf> | string {
  const document: unknown = JSON.parse(text)
  if (!isObject(document) || document['version'] !== METADATA_VERSION)
    return `The document is not metadata of libphonenumber-js in version ${METADATA_VERSION}.`
  const { country_calling_codes: codes, countries, nonGeographic } = document
  if (!isObject(codes) || !isObject(countries) || !isObject(nonGeographic))
    return 'The metadata lacks calling codes, countries or shared codes.'
  const listed = Object.values(codes).flat()
  if (
    !Object.values(codes).every(areTexts) ||
    listed.length !== Object.keys(countries).length ||
    listed.some((code) => !Object.hasOwn(countries, String(code)))
  )
    return 'The metadata has other countries than its calling codes.'
  const source = 'npm package libphonenumber-js, metadata.max.json (MIT), from libphonenumber of Google (Apache 2.0)'
  const rows = planRows(document as Parameters<typeof planRows>[0])
  return snapshotOf(PHONE_PLANS, { source, source_version: `file of ${retrieved_at}`, published_at: retrieved_at, retrieved_at, rows })
}

/** A new country gets plain parts. A format that changed is refused: reviewed parts and national check digits depend on it. */
function readRegistry(text: string, retrieved_at: string): ReturnType<typeof snapshotOf> | string {
  const columns = registryColumns(text)
  if (typeof columns === 'string') return columns
  const release = IBAN_REGISTRY.bundled().rows as IbanRow[]
  const rows: IbanRow[] = []
  for (const column of columns) {
    const { bank, branch, country, structure, length, territories, example } = column
    const known = release.find((row) => row.registry && row.country === country)
    const same =
      known === undefined || (known.structure === structure && hasPart(known.parts, 'bank', bank) && hasPart(known.parts, 'branch', branch))
    if (!same)
      return `The format of ${country} has changed: its parts must be reviewed (scripts/refresh-iban-registry.ts), then import the table.`
    const parts = known?.parts ?? plainParts(column)
    rows.push({ country, structure, length, parts, territories, registry: true, example })
  }
  const unofficial = release.filter((row) => !row.registry && !rows.some(({ country }) => country === row.country))
  return snapshotOf(IBAN_REGISTRY, {
    source: 'SWIFT IBAN Registry (text file); countries that are not members, and parts: of the release',
    source_version: `text file of ${retrieved_at}`,
    published_at: retrieved_at,
    retrieved_at,
    rows: [...rows, ...unofficial].sort((one, other) => (one.country < other.country ? -1 : 1)),
  })
}

const WHOLE = { root: '', elements: [], optional: true } as const

export const TABLE_FEEDS = {
  iso4217: {
    url: `${SIX}/list-one.xml`,
    file: 'list-one.xml',
    format: 'xml',
    root: 'ISO_4217',
    elements: ['CcyNtry'],
    // 60 kB in 2026.
    bytes_max: 2_000_000,
    more: [
      { url: `${SIX}/${LIST_THREE}`, file: LIST_THREE, format: 'xml', root: 'ISO_4217', elements: ['HstrcCcyNtry'], bytes_max: 2_000_000 },
    ],
    datasets: ['iso4217'],
    optional: true,
    collect: collectCurrencies,
  },
  isbn_ranges: {
    url: 'https://www.isbn-international.org/export_rangemessage.xml',
    file: 'RangeMessage.xml',
    format: 'xml',
    root: 'ISBNRangeMessage',
    elements: ['Group'],
    // 150 kB in 2017.
    bytes_max: 4_000_000,
    datasets: ['isbn_ranges'],
    optional: true,
    collect: collectIsbnRanges,
  },
  rdap_bootstrap: {
    ...WHOLE,
    url: 'https://data.iana.org/rdap/dns.json',
    file: 'dns.json',
    format: 'json',
    bytes_max: 2_000_000,
    datasets: ['rdap_bootstrap'],
    collect: wholeDocument(readBootstrap),
  },
  ifsc_banks: {
    ...WHOLE,
    url: 'https://raw.githubusercontent.com/razorpay/ifsc/master/src/banknames.json',
    file: 'banknames.json',
    format: 'json',
    bytes_max: 2_000_000,
    datasets: ['ifsc_banks'],
    collect: wholeDocument(readBankNames),
  },
  disposable_domains: {
    ...WHOLE,
    url: 'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf',
    file: 'disposable_email_blocklist.conf',
    format: 'text',
    bytes_max: 4_000_000,
    datasets: ['disposable_domains'],
    collect: wholeDocument(readDomains),
  },
  iban_registry: {
    ...WHOLE,
    // The file is behind a form, so it comes from a mirror or an import.
    url: null,
    file: 'iban-registry.txt',
    format: 'text',
    encoding: 'latin1',
    // 40 kB in 2026.
    bytes_max: 1_000_000,
    datasets: ['iban_registry'],
    collect: wholeDocument(readRegistry),
  },
  phone_plans: {
    ...WHOLE,
    url: 'https://cdn.jsdelivr.net/npm/libphonenumber-js@1/metadata.max.json',
    file: 'metadata.max.json',
    format: 'json',
    // 160 kB in 2026.
    bytes_max: 2_000_000,
    datasets: ['phone_plans'],
    collect: wholeDocument(readPlans),
  },
  public_suffixes: {
    ...WHOLE,
    url: 'https://publicsuffix.org/list/public_suffix_list.dat',
    file: 'public_suffix_list.dat',
    format: 'text',
    // 330 kB in 2026.
    bytes_max: 4_000_000,
    datasets: ['public_suffixes'],
    collect: wholeDocument(readSuffixes),
  },
} as const satisfies Readonly<Record<string, FeedDefinition>>
