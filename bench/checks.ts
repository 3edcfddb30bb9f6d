import { readFileSync } from 'node:fs'
import { isAba } from '../src/pure/checks/aba.ts'
import { isAbn } from '../src/pure/checks/abn.ts'
import { isBic } from '../src/pure/checks/bic.ts'
import { isCnpj } from '../src/pure/checks/cnpj.ts'
import { isEan13 } from '../src/pure/checks/ean13.ts'
import { isEin } from '../src/pure/checks/ein.ts'
import { isGstin } from '../src/pure/checks/gstin.ts'
import { checkIban, isIban } from '../src/pure/checks/iban.ts'
import { isIfsc } from '../src/pure/checks/ifsc.ts'
import { isIsbn } from '../src/pure/checks/isbn.ts'
import { isIsin } from '../src/pure/checks/isin.ts'
import { isJapanCorp } from '../src/pure/checks/japan-corp.ts'
import { isKraPin } from '../src/pure/checks/kra-pin.ts'
import { isLei } from '../src/pure/checks/lei.ts'
import { isLuhn } from '../src/pure/checks/luhn.ts'
import { isPan } from '../src/pure/checks/pan.ts'
import { isRfc } from '../src/pure/checks/rfc.ts'
import { isSedol } from '../src/pure/checks/sedol.ts'
import { isUscc } from '../src/pure/checks/uscc.ts'
import { isVat } from '../src/pure/checks/vat.ts'
import { batchRace } from './batch.ts'
import { PASTED_IBANS, REGISTRY_EXAMPLES } from './call-requests.ts'
import { atLeast, atMost, figures, type Gate, type SuiteReport } from './report.ts'
import { race, type Work } from './stopwatch.ts'
import { ROOT } from './server-process.ts'

type Judge = (text: string) => boolean

interface Peers {
  ibantools: Record<'isValidIBAN' | 'isValidBIC', Judge>
  validator: Record<'isIBAN' | 'isBIC' | 'isLuhnNumber' | 'isISBN' | 'isISIN' | 'isEAN' | 'isAbaRouting', Judge>
  stdnum: Record<string, Record<string, { validate(text: string): { isValid: boolean } }>>
  isbn3: { parse(text: string): { isValid: boolean } | null }
}

interface Heat {
  title: string
  values: readonly string[]
  /** Expected verdict of all contenders. */
  verdict: boolean
  assay: Judge
  /** By name; empty where no library does this work. */
  peers: Readonly<Record<string, Judge>>
  /** Required speed relative to the fastest peer; null if the row is for information only. */
  bound: number | null
}

interface Result extends Heat {
  /** Nanoseconds a value, by judge. */
  ns: Readonly<Record<string, number>>
  /** Null where there is no peer. */
  fastest: { name: string; ns: number } | null
}

const BOUND = 5

/** The checks against the libraries that people use for them, on the same values in one run. */
export async function checks(): Promise<SuiteReport> {
  const results = heats(await loadPeers()).map(run)
  const batch = await batchRace()
  return {
    title: 'Checks against ibantools, validator, stdnum and isbn3',
    method: [
      'Nanoseconds of thread CPU time a value, median of 15 turns of 60 ms in which all judges of a row take part one after the other, in one process. ' +
        'Every judge gets the same array of texts and must give the same verdict on each; a judge that differs ends the run.',
      'IBANs: examples of the IBAN registry in electronic form that all three libraries know. Other rows: the values of the vectors, in electronic form, that all judges of the row call good.',
    ],
    header: ['values', 'count', 'assay', 'fastest peer', 'its ns', 'peer / assay', 'other peers'],
    rows: results.map(row),
    gates: [...results.flatMap(gate), ...ibanGates(results), atMost('a batch of 50 against one call and 50 checks', batch.ratio, 1.5, 'x')],
    notes: [
      'isIban also holds national check digits against their algorithms where these bind a whole country, which ibantools does for some countries and validator does not.',
      'checkIban returns findings, suggestion and all facts; no library here does as much.',
      'stdnum returns parts of the number with its verdict, so its calls do more than ours in those rows.',
      `A batch of 50 IBANs takes ${figures(batch.batch_us)} µs from input to receipt, one call ${figures(batch.call_us)} µs, 50 checks with results ${figures(batch.checks_us)} µs.`,
    ],
  }
}

function heats({ ibantools, validator, stdnum, isbn3 }: Peers): Heat[] {
  const electronic = REGISTRY_EXAMPLES.filter((iban) => ibantools.isValidIBAN(iban) && validator.isIBAN(iban))
  const iban = { assay: isIban, peers: { ibantools: ibantools.isValidIBAN, validator: (text: string) => validator.isIBAN(text) } }
  const national = (country: string, name: string): Record<string, Judge> => ({
    stdnum: (text) => stdnum[country]?.[name]?.validate(text).isValid === true,
  })
  const heat = (title: string, file: string, assay: Judge, peers: Readonly<Record<string, Judge>>, bound = BOUND): Heat => {
    const values = goodValues(file, [assay, ...Object.values(peers)])
    return { title, values, verdict: true, assay, peers, bound: Object.keys(peers).length === 0 ? null : bound }
  }
  return [
    { title: 'IBAN', values: electronic, verdict: true, ...iban, bound: BOUND },
    { title: 'IBAN, last digit changed', values: electronic.map(lastDigitChanged), verdict: false, ...iban, bound: null },
    { title: 'IBAN with facts', values: electronic, verdict: true, assay: (text) => checkIban(text).valid, peers: {}, bound: null },
    { ...iban, title: 'IBAN as pasted', values: PASTED_IBANS, verdict: true, peers: { validator: iban.peers.validator }, bound: null },
    heat('BIC', 'bank/swift-bic-check', isBic, { ibantools: ibantools.isValidBIC, validator: (text) => validator.isBIC(text) }, 1),
    heat('Luhn', 'bank/luhn-check', (text) => isLuhn(text), { validator: (text) => validator.isLuhnNumber(text) }),
    heat('ABA routing number', 'bank/aba-routing-check', isAba, { validator: (text) => validator.isAbaRouting(text) }),
    heat('ISIN', 'securities/isin-check', isIsin, { validator: (text) => validator.isISIN(text) }, 1),
    heat('ISBN', 'goods/isbn-check', isIsbn, {
      validator: (text) => validator.isISBN(text),
      isbn3: (text) => isbn3.parse(text)?.isValid === true,
    }),
    heat('EAN-13', 'goods/ean13-check', isEan13, { validator: (text) => validator.isEAN(text) }),
    heat('VAT, Belgium', 'tax/vat-mod97-check', isVat, national('BE', 'vat')),
    heat('EIN', 'tax/ein-format-check', isEin, national('US', 'ein')),
    heat('ABN', 'company/abn-check', isAbn, national('AU', 'abn')),
    heat('CNPJ', 'tax/cnpj-check', isCnpj, national('BR', 'cnpj')),
    heat('USCC', 'company/uscc-check', isUscc, national('CN', 'uscc')),
    heat('corporate number of Japan', 'company/japan-corp-check', isJapanCorp, national('JP', 'cn')),
    heat('GSTIN', 'tax/gstin-check', isGstin, national('IN', 'gstin')),
    heat('PAN', 'tax/pan-format-check', isPan, national('IN', 'pan')),
    heat('RFC', 'tax/rfc-check', (text) => isRfc(text), national('MX', 'rfc')),
    heat('KRA PIN', 'tax/kra-pin-check', isKraPin, national('KE', 'pin')),
    heat('LEI', 'company/lei-check', isLei, {}),
    heat('SEDOL', 'securities/sedol-check', isSedol, {}),
    heat('IFSC', 'bank/ifsc-check', isIfsc, {}),
  ]
}

/** Inputs of the vectors, spaces and signs taken out, that all judges call good. */
export function goodValues(file: string, judges: readonly Judge[]): string[] {
  const { cases } = JSON.parse(readFileSync(`${ROOT}vectors/${file}.json`, 'utf8')) as { cases: { in: Record<string, unknown> }[] }
  const texts = cases.flatMap((vector) => Object.values(vector.in)).filter((text) => typeof text === 'string')
  const electronic = new Set(texts.map((text) => text.replace(/[ ./-]/g, '').toUpperCase()))
  const good = [...electronic].filter((text) => judges.every((judge) => judge(text)))
  if (good.length < 3) throw new Error(`${file}: only ${good.length} values that all judges call good`)
  return good
}

export function lastDigitChanged(text: string): string {
  return text.slice(0, -1) + (text.endsWith('7') ? '1' : '7')
}

function run(heat: Heat): Result {
  const { title, values, verdict, assay, peers } = heat
  const judges: Record<string, Judge> = { assay, ...peers }
  for (const [name, judge] of Object.entries(judges)) {
    const wrong = values.find((value) => judge(value) !== verdict)
    if (wrong !== undefined) throw new Error(`${title}: ${name} calls ${wrong} ${verdict ? 'bad' : 'good'}`)
  }
  const works = Object.fromEntries(Object.entries(judges).map(([name, judge]) => [name, over(values, judge)]))
  const ns = Object.fromEntries(Object.entries(race(works)).map(([name, us]) => [name, (us * 1000) / values.length]))
  const [fastest] = Object.keys(peers)
    .map((name) => ({ name, ns: ns[name] ?? Number.NaN }))
    .toSorted((a, b) => a.ns - b.ns)
  return { ...heat, ns, fastest: fastest ?? null }
}

function over(values: readonly string[], judge: Judge): Work {
  return () => {
    let good = 0
    for (const value of values) if (judge(value)) good++
    return good
  }
}

function ratio({ ns, fastest }: Result): number | null {
  return fastest === null ? null : fastest.ns / (ns['assay'] ?? Number.NaN)
}

function row(result: Result): string[] {
  const { title, values, ns, fastest } = result
  const times = ratio(result)
  const others = Object.entries(ns).filter(([name]) => name !== 'assay' && name !== fastest?.name)
  return [
    title,
    String(values.length),
    figures(ns['assay'] ?? null),
    fastest?.name ?? '–',
    figures(fastest?.ns ?? null),
    times === null ? '–' : `${figures(times)}x`,
    others.map(([name, value]) => `${name} ${figures(value)}`).join(', ') || '–',
  ]
}

function gate(result: Result): Gate[] {
  const { title, fastest, bound } = result
  return bound === null || fastest === null ? [] : [atLeast(`${title} against ${fastest.name}`, ratio(result), bound, 'x')]
}

function ibanGates(results: readonly Result[]): Gate[] {
  const ns = (title: string, judge: string) => results.find((result) => result.title === title)?.ns[judge] ?? Number.NaN
  return [
    atMost('isIban', ns('IBAN', 'assay'), 300, ' ns'),
    atLeast('isIban against ibantools', ns('IBAN', 'ibantools') / ns('IBAN', 'assay'), 8, 'x'),
    atMost('checkIban with facts', ns('IBAN with facts', 'assay'), 1000, ' ns'),
  ]
}

/** ibantools and validator are installed in this folder, the other peers with the project's tests. */
async function loadPeers(): Promise<Peers> {
  const load = async (name: string) => (await import(name)) as Record<string, unknown>
  const [ibantools, validator] = [await load('ibantools'), (await load('validator'))['default']]
  const [stdnum, isbn3] = [(await load('stdnum'))['stdnum'], (await load('isbn3'))['default']]
  return { ibantools, validator, stdnum, isbn3 } as unknown as Peers
}
