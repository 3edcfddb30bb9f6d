import { chooseSigning } from '../src/adapters/signer/choose.ts'
import { isAbn } from '../src/pure/checks/abn.ts'
import { isBic } from '../src/pure/checks/bic.ts'
import { isIban } from '../src/pure/checks/iban.ts'
import { isIsin } from '../src/pure/checks/isin.ts'
import { isVat } from '../src/pure/checks/vat.ts'
import { XmlValidator } from '../src/pure/documents/iso20022/validate.ts'
import { validateJsonSchema } from '../src/pure/documents/json-schema/validate.ts'
import { readXml } from '../src/pure/documents/xml/reader.ts'
import { createAuthorizationDigest, normaliseSignature, recoverPayer } from '../src/pure/payments/eip3009.ts'
import { canonicalText } from '../src/pure/receipts/canonical.ts'
import { raceBoth, type AsyncWork, type Took } from './async-stopwatch.ts'
import { REGISTRY_EXAMPLES } from './call-requests.ts'
import { goodValues, lastDigitChanged } from './checks.ts'
import { peerName } from './install-peers.ts'
import { painMessage } from './iso20022.ts'
import { INVOICE_SCHEMA, invoiceOf, invoices } from './peer-documents.ts'
import type { PeerRow } from './peer-row.ts'

type Judge = (text: string) => boolean

/** Exports of bench/peers/libraries.ts, which is imported at run time, after its packages are installed. */
export interface Libraries {
  ibantools: Record<'iban' | 'bic', Judge>
  validatorJs: Record<'iban' | 'bic' | 'isin', Judge>
  national: Record<'vatBelgium' | 'abn', Judge>
  canonical(value: unknown): string
  verifyTransfer(domain: object, message: object, from: string, signature: string): Promise<boolean>
  fastXmlObjects(text: string): object
  fastXmlValid(text: string): boolean
  libxml2Tree(bytes: Uint8Array): boolean
  compiled(schema: object): (data: unknown) => boolean
}

/** Ours first, then the peers by name; each run of a work does so many pieces. */
interface Heat {
  work: string
  unit: string
  pieces: number
  ours: AsyncWork
  peers: Record<string, AsyncWork>
}

/** Measurements in one process, alternating between the contenders. */
export async function libraries(turns: number): Promise<PeerRow[]> {
  const peers = (await import(new URL('peers/libraries.ts', import.meta.url).href)) as Libraries
  const heats = [...checkHeats(peers), ...canonicalHeats(peers), await paymentHeat(peers), ...xmlHeats(peers), ...schemaHeats(peers)]
  const rows: PeerRow[] = []
  for (const heat of heats) {
    process.stderr.write(`  ${heat.work}\n`)
    rows.push(...heatRows(heat, await raceBoth({ ours: heat.ours, ...heat.peers }, turns)))
  }
  return rows
}

function heatRows({ work, unit, pieces, peers }: Heat, took: ReadonlyMap<string, Took>): PeerRow[] {
  const of = (name: string) => took.get(name) ?? { cpu_us: Number.NaN, wall_us: Number.NaN }
  const [ours, per_s] = [of('ours'), ({ wall_us }: Took) => (pieces * 1e6) / wall_us]
  return Object.keys(peers).map((peer) => ({
    work,
    peer,
    unit,
    ours_per_s: per_s(ours),
    theirs_per_s: per_s(of(peer)),
    ours_cpu_us: ours.cpu_us / pieces,
    theirs_cpu_us: of(peer).cpu_us / pieces,
    p99_ms: null,
  }))
}

function checkHeats({ ibantools, validatorJs, national }: Libraries): Heat[] {
  const [tools, validator, stdnum] = [peerName('ibantools'), peerName('validator'), peerName('stdnum')]
  const ibans = REGISTRY_EXAMPLES.filter((iban) => ibantools.iban(iban) && validatorJs.iban(iban))
  const iban = { [tools]: ibantools.iban, [validator]: validatorJs.iban }
  const heat = (work: string, values: readonly string[], verdict: boolean, ours: Judge, peers: Record<string, Judge>): Heat => {
    for (const judge of [ours, ...Object.values(peers)]) {
      if (values.some((value) => judge(value) !== verdict)) throw new Error(`${work}: the judges do not agree`)
    }
    const works = Object.entries(peers).map(([name, judge]) => [name, over(values, judge)] as const)
    return { work, unit: 'checks', pieces: values.length, ours: over(values, ours), peers: Object.fromEntries(works) }
  }
  const good = (work: string, file: string, ours: Judge, peers: Record<string, Judge>) =>
    heat(work, goodValues(file, [ours, ...Object.values(peers)]), true, ours, peers)
  return [
    heat('IBAN', ibans, true, isIban, iban),
    heat('IBAN, last digit wrong', ibans.map(lastDigitChanged), false, isIban, iban),
    good('BIC', 'bank/swift-bic-check', isBic, { [tools]: ibantools.bic, [validator]: validatorJs.bic }),
    good('ISIN', 'securities/isin-check', isIsin, { [validator]: validatorJs.isin }),
    good('VAT number, Belgium', 'tax/vat-mod97-check', isVat, { [stdnum]: national.vatBelgium }),
    good('ABN', 'company/abn-check', isAbn, { [stdnum]: national.abn }),
  ]
}

function over(values: readonly string[], judge: Judge): () => number {
  return () => {
    let good = 0
    for (const value of values) if (judge(value)) good++
    return good
  }
}

function canonicalHeats({ canonical }: Libraries): Heat[] {
  const heat = (work: string, value: unknown): Heat => {
    if (canonicalText(value) !== canonical(value)) throw new Error(`${work}: the texts differ`)
    const peers = { [peerName('canonicalize')]: () => canonical(value).length }
    return { work: `RFC 8785, ${work}`, unit: 'texts', pieces: 1, ours: () => canonicalText(value).length, peers }
  }
  const [one] = invoices(1)
  return [
    heat('1 KB, members in order', JSON.parse(canonicalText({ a: one, b: one, c: one }))),
    heat('1 KB, members not in order', { a: one, c: one, b: one }),
    heat('50 KB, members not in order', invoices(150)),
  ]
}

/** An authorization of the kind that x402 carries, from digest to the account behind the signature. */
async function paymentHeat({ verifyTransfer }: Libraries): Promise<Heat> {
  const { signer, crypto } = await chooseSigning()
  const payer = signer(new Uint8Array(32).fill(7))
  const [name, version, chain_id, token] = ['USDC', '2', 84_532, `0x${'36'.repeat(20)}`]
  const to = `0x${'84'.repeat(20)}`
  const shown = { from: payer.address, to, nonce: `0x${'5a'.repeat(32)}` }
  const own = { ...shown, value_minor: 5_000n, valid_after_s: 0n, valid_before_s: 4_000_000_000n }
  const theirs = { ...shown, value: 5_000n, validAfter: 0n, validBefore: 4_000_000_000n }
  const digest = createAuthorizationDigest({ name, version, chain_id, verifying_contract: token }, crypto.keccak256)
  const signature = payer.sign(digest(own))
  const domain = { name, version, chainId: chain_id, verifyingContract: token }
  const ours = (authorization: typeof own) => {
    const read = normaliseSignature(signature)
    return read !== null && recoverPayer(digest(authorization), read, crypto.recover) === payer.address
  }
  const viem = (message: typeof theirs) => verifyTransfer(domain, message, payer.address, signature)
  const verdicts = [ours(own), await viem(theirs), ours({ ...own, value_minor: 1n }), await viem({ ...theirs, value: 1n })]
  if (verdicts.join() !== 'true,true,false,false') throw new Error(`EIP-3009: the verdicts are ${verdicts.join(', ')}`)
  const peers = { [peerName('viem')]: async () => Number(await viem(theirs)) }
  return { work: 'EIP-3009 verification', unit: 'payments', pieces: 1, ours: () => Number(ours(own)), peers }
}

const XML_BYTES = 1_000_000

function xmlHeats({ fastXmlObjects, fastXmlValid, libxml2Tree }: Libraries): Heat[] {
  const { text } = painMessage(XML_BYTES)
  const bytes = new TextEncoder().encode(text)
  const nothing = { open: () => undefined, close: () => undefined }
  const form = () => Number(readXml(bytes, nothing) === null)
  const all = () => {
    const validator = new XmlValidator()
    validator.write(bytes)
    return Number(validator.end().valid)
  }
  const [fast, libxml2] = [peerName('fast-xml-parser'), peerName('libxml2-wasm')]
  const peers = {
    [`${fast}, objects`]: () => Object.keys(fastXmlObjects(new TextDecoder().decode(bytes))).length,
    [`${fast}, well-formed?`]: () => Number(fastXmlValid(new TextDecoder().decode(bytes))),
    [`${libxml2}, tree`]: () => Number(libxml2Tree(bytes)),
  }
  if ([form, all, ...Object.values(peers)].some((work) => work() === 0)) throw new Error('a reader of XML refuses a good message')
  const heat = (work: string, ours: AsyncWork): Heat => ({ work: `${work}, pain.001 of 1 MB`, unit: 'documents', pieces: 1, ours, peers })
  return [heat('XML, well-formed', form), heat('XML, structure, rules and totals', all)]
}

function schemaHeats({ compiled }: Libraries): Heat[] {
  const [good, bad] = [invoiceOf(20), { ...invoiceOf(20), currency: 'euro' }]
  const once = compiled(INVOICE_SCHEMA)
  const ours = (data: unknown) => validateJsonSchema(INVOICE_SCHEMA, data).outcome === 'valid'
  const verdicts = [ours(good), once(good), ours(bad), once(bad)]
  if (verdicts.join() !== 'true,true,false,false') throw new Error(`JSON Schema: the verdicts are ${verdicts.join(', ')}`)
  const peers = {
    [`${peerName('ajv')}, schema not seen before`]: () => Number(compiled(INVOICE_SCHEMA)(good)),
    [`${peerName('ajv')}, compiled beforehand`]: () => Number(once(good)),
  }
  return [
    {
      work: `JSON Schema, ${(JSON.stringify(good).length / 1000).toFixed(1)} kB of data`,
      unit: 'documents',
      pieces: 1,
      ours: () => Number(ours(good)),
      peers,
    },
  ]
}
