import { checkIban, isIban } from '../src/pure/checks/iban.ts'
import { isBic } from '../src/pure/checks/bic.ts'
import { isIsbn } from '../src/pure/checks/isbn.ts'
import { isLuhn } from '../src/pure/checks/luhn.ts'
import { PASTED_IBANS, REGISTRY_EXAMPLES } from './call-requests.ts'
import { atLeast, atMost, figures, type Gate, type SuiteReport } from './report.ts'
import { race, type Work } from './stopwatch.ts'

type Judge = (text: string) => boolean

interface Peers {
  ibantools: { isValidIBAN: Judge; isValidBIC: Judge }
  validator: { isIBAN: Judge; isBIC: Judge; isLuhnNumber: Judge; isISBN: Judge }
}

interface Heat {
  title: string
  values: readonly string[]
  /** What all judges must say of each value. */
  verdict: boolean
  judges: Record<string, Judge>
}

interface Result {
  title: string
  /** Nanoseconds a value, by judge. */
  ns: Record<string, number>
}

const BICS = ['DEUTDEFF', 'DEUTDEFF500', 'NEDSZAJJXXX', 'BNPAFRPP', 'CHASUS33', 'BARCGB22', 'UBSWCHZH80A', 'DABADKKK']
/** Numbers that payment processors publish for tests. */
const CARDS = [
  '4242424242424242',
  '4000056655665556',
  '5555555555554444',
  '2223003122003222',
  '378282246310005',
  '6011111111111117',
  '3530111333300000',
  '30569309025904',
]
const ISBNS = [
  '9780306406157',
  '9783161484100',
  '9780131103627',
  '0306406152',
  '080442957X',
  '9791034300297',
  '9782070408504',
  '0131103628',
]

/** The checks against the libraries that people use for them, on the same values in one run. */
export async function checks(): Promise<SuiteReport> {
  const results = heats(await loadPeers()).map(run)
  return {
    title: 'Checks against ibantools and validator',
    method: [
      'Nanoseconds of thread CPU time a value, median of 15 turns of 60 ms in which all judges of a row take part one after the other, in one process. ' +
        'Every judge gets the same array of texts and must give the same verdict on each; a judge that differs ends the run.',
      `IBANs: examples of the IBAN registry in electronic form that all three libraries know; cards, BICs and ISBNs: ${CARDS.length} each. No ISIN yet: the service has no such check so far.`,
    ],
    header: ['values', 'assay', 'ibantools', 'validator', 'ibantools / assay', 'validator / assay'],
    rows: results.map(row),
    gates: gates(new Map(results.map(({ title, ns }) => [title, ns]))),
    notes: [
      'isIban also holds national check digits against their algorithms where these bind a whole country, which ibantools does for some countries and validator does not.',
      'checkIban returns findings, suggestion and all facts; no library here does as much.',
    ],
  }
}

function heats({ ibantools, validator }: Peers): Heat[] {
  const electronic = REGISTRY_EXAMPLES.filter((iban) => ibantools.isValidIBAN(iban) && validator.isIBAN(iban))
  const ibans = { assay: isIban, ibantools: ibantools.isValidIBAN, validator: validator.isIBAN }
  const bics = { assay: isBic, ibantools: ibantools.isValidBIC, validator: validator.isBIC }
  const luhns = { assay: (text: string) => isLuhn(text), validator: validator.isLuhnNumber }
  return [
    { title: 'IBAN', values: electronic, verdict: true, judges: ibans },
    { title: 'IBAN, last digit changed', values: electronic.map(lastDigitChanged), verdict: false, judges: ibans },
    { title: 'IBAN with facts', values: electronic, verdict: true, judges: { assay: (text) => checkIban(text).valid } },
    { title: 'IBAN as pasted', values: PASTED_IBANS, verdict: true, judges: { assay: isIban, validator: validator.isIBAN } },
    { title: 'BIC', values: BICS, verdict: true, judges: bics },
    { title: 'Luhn', values: CARDS, verdict: true, judges: luhns },
    { title: 'ISBN', values: ISBNS, verdict: true, judges: { assay: isIsbn, validator: validator.isISBN } },
  ]
}

function lastDigitChanged(text: string): string {
  return text.slice(0, -1) + (text.endsWith('7') ? '1' : '7')
}

function run({ title, values, verdict, judges }: Heat): Result {
  for (const [name, judge] of Object.entries(judges)) {
    const wrong = values.find((value) => judge(value) !== verdict)
    if (wrong !== undefined) throw new Error(`${title}: ${name} calls ${wrong} ${verdict ? 'bad' : 'good'}`)
  }
  const works = Object.fromEntries(Object.entries(judges).map(([name, judge]) => [name, over(values, judge)]))
  const ns = Object.entries(race(works)).map(([name, us]) => [name, (us * 1000) / values.length])
  return { title, ns: Object.fromEntries(ns) as Record<string, number> }
}

function over(values: readonly string[], judge: Judge): Work {
  return () => {
    let good = 0
    for (const value of values) if (judge(value)) good++
    return good
  }
}

function row({ title, ns }: Result): string[] {
  const [assay, ibantools, validator] = [ns['assay'], ns['ibantools'], ns['validator']].map((value) => value ?? null)
  const times = (peer: number | null | undefined) => (peer === null ? '–' : `${figures((peer ?? Number.NaN) / (assay ?? Number.NaN))}x`)
  return [title, ...[assay, ibantools, validator].map((value) => figures(value ?? null)), times(ibantools), times(validator)]
}

function gates(results: ReadonlyMap<string, Record<string, number>>): Gate[] {
  const ns = (title: string, judge: string) => results.get(title)?.[judge] ?? Number.NaN
  const times = (title: string, judge: string) => ns(title, judge) / ns(title, 'assay')
  return [
    atMost('isIban', ns('IBAN', 'assay'), 300, ' ns'),
    atLeast('isIban against ibantools', times('IBAN', 'ibantools'), 8, 'x'),
    atLeast('isIban against validator', times('IBAN', 'validator'), 5, 'x'),
    atLeast('isBic against validator', times('BIC', 'validator'), 1, 'x'),
    atMost('checkIban with facts', ns('IBAN with facts', 'assay'), 1000, ' ns'),
  ]
}

/** The peers are installed beside this file and nowhere else, so the types of the project must not depend on them. */
async function loadPeers(): Promise<Peers> {
  const load = async (name: string) => (await import(name)) as Record<string, unknown>
  const [ibantools, validator] = [await load('ibantools'), (await load('validator'))['default']]
  return { ibantools, validator } as unknown as Peers
}
