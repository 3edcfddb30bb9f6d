/** The tables of the rule set, against published figures and an independent hash; and what tokens return as text. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak256, toFunctionSelector, toHex } from 'viem'
import { compileArtifacts, TOKEN_SAMPLES } from '../../scripts/support/solidity.ts'
import { PRIVILEGED_SIGNATURES, privilegedSelectors } from '../../src/pure/evm/code-scan.ts'
import { readFacetAddresses, readFacets } from '../../src/pure/evm/proxy.ts'
import { PROXY_SLOTS } from '../../src/pure/evm/state-reads.ts'
import tool, { countFlags, type Flag } from '../../src/tools/chain/token-contract-risk.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedChain } from '../support/fixed-chain.ts'
import { abiString, word } from '../support/fixed-words.ts'
import { TOKENS } from '../support/fixed-tokens.ts'
import { clockAt } from '../support/clock-at.ts'
import { readTokenText } from '../../src/pure/evm/token-answers.ts'

test('the committed samples are what the compiler makes of the sources', () => {
  const source = readFileSync('contracts/TokenSamples.sol', 'utf8')
  const digest = createHash('sha256').update(`contracts/TokenSamples.sol\0${source}\0`).digest('hex')
  const files = readdirSync('test/chain/samples').map((name) => `test/chain/samples/${name}`)
  assert.deepEqual(files, TOKEN_SAMPLES.map(({ file }) => file).toSorted())
  for (const file of files) {
    const { sources_sha256 } = JSON.parse(readFileSync(file, 'utf8')) as { sources_sha256: string }
    assert.equal(sources_sha256, digest, `${file} is old: run node scripts/compile-contracts.ts`)
  }
  // Compiling takes many seconds; the sources did not change, so only the full suite asks the compiler again.
  const made = runs(0, 1) === 1 ? compileArtifacts(TOKEN_SAMPLES) : new Map<string, string>()
  for (const [path, text] of made) assert.equal(readFileSync(path, 'utf8'), text, path)
})

/** Selectors as their publishers and signature registries list them, in the order of the table. */
const PUBLISHED: Record<keyof typeof PRIVILEGED_SIGNATURES, string> = {
  mint: '40c10f19 a0712d68 449a52f8 4e44d956 983b2d56 fca3b5aa cc872b66 aa20e1e4 18bf5077',
  burn_others: '9dc29fac 800c0384 f3bdc228 e2f72f03',
  pause_freeze: '8456cb59 3f4ba83a 16c38b3c 8d1fdf2f 45c8b1a6',
  blacklist: 'f9f92be4 1a895266 404e5129 ad38bf22 0ecb93c0 e4997dc5 153b0d1e 455a4396 9c0db5f3 d34628cc 31c2d847 342aa8b5 00b8cf2a',
  fees: '69fe0e2d 0b78f9c0 2e5bb6ff c647b20e 0cc835a3 8b4cee08 6db79437 8095d564 c17b5b8c ec1f3f63 061c82d0 8ee88c53 5d098b38 c0324c77',
  exemptions: 'c0246668 437823ec ea2f0b37 658d4b7f 7571336a f84ba65d',
  limits: 'bc337182 ec28438a d543dbeb 203e727e 5d0044ca 27a14fc2 c18bc195 751039fc 5932ead1',
  trading: '8a8c523c c9567bf9 8f70ccf7 c2e5ec04 01339c21 293230b8 9a7a23d6 e01af92c 924de9b7',
  upgrade: '3659cfe6 4f1ef286 8f283970 d784d426 99a88ec4 9623609d 1f931c1c 52d1902d',
  ownership: '8da5cb5b 893d20e8 f2fde38b 715018a6 79ba5097 e30c3978 13af4035 7a9e5e4b',
  lock: 'dd467064 a69df4b5',
  roles: '2f2ff15d d547741f 36568abe b3ab15fb 70480275 634e93da',
  rescue: 'b2118a8d 57376198 8980f11f 3ccfd60b 89476069 01681a62 f5648a4f 1da1db5e db2e21bc',
  balances: 'e30443bc 7a43e23f b61d27f6',
}

test('the selectors are the published ones, each once, and viem computes the same', () => {
  const table = [...privilegedSelectors().values()]
  const published = Object.entries(PUBLISHED).flatMap(([category, list]) => list.split(' ').map((one) => `${category} 0x${one}`))
  assert.deepEqual(
    table.map(({ category, selector }) => `${category} ${selector}`),
    published,
  )
  assert.equal(new Set(table.map(({ selector }) => selector)).size, table.length)
  for (const { signature, selector } of table) assert.equal(toFunctionSelector(signature), selector, signature)
  assert.equal(table.length, Object.values(PRIVILEGED_SIGNATURES).flat().length)
})

test('the slots are the hashes of their texts; those of EIP-1967 less one', () => {
  const hashed = (text: string) => keccak256(toHex(text))
  const less_one = (text: string) => toHex(BigInt(hashed(text)) - 1n, { size: 32 })
  assert.deepEqual(PROXY_SLOTS, {
    eip1967_implementation: less_one('eip1967.proxy.implementation'),
    eip1967_admin: less_one('eip1967.proxy.admin'),
    eip1967_beacon: less_one('eip1967.proxy.beacon'),
    eip1822_logic: hashed('PROXIABLE'),
    zeppelinos_implementation: hashed('org.zeppelinos.proxy.implementation'),
    zeppelinos_admin: hashed('org.zeppelinos.proxy.admin'),
    matic_implementation: hashed('matic.network.proxy.implementation'),
    safe_singleton: toHex(0n, { size: 32 }),
  })
})

// attack: names with direction marks, hostile return data, revert messages
// in: documents and texts
// asset: a reader of token facts
// attacker: author of a contract
// defence: names are cleaned and cut to 64 characters; revert texts are classified, never repeated
test('texts of tokens: plain ones as they are, others shown without what cannot be seen', () => {
  const read = (text: string) => readTokenText(abiString(text))
  for (const plain of ['USD Coin', '日本円', 'Ünïcode', 'दिर्हम', '🦄', ''])
    assert.deepEqual(read(plain), { text: plain, encoding: 'string', altered: false })
  const altered: [given: string, shown: string][] = [
    ['a\u202eb', 'ab'],
    ['a\u200bb\ufeff', 'ab'],
    ['a\u0000b', 'ab'],
    ['  a \n\t b ', 'a b'],
    ['a\u3164\u2800b', 'ab'],
    ['a\u{e0041}\ufe0f', 'a'],
    ['Z\u0301\u0302\u0303\u0304\u0305', 'Z\u0301\u0302'],
    ['x'.repeat(65), 'x'.repeat(64)],
    ['y'.repeat(5_000), 'y'.repeat(64)],
    ['\u{1f984}'.repeat(300), '\u{1f984}'.repeat(64)],
  ]
  for (const [given, shown] of altered) assert.deepEqual(read(given), { text: shown, encoding: 'string', altered: true })
  // 32 bytes, and zeros up to the 4,096 that old clones of Vyper return; with anything else behind it is no such text.
  const [maker, zeros] = [Buffer.from('Maker').toString('hex').padEnd(64, '0'), '0'.repeat(2 * 4_064)]
  assert.deepEqual(readTokenText(`0x${maker}${zeros}`), { text: 'Maker', encoding: 'bytes32', altered: false })
  assert.equal(readTokenText(`0x${maker}${zeros.slice(2)}01`), null)
  // A length beyond the data, an offset beyond it, bytes that are no UTF-8, and too little.
  for (const broken of [`0x${word(32n)}${word(33n)}${word(1n)}`, `0x${word(96n)}${word(0n)}`, `0x${'ff'.repeat(32)}`, '0x00', '0x']) {
    assert.equal(readTokenText(broken), null, broken)
  }
})

test('what a loupe returns is read exactly or not at all', () => {
  // Two facets: one with a function, one with none.
  const first = [word('0xaa'), word(64n), word(1n), '40c10f19'.padEnd(64, '0')]
  const second = [word('0xbb'), word(64n), word(0n)]
  const good = `0x${[word(32n), word(2n), word(64n), word(192n), ...first, ...second].join('')}`
  const found = readFacets(good)
  assert.deepEqual([found?.facets.length, [...(found?.selectors ?? [])]], [2, [0x40c10f19]])
  for (let cut = 2; cut < good.length; cut += 2) assert.equal(readFacets(good.slice(0, cut)), null)
  assert.equal(readFacets(`0x${word(32n)}${word(1n << 31n)}`), null)
  assert.deepEqual(readFacetAddresses(`0x${word(32n)}${word(1n)}${word('0xaa')}`)?.facets, [`0x${'aa'.padStart(40, '0')}`])
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: 0n, max: 300n }), { maxLength: 40 }), (words) => {
      readFacets(`0x${words.map((one) => word(one)).join('')}`)
    }),
    { numRuns: runs(300, 10_000), seed: SEED },
  )
})

/** Walks a path such as $.proxy.slots_checked[0]. */
function resolve(root: unknown, path: string): unknown {
  const steps = path.slice(2).match(/[^.[\]]+/g) ?? []
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], root)
}

test('every flag points at facts that are there, and the counts are those of the flags', async () => {
  const sources = { chain: fixedChain(), clock: clockAt(() => Date.UTC(2026, 10, 21, 12)) } as Parameters<typeof tool.execute>[1]
  const seen = new Set<string>()
  for (const address of Object.values(TOKENS)) {
    const answer = await tool.execute({ address }, sources)
    const flags = answer['flags'] as Flag[]
    for (const { id, facts } of flags) {
      seen.add(id)
      assert.ok(facts.length > 0, id)
      for (const path of facts) assert.notEqual(resolve(answer, path), undefined, `${id}: ${path}`)
    }
    assert.equal(new Set(flags.map(({ id }) => id)).size, flags.length)
    assert.deepEqual(answer['flag_counts'], countFlags(flags))
    const { not_checked } = answer['scope'] as { not_checked: string[] }
    for (const word_of of [/simulation/, /liquidity/, /holders/, /source code/, /outside the chain/]) {
      assert.ok(not_checked.some((one) => word_of.test(one)))
    }
  }
  assert.ok(seen.size >= 12, [...seen].join(', '))
})
