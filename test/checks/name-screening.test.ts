/** Screening of names: the published algorithm of docs/name-screening.md, and what is said about lists that are old or not loaded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NameRow } from '../../src/pure/datasets/sanctions-lists.ts'
import { bundledScreening } from '../../src/pure/checks/ofac.ts'
import { answerName } from '../../src/pure/screening/names-answer.ts'
import { readName } from '../../src/pure/screening/name-words.ts'
import {
  foldSpelling,
  Dictionary,
  foldWord,
  isOneEdit,
  jaroWinkler,
  wordSimilarity,
  type FoldedWord,
} from '../../src/pure/screening/similarity.ts'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import { SourceDown } from '../../src/service/catalogue/define.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import tool from '../../src/tools/company/ofac-sdn-check.ts'
import guard from '../../src/tools/packs/pre-disbursement-guard.ts'
import { excerpt, listOf, screeningOf } from '../support/name-lists.ts'
import rows from '../support/name-lists.json' with { type: 'json' }
import { fixedSources } from '../support/sources.ts'

const { tools } = await loadCatalogue()
const NOW_MS = Date.UTC(2026, 10, 21, 12)
const words = (name: string) =>
  readName(name)
    .filter(({ kind }) => kind !== 'filler')
    .map(({ text }) => text)
    .join(' ')

test('names become words in Latin letters, without titles, articles and legal forms', () => {
  for (const [name, expected] of [
    ['BIN LADIN, Usama', 'ladin usama'],
    ['Владимир Владимирович Путин', 'vladimir vladimirovich putin'],
    ['Γεώργιος Μπάκος', 'georgios bakos'],
    ['أيمن محمد الظواهري', 'aymn mhmd zwahry'],
    ['عبدالرحمن', 'abd rhmn'],
    ['Abdurrahman', 'abd rahman'],
    ['ABDEL-AZIZ', 'abd aziz'],
    ['Abdullah', 'abdullah'],
    ['Müller & Söhne GmbH', 'muller sohne'],
    ['Łukasz Ørsted', 'lukasz orsted'],
    ['O’Connor, Dr. Seán', 'oconnor sean'],
    ['Inversiones Sur S.A. de C.V.', 'inversiones sur'],
    ['I.B.M.', 'ibm'],
    ['K.A.S.', 'kas'],
    ['S.A.', 'sa'],
    ['北京公司', '北京公司'],
    ['ＦＵＬＬ ｗｉｄｔｈ', 'full width'],
    ['Iv\u200ban', 'ivan'],
    ['—', ''],
  ] as const)
    assert.equal(words(name), expected, name)
})

test('spellings of one sound fold to one', () => {
  for (const [one, other] of [
    ['hussein', 'husayn'],
    ['ivanov', 'iwanoff'],
    ['khalid', 'halid'],
    ['yuri', 'yurii'],
    ['yevgeny', 'evgeni'],
    ['fatimah', 'fatima'],
    ['mahmoud', 'mahmud'],
    ['aleksandr', 'alexandr'],
  ] as const)
    assert.equal(foldSpelling(one), foldSpelling(other), `${one} ${other}`)
  assert.notEqual(foldSpelling('hassan'), foldSpelling('hashan'))
})

test('Jaro–Winkler has the published values (Winkler 1990, table 1), less a thousandth at most, since each division rounds down', () => {
  for (const [one, other, expected] of [
    ['martha', 'marhta', 961],
    ['dixon', 'dicksonx', 813],
    ['dwayne', 'duane', 840],
    ['jones', 'johnson', 832],
    ['abc', 'xyz', 0],
    ['', 'a', 0],
    ['same', 'same', 1000],
  ] as const) {
    assert.ok([expected, expected - 1].includes(jaroWinkler(one, other)), `${one} ${other}`)
    assert.equal(jaroWinkler(other, one), jaroWinkler(one, other))
  }
})

test('one edit is one letter added, left out, replaced, or exchanged with its neighbour', () => {
  for (const other of ['ivanov', 'ivaov', 'ivannov', 'ivamov', 'iavnov', 'ivanovx'])
    assert.equal(isOneEdit('ivanov', other), other !== 'ivanov', other)
  for (const other of ['ivnov2', 'vianvo', 'ivan']) assert.equal(isOneEdit('ivanov', other), false, other)
})

const folded = (text: string): FoldedWord =>
  foldWord({ text, kind: 'word', foreign: false, vowelless: false, common: false, weight: text.length })

/** The rule of the page, written without the index. */
function isCompared(given: FoldedWord, listed: FoldedWord): boolean {
  if (given.text === listed.text) return true
  if (Math.abs(given.folded.length - listed.folded.length) > 3) return false
  if (given.consonants.some((form) => form.length > 1 && listed.consonants.includes(form))) return true
  const pairs = ({ folded: text }: FoldedWord) => new Set(Array.from({ length: text.length + 1 }, (_, at) => `^${text}$`.slice(at, at + 2)))
  const own = pairs(given)
  const other = pairs(listed)
  const shared = [...own].filter((pair) => other.has(pair)).length
  return shared >= Math.max(2, Math.min(own.size - 3, Math.ceil((own.size * 55) / 100)))
}

test('the dictionary finds the words that the rule of the page finds', () => {
  let state = 7
  const next = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below
  const word = () => Array.from({ length: 3 + next(6) }, () => 'aeioubdhklmnrst'[next(15)]).join('')
  const listed = [...new Set(Array.from({ length: 1_500 }, word))].map(folded)
  const dictionary = new Dictionary()
  for (const one of listed) dictionary.add(one)
  const changed = ({ text }: FoldedWord) => folded(text.slice(0, 2) + (next(2) === 0 ? 'e' : '') + text.slice(2 + next(2)))
  let found = 0
  for (const given of listed.slice(0, 300).map(changed)) {
    const expected = listed.filter((one) => isCompared(given, one) && wordSimilarity(given, one) !== null).map(({ text }) => text)
    const like = dictionary.like(given).map(({ id }) => dictionary.words[id]?.text ?? '')
    assert.deepEqual(like.toSorted(), expected.toSorted(), given.text)
    found += like.length
  }
  assert.ok(found > 200, `only ${found} words were alike`)
})

const all = screeningOf([excerpt('ofac_names', '2026-11-20'), excerpt('un_names', '2026-11-18')])
const ask = (name: string, more = {}) => answerName(all, { name, country: null, birth_date: null, ...more }, NOW_MS)

test('each listed name, in any order of its words, is a possible match of its own entry', async () => {
  for (const [list, entries] of Object.entries(rows) as [string, NameRow[]][]) {
    for (const { id, names } of entries) {
      for (const { text, strength } of names) {
        for (const given of [text, text.toLowerCase(), text.split(' ').toReversed().join(' ')]) {
          const { matches } = await ask(given)
          const own = matches.find((match) => match.list === list && match.entry === id)
          assert.ok((own?.score ?? 0) >= (strength === 'weak' ? 95 : 97), `${given}: ${own?.score}`)
        }
      }
    }
  }
})

test('the explanation accounts for each word that is compared', async () => {
  const [match] = (await ask('Sheikh Ayman Zawaheri Khan')).matches
  const given = [...(match?.words.map((word) => word.given) ?? []), ...(match?.given_alone ?? [])].toSorted()
  assert.deepEqual(given, ['ayman', 'khan', 'zawaheri'])
  const listed = [...(match?.words.map((word) => word.listed) ?? []), ...(match?.listed_alone ?? [])].toSorted()
  assert.deepEqual(
    listed.join(' '),
    words(match?.name ?? '')
      .split(' ')
      .toSorted()
      .join(' '),
  )
})

test('without lists a name is not checked, and the answer says so', async () => {
  const answer = await answerName(bundledScreening(), { name: 'Lazarus Group', country: null, birth_date: null }, NOW_MS)
  assert.deepEqual([answer.status, answer.lists, answer.not_loaded.length], ['not_checked', [], 4])
  assert.match(answer.reason, /^Not checked: names\. No list of names is loaded\./)
})

test('lists that are not loaded are named, also where there is no match', async () => {
  const { status, reason, not_loaded } = await ask('Mary Johnson')
  assert.deepEqual([status, not_loaded], ['no_match', ['eu_names', 'uk_names']])
  assert.match(reason, /This is not a clearance\. Not searched, because not loaded: the EU .*, the UK /)
})

const at = (on_stale_list: 'refuse' | 'report', published_at: string | null) => ({
  ...fixedSources([tool]),
  screening: {
    on_stale_list,
    active: () =>
      published_at === null ? bundledScreening() : screeningOf([excerpt('ofac_names', '2026-11-20'), excerpt('un_names', published_at)]),
  },
})

test('no match needs lists of at most thirty days, all of them; a possible match is reported from any', async () => {
  const run = (name: string, mode: 'refuse' | 'report', day: string | null) =>
    tool.execute({ name }, at(mode, day)) as Promise<Record<string, unknown>>
  assert.equal((await run('Mary Johnson', 'refuse', '2026-10-22'))['status'], 'no_match')
  assert.equal((await run('Mary Johnson', 'report', '2026-10-21'))['status'], 'no_match_on_stale_list')
  const stale = (error: unknown) => error instanceof SourceDown && /un_names is 31 days old.*nothing was charged/.test(error.message)
  await assert.rejects(run('Mary Johnson', 'refuse', '2026-10-21'), stale)
  assert.equal((await run('Pharaoh', 'refuse', '2026-01-01'))['status'], 'possible_match')
  const missing = (error: unknown) => error instanceof SourceDown && error.reason === 'no_list'
  await assert.rejects(run('Mary Johnson', 'refuse', null), missing)
  assert.equal((await run('Mary Johnson', 'report', null))['status'], 'not_screened')
  const both = await tool.execute({ subject: 'IR', name: 'Mary Johnson' }, at('report', null))
  assert.deepEqual([both['status'], both['match']], ['match', true])
  const clean = await tool.execute({ subject: 'FR', name: 'Mary Johnson' }, at('report', null))
  assert.equal(clean['status'], 'not_screened', 'a clean subject does not clear a name that was not checked')
})

test('the guard of payments reviews a payee who could not be checked, and answers nothing from old lists in live mode', async () => {
  const input = { recipient_iban: 'GB82WEST12345698765432', payee_name: 'Mary Johnson' }
  const run = (mode: 'refuse' | 'report', day: string | null) => guard.execute(input, at(mode, day)) as Promise<Record<string, unknown>>
  assert.equal((await run('refuse', '2026-10-22'))['decision'], 'CLEAR')
  await assert.rejects(run('refuse', '2026-10-21'), SourceDown)
  for (const day of ['2026-10-21', null]) {
    const { decision, summary } = await run('report', day)
    assert.equal(decision, 'REVIEW')
    assert.match(String(summary), day === null ? /Not checked: names/ : /nothing follows from that/)
  }
})

/** Packs about one party, with the input that carries its name and the decision without any concern about it. */
const packs = tools
  .filter(({ family, id }) => family === 'packs' && id !== 'batch-validate')
  .map((pack) => ({ pack, field: Object.keys(pack.input.shape).find((name) => name.endsWith('_name')) ?? '' }))
/** The decision of a pack: its verdict, decision or band. */
const decisionOf = (result: Record<string, unknown>) => String(result['decision'] ?? result['verdict'] ?? result['band'])
const CLEAN = ['CLEAR', 'pass', 'PROCEED', 'low']
/** Inputs with which packs find nothing. */
const SOUND: Record<string, Record<string, unknown>> = {
  'africa-supplier-check': { kra_pin: 'P051365947M', swift: 'KCBLKENX' },
  'pre-disbursement-guard': { recipient_iban: 'GB82WEST12345698765432', declared_country: 'GB' },
  'rent-deposit-guard': { deposit_iban: 'GB82WEST12345698765432' },
  'rental-listing-risk': { urgency_pressure: true },
  'rental-verdict': { deposit_iban: 'GB82WEST12345698765432' },
}

test('every pack about a party takes its name, and is as strict about it as the guard of payments', async () => {
  assert.deepEqual(
    packs.map(({ field }) => field).toSorted(),
    ['landlord_name', 'landlord_name', 'landlord_name', 'payee_name', ...Array<string>(6).fill('supplier_name'), 'vendor_name'].toSorted(),
  )
  for (const { pack, field } of packs) {
    const sound = SOUND[pack.id] ?? pack.example
    const run = async (name: string, mode: 'refuse' | 'report', day: string | null) =>
      decisionOf(await pack.execute(pack.input.parse({ ...sound, [field]: name }), at(mode, day)))
    const clean = (decision: string) => CLEAN.includes(decision)
    assert.ok(clean(await run('Mary Johnson', 'refuse', '2026-10-22')), `${pack.id}: nothing is found on recent lists`)
    await assert.rejects(run('Mary Johnson', 'refuse', '2026-10-21'), SourceDown, `${pack.id}: old lists, live`)
    assert.ok(!clean(await run('Mary Johnson', 'report', '2026-10-21')), `${pack.id}: old lists, sandbox`)
    for (const mode of ['refuse', 'report'] as const) {
      assert.ok(!clean(await run('Mary Johnson', mode, null)), `${pack.id}: no lists, ${mode}`)
      assert.ok(!clean(await run('Oleg Deripaska', mode, '2026-01-01')), `${pack.id}: a possible match, ${mode}`)
    }
  }
})

test('a possible match is in the sentence for people and never hides a failed check', async () => {
  for (const { pack, field } of packs) {
    const sound = SOUND[pack.id] ?? pack.example
    const result = await pack.execute(pack.input.parse({ ...sound, [field]: 'Oleg Deripaska' }), at('report', '2026-11-20'))
    assert.match(pack.headline(result).sentence, /Possible match: the name is like "DERIPASKA, Oleg Vladimirovich"/, pack.id)
    assert.doesNotMatch(JSON.stringify(result), /\bis (?:sanctioned|on the (?:OFAC|SDN))/i, pack.id)
  }
  const vendor = packs.find(({ field }) => field === 'vendor_name')?.pack
  const failed = await vendor?.execute({ iban: '?', vendor_name: 'Oleg Deripaska' }, at('report', '2026-11-20'))
  assert.equal(failed?.['verdict'], 'fail')
  assert.match(String(failed?.['summary']), /^Do not rely on these values: iban fails .*Possible match/)
})

test('country and date of birth of a party are no input without a value to check', () => {
  for (const { pack, field } of packs) {
    for (const input of [
      { country: 'GB', birth_date: '1970' },
      { [field]: 'Mary Johnson', birth_date: '1970' },
    ]) {
      if (field === 'payee_name' && field in input) continue
      const decoded = decodeInput(pack, input)
      assert.ok(!decoded.ok && decoded.problem.errors.length > 0, `${pack.id} ${JSON.stringify(input)}`)
    }
  }
})

test('names of many words, of one letter and of many scripts are read within bounds', async () => {
  const hostile = [
    'a '.repeat(500),
    'al-'.repeat(300),
    'x'.repeat(1_000),
    'عبد'.repeat(300),
    '́'.repeat(900),
    '李'.repeat(400),
    'Muhammad '.repeat(100),
  ]
  for (const name of hostile) assert.ok((await ask(name)).total <= 18)
})

test('the answer has the ten best of many, and how many there are', async () => {
  const row = (id: number): NameRow => ({
    id: String(id),
    kind: 'person',
    names: [{ text: `Invented Person ${id % 2 === 0 ? '' : 'Extra'}`, strength: 'primary' }],
    countries: [],
    births: [],
    programmes: [],
  })
  const many = screeningOf([
    listOf(
      'uk_names',
      Array.from({ length: 30 }, (_, id) => row(id)),
      '2026-11-20',
    ),
  ])
  const { total, matches } = await answerName(many, { name: 'Person Invented', country: null, birth_date: null }, NOW_MS)
  assert.deepEqual([total, matches.length, new Set(matches.map(({ score }) => score))], [30, 10, new Set([100])])
})
