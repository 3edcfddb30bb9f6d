import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getAddress } from 'viem'
import addresses from '../../data/ofac-addresses.json' with { type: 'json' }
import jurisdictions from '../../data/prohibited-jurisdictions.json' with { type: 'json' }
import { proveOfac, rowsFromCsv, rowsFromXml } from '../../scripts/support/ofac-sources.ts'
import { ABSENT, PRESENT } from '../../src/pure/datasets/sanctions-lists.ts'
import { readEvmAddress } from '../../src/pure/checks/evm-address.ts'
import { BUNDLED_ADDRESSES, bundledScreening, createScreening, listAges, OFAC_LIST_DAYS } from '../../src/pure/checks/ofac.ts'
import { sanctionsHint } from '../../src/pure/checks/countries.ts'
import { SourceDown } from '../../src/service/catalogue/define.ts'
import tool from '../../src/tools/company/ofac-sdn-check.ts'
import { runs, SEED } from '../support/counts.ts'
import { anyText } from '../support/identifiers.ts'
import { fixedSources } from '../support/sources.ts'
import { clockAt } from '../support/clock-at.ts'

const { screenSubject } = bundledScreening()
const many = { numRuns: runs(500, 10_000), seed: SEED }
const hex = fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdef')), minLength: 40, maxLength: 40 })
const cased = (bits: number[]) => (letter: string, at: number) => ((bits[at] ?? 0) === 1 ? letter.toUpperCase() : letter)
const bits = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 40, maxLength: 40 })

test('every listed address is found in any case, bare, with 0x, and as an account of any chain', () => {
  fc.assert(
    fc.property(fc.constantFrom(...addresses.rows), bits, fc.nat(1e9), ({ address, entity }, flips, chain_id) => {
      const digits = Array.from(address.slice(2)).map(cased(flips)).join('')
      for (const form of [digits, `0x${digits}`, `0X${digits}`, `eip155:${chain_id}:0x${digits}`, ` 0x${digits}\n`]) {
        const { status, matches, normalized } = screenSubject(form)
        assert.deepEqual([status, matches[0]?.name, normalized], ['match', entity, address], form)
      }
    }),
    many,
  )
})

test('the capitals of EIP-55 are those of viem, and only they hold', () => {
  fc.assert(
    fc.property(hex, bits, (digits, flips) => {
      const right = getAddress(`0x${digits}`)
      assert.equal(readEvmAddress(`0x${digits}`)?.checksummed, right)
      const written = `0x${Array.from(digits).map(cased(flips)).join('')}`
      const plain = written === written.toLowerCase() || written.slice(2) === written.slice(2).toUpperCase()
      assert.equal(readEvmAddress(written)?.checksum, plain ? 'absent' : written === right ? 'holds' : 'broken')
    }),
    many,
  )
})

test('any text is answered, and what is no address and no place is not screened', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { status, matches, list } = screenSubject(text)
      assert.equal(matches.length > 0, ['match', 'needs_review', 'elevated'].includes(status))
      assert.equal(list === null, status === 'not_screened')
    }),
    many,
  )
  for (const name of ['Roman Semenov', 'LAZARUS GROUP', 'GARANTEX EUROPE OU', 'Jordan, Michael']) {
    assert.equal(screenSubject(name).status, 'not_screened', name)
  }
})

test('Lazarus is on the list, Tornado Cash is not', () => {
  for (const address of PRESENT) assert.equal(screenSubject(address).status, 'match')
  for (const address of ABSENT) assert.equal(screenSubject(address).status, 'no_match')
})

test('an address is found behind the name of its chain, and a listed one among other words', () => {
  const [listed = ''] = PRESENT
  const forms = [
    'eth:{}',
    'base:{}',
    'ethereum:{}@1',
    'ethereum:pay-{}@8453',
    '{} (Ronin bridge)',
    'https://basescan.org/address/{}',
    'Lazarus {}; Germany',
  ]
  for (const form of forms) {
    const { status, normalized } = screenSubject(form.replace('{}', listed))
    assert.deepEqual([status, normalized], ['match', listed.toLowerCase()], form)
  }
  const other = NOBODY.subject
  for (const form of ['eth:{}', 'ethereum:{}@1']) assert.deepEqual(screenSubject(form.replace('{}', other)).normalized, other.toLowerCase())
  for (const form of ['{} and more', 'https://basescan.org/address/{}', `x${listed}`, `${listed}0`])
    assert.equal(screenSubject(form.replace('{}', other)).status, 'not_screened', form)
})

test('the hint of a country code agrees with the table of jurisdictions', () => {
  for (const { code, kind, level } of jurisdictions.rows) {
    if (kind === 'country') assert.equal(sanctionsHint(code)?.level, level, code)
    else assert.equal(sanctionsHint(code), null)
  }
  assert.equal(sanctionsHint('SY'), null)
})

const NOBODY = { subject: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }
const published_ms = Date.parse(addresses.published_at)
const at = (days: number, on_stale_list: 'refuse' | 'report') => ({
  ...fixedSources([tool]),
  clock: clockAt(() => published_ms + days * 86_400_000),
  screening: { on_stale_list, active: bundledScreening },
})

test('no match is told from a list of thirty days, and from an older one only with its age, or not at all', () => {
  assert.equal(bundledScreening().ageDays('ofac_addresses', published_ms + 30.9 * 86_400_000), OFAC_LIST_DAYS)
  for (const mode of ['refuse', 'report'] as const) {
    const fresh = tool.execute(NOBODY, at(30.9, mode)) as Record<string, unknown>
    assert.deepEqual([fresh['status'], fresh['match']], ['no_match', false])
  }
  const reported = tool.execute(NOBODY, at(31, 'report')) as Record<string, unknown>
  assert.equal(reported['status'], 'no_match_on_stale_list')
  assert.throws(
    () => tool.execute(NOBODY, at(31, 'refuse')),
    (error) => error instanceof SourceDown && error.message.includes('assay data refresh'),
  )
})

test('a list is aging from two thirds of its limit, and old beyond it', () => {
  const stateAt = (days: number) => {
    const ages = listAges(bundledScreening(), published_ms + days * 86_400_000)
    return ages.find(({ id }) => id === 'ofac_addresses')?.state
  }
  assert.deepEqual([0, 19.9, 20, 30.9, 31].map(stateAt), ['fresh', 'fresh', 'aging', 'aging', 'old'])
})

test('a match is told from a list of any age', () => {
  for (const subject of [PRESENT[0] ?? '', 'IR', 'Crimea', 'UA-14', 'nobody at all']) {
    const { status } = tool.execute({ subject }, at(5_000, 'refuse')) as { status: string }
    assert.ok(['match', 'needs_review', 'not_screened'].includes(status), subject)
  }
})

test('that a country alone is not prohibited is told from a list of thirty days, and from an older one only with its date, or not at all', () => {
  const days = (Date.parse(jurisdictions.published_at) - published_ms) / 86_400_000
  const told = (age: number, mode: 'refuse' | 'report') => tool.execute({ subject: 'RU' }, at(days + age, mode)) as Record<string, string>
  for (const mode of ['refuse', 'report'] as const) {
    const { status, reason } = told(30.9, mode)
    assert.equal(status, 'elevated')
    assert.doesNotMatch(reason ?? '', /days ago/)
  }
  assert.match(told(31, 'report')['reason'] ?? '', new RegExp(`on ${jurisdictions.published_at}, 31 days ago`))
  assert.throws(
    () => told(31, 'refuse'),
    (error) =>
      error instanceof SourceDown && /assay data import FILE.*docs\/going-live\.md, Review of the jurisdictions/.test(error.message),
  )
})

const NAMES = jurisdictions.rows.flatMap(({ code, level, name, aliases }) =>
  [name, ...aliases].filter((one) => !/[,(]/.test(one)).map((one) => ({ code, level, name: one })),
)
/** Ways in which people write a place together with others, or with words of which nothing is known. */
const WRITTEN = [
  'Germany, {}',
  '{}/Germany',
  'Germany; Xyz; {}',
  '12 Main St\r\nXyz\u2028{}',
  'Xyz {} 12345; Germany',
  'Xyz, {} 12345',
  'Germany and {}',
]
/** The same with another country behind, where a short name may be that of another place. */
const BEFORE_ANOTHER = [
  '{}, Germany',
  '{} (Xyz), Germany',
  'Xyz ({}), Germany',
  'Xyz\n{}\nGermany',
  'Xyz {}, Germany',
  'Xyz | {} | Germany',
  'Xyz – {} – Germany',
]
const isShort = (name: string) => /^[A-Za-z]+'?$/.test(name)
const STATUS: Readonly<Record<string, string>> = { comprehensive: 'match', needs_review: 'needs_review', elevated: 'elevated' }

test('a listed place is found however it is written among others, and among words a person is asked', () => {
  for (const { code, level, name } of NAMES) {
    for (const form of WRITTEN) {
      const text = form.replace('{}', name)
      const { status, matches } = screenSubject(text)
      assert.equal(status, STATUS[level], JSON.stringify(text))
      assert.ok(matches.some(({ key }) => key === code))
    }
    for (const form of BEFORE_ANOTHER) {
      const text = form.replace('{}', name)
      const wanted = level === 'comprehensive' && isShort(name) ? 'needs_review' : STATUS[level]
      assert.equal(screenSubject(text).status, wanted, JSON.stringify(text))
    }
    const inside = screenSubject(`Xyz ${name} Xyz, Germany`)
    assert.equal(inside.status, level === 'elevated' ? 'elevated' : 'needs_review', name)
  }
})

test('listed countries are found under the names that CLDR has in other languages', () => {
  const languages = [
    'ar',
    'bg',
    'cs',
    'de',
    'el',
    'es',
    'fa',
    'fr',
    'he',
    'hi',
    'hu',
    'it',
    'ja',
    'ko',
    'nl',
    'pl',
    'ro',
    'ru',
    'th',
    'tr',
    'uk',
    'zh',
  ]
  for (const language of languages) {
    const names = new Intl.DisplayNames([language], { type: 'region' })
    for (const { code, kind, level } of jurisdictions.rows) {
      if (kind !== 'country' || level !== 'comprehensive') continue
      const { status, normalized } = screenSubject(names.of(code) ?? '')
      assert.deepEqual([status, normalized], ['match', code], `${language}: ${names.of(code)}`)
    }
  }
  const places = {
    Крым: 'UA-43',
    'Simferopol, Krim, Ukraine': 'UA-43',
    Севастополь: 'UA-40',
    ДНР: 'UA-DNR',
    'RU-CR': 'UA-43',
    Tehran: 'IR',
    'Simferopol, Ukraine': 'UA-43',
  }
  for (const [text, code] of Object.entries(places))
    assert.deepEqual([screenSubject(text).status, screenSubject(text).normalized], ['match', code], text)
})

// Streets and persons bear foreign names, offices the acronyms; the English names are looked for among other words as well.
test('names in other languages of Latin script, and acronyms, count where they stand alone', () => {
  const others = [
    '12 rue de Crimée, Paris, France',
    'Kuba Nowak, Poland',
    'Michigan DNR, Lansing, USA',
    'DPR Construction, Redwood City, USA',
  ]
  for (const text of others) assert.equal(screenSubject(text).status, 'no_match', text)
  for (const text of ['DNR', 'Donetsk, DPR', 'Xyz, LNR, Ukraine']) assert.equal(screenSubject(text).status, 'match', text)
})

test('a name that a comma or parentheses cut in two is one name', () => {
  const names = ["Korea, Democratic People's Republic of", 'Korea (Democratic People’s Republic of)', 'Korea, North', 'Korea, D.P.R.']
  for (const name of names)
    for (const text of [name, `Pyongyang, ${name}`, `${name}, Germany`, `${name}; Germany`, `Germany/${name}`])
      assert.deepEqual([screenSubject(text).status, screenSubject(text).normalized], ['match', 'KP'], text)
  assert.deepEqual(
    [screenSubject('Seoul, Korea, Republic of').status, screenSubject('Seoul, Korea, Republic of').normalized],
    ['no_match', 'KR'],
  )
})

test('no match is told of what was read only', () => {
  for (const text of ['Xyz; Germany', 'Germany/Xyz', 'Xyz\nGermany', 'Germany (Xyz)', 'Germany, Xyz', '0xabc; Germany']) {
    assert.equal(screenSubject(text).status, 'not_screened', text)
  }
  const short = { 'Xyz, USA': 'US', 'Xyz, U.S.A.': 'US', 'Xyz, UK': 'GB', 'Xyz, U.A.E.': 'AE' }
  for (const [text, code] of Object.entries(short))
    assert.deepEqual([screenSubject(text).status, screenSubject(text).normalized], ['no_match', code], text)
  assert.equal(screenSubject('Xyz, CA').status, 'not_screened')
  const { status, normalized, reason, findings } = screenSubject('Xyz (Abc), Germany; Japan')
  assert.deepEqual([status, normalized, findings.length], ['no_match', 'DE, JP', 1])
  assert.match(reason, /^Germany and Japan are not/)
  assert.match(findings[0]?.message ?? '', /"Xyz", "Abc"/)
})

const ENTITY = (name: string, features: string) => `
  <entity id="1"><sanctionsPrograms><sanctionsProgram refId="1" id="2">DPRK3</sanctionsProgram></sanctionsPrograms>
  <names><name id="1"><aliasType refId="1400">A.K.A.</aliasType><translations><translation><formattedFullName>HIDDEN COBRA</formattedFullName>
  </translation></translations></name><name id="2"><translations><translation><formattedFullName>${name}</formattedFullName></translation>
  </translations></name></names><features>${features}</features></entity>`
const FEATURE = (type: string, value: string) =>
  `<feature id="3"><type featureTypeId="345">${type}</type><versionId>4</versionId><value>${value}</value></feature>`

test('the publisher’s XML: addresses of any ticker, the primary name, the programmes', () => {
  const features = [
    FEATURE('Digital Currency Address - ETH', '0x098B716B8Aaf21512996dC57EB0615e2383E2f96'),
    FEATURE('Digital Currency Address - USDC', '0xa0e1c89Ef1a489c9C7dE96311eD5Ce5D32c20E4B'),
    FEATURE('Digital Currency Address - XBT', '149w62rY42aZBox8fGcmqNsXUzSStKeq8C'),
    FEATURE('Website', '0x0000000000000000000000000000000000000001'),
  ].join('')
  const rows = rowsFromXml(`<sanctionsData><entities>${ENTITY('LAZARUS &amp; GROUP', features)}</entities></sanctionsData>`)
  const other = '149w62rY42aZBox8fGcmqNsXUzSStKeq8C'
  assert.deepEqual(
    rows,
    [...PRESENT, other].toSorted().map((address) => ({ address, entity: 'LAZARUS & GROUP', programmes: ['DPRK3'] })),
  )
  const bitcoin = { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', entity: 'X', programmes: [] }
  const screening = createScreening({ ...BUNDLED_ADDRESSES, count: rows.length + 1, rows: [...rows, bitcoin] }, 'ab'.repeat(32))
  for (const form of [other, `bitcoin:${other}?amount=1`, `bip122:000000000019d6689c085ae165831e93:${other}`, ` ${other} `]) {
    const { status, subject_kind, normalized } = screening.screenSubject(form)
    assert.deepEqual([status, subject_kind, normalized], ['match', 'other_address', other], form)
  }
  assert.equal(screening.screenSubject(bitcoin.address.toUpperCase()).normalized, bitcoin.address)
  // Base58 distinguishes case: the same letters in another case are another address.
  assert.equal(screening.screenSubject(other.toLowerCase()).status, 'not_screened')
  assert.equal(bundledScreening().screenSubject(other).status, 'not_screened')
})

test('a list that is cut off, older than the delisting, or of something else is refused', () => {
  const rows = addresses.rows.map(({ address, entity }) => ({ address, entity, programmes: [] as string[] }))
  proveOfac(rows, rows)
  const without = (address: string) => rows.filter((row) => row.address !== address)
  assert.throws(() => proveOfac(without(PRESENT[0] ?? ''), rows), /should be on the list/)
  assert.throws(() => proveOfac([...rows, { address: ABSENT[0] ?? '', entity: 'TORNADO CASH', programmes: [] }], rows), /taken off/)
  assert.throws(() => proveOfac(rows.slice(0, 70), rows), /shrank/)
  assert.throws(() => proveOfac(rows.slice(0, 9), []), /9 addresses/)
  assert.throws(() => rowsFromCsv('address,name\n0x123,"X"'), /not a row/)
})
