/** The walk over bytecode, against an independent analyser and against code whose selectors and opcodes are known by construction. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { scanCode } from '../../src/pure/evm/code-scan.ts'
import { readFacets } from '../../src/pure/evm/proxy.ts'
import { assertGrowth } from '../fuzz/growth.ts'
import { runs, SEED } from '../support/counts.ts'
import { word } from '../support/fixed-words.ts'
import { startTokenWorld, type TokenWorld } from '../support/token-world.ts'
import { readTokenText } from '../../src/pure/evm/token-answers.ts'

/** The analyser; its package carries no types for this way in. */
const require = createRequire(import.meta.url)
const { contractInfo } = require('evmole') as {
  contractInfo(code: string, options: { selectors: true }): { functions?: { selector: string }[] }
}

const FOLDER = 'node_modules/@openzeppelin/contracts/build/contracts'

let world: TokenWorld
before(async () => {
  world = await startTokenWorld()
})
after(() => world.anvil.stop())

const called = async (to: string, data = '0x') => String(await world.anvil.rpc('eth_call', [{ to, data, gas: '0xf4240' }, 'latest']))
const hexOf = (selectors: readonly number[]) => selectors.map((one) => one.toString(16).padStart(8, '0')).toSorted()
const offered = (code: string) =>
  hexOf([...scanCode(code).selectors].flatMap(([selector, seen]) => (seen === 'dispatcher' ? [selector] : [])))
const analysed = (code: string) => (contractInfo(code, { selectors: true }).functions ?? []).map(({ selector }) => selector).toSorted()

/** The contracts of OpenZeppelin as published, of which TransparentUpgradeableProxy offers nothing that a dispatcher would show. */
function published(): { name: string; code: string }[] {
  return readdirSync(FOLDER).flatMap((name) => {
    const { deployedBytecode } = JSON.parse(readFileSync(`${FOLDER}/${name}`, 'utf8')) as { deployedBytecode?: string }
    return deployedBytecode === undefined || deployedBytecode === '0x' ? [] : [{ name, code: deployedBytecode }]
  })
}

/** The contracts of this project as they stand once deployed; a constructor that wants an address gets the owner. */
async function own(): Promise<{ name: string; code: string }[]> {
  const found = []
  for (const folder of ['data/contracts', 'test/chain/samples']) {
    // The probe answers within its creation and leaves no contract.
    for (const name of readdirSync(folder).filter((file) => file !== 'signature-probe.json')) {
      const { creation_code } = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as { creation_code: `0x${string}` }
      found.push({ name, code: await world.codeAt(await world.deploy(`${creation_code}${word(world.anvil.owner)}`)) })
    }
  }
  return found
}

test('every contract of OpenZeppelin and of this project: the selectors that evmole finds, no more and no fewer', async () => {
  const packaged = published()
  const mine = await own()
  assert.ok(packaged.length > 75 && mine.length >= 12)
  let count = 0
  for (const { name, code } of [...packaged, ...mine]) {
    assert.deepEqual(offered(code), analysed(code), name)
    count += offered(code).length
  }
  assert.ok(count > 200, `only ${count} selectors`)
  // The publisher's build carries metadata, which is left out; a raw search of TimelockController finds what is not there.
  for (const { name, code } of packaged) assert.ok((scanCode(code).metadata_bytes ?? 0) > 40, name)
  const timelock = packaged.find(({ name }) => name === 'TimelockController.json')?.code ?? ''
  assert.deepEqual([scanCode(timelock).opcodes.SELFDESTRUCT, scanCode(timelock).opcodes.DELEGATECALL], [0, 0])
  const transparent = packaged.find(({ name }) => name === 'TransparentUpgradeableProxy.json')?.code ?? ''
  assert.deepEqual([offered(transparent), scanCode(transparent).selectors.get(0x4f1ef286)], [[], 'constant_only'])
})

test('selectors are told apart from constants', () => {
  const seen = (code: string) =>
    Object.fromEntries([...scanCode(`0x${code.padEnd(128, '5b')}`).selectors].map(([one, how]) => [hexOf([one])[0], how]))
  // DUP1 PUSH4 EQ PUSH2 JUMPI, as Solidity; PUSH4 DUP2 XOR PUSH2 JUMPI, as Vyper; SUB; ISZERO between.
  assert.deepEqual(seen('8063a9059cbb14610030575b'), { a9059cbb: 'dispatcher' })
  assert.deepEqual(seen('63a9059cbb8118610030575b'), { a9059cbb: 'dispatcher' })
  assert.deepEqual(seen('8063a9059cbb03610030575b'), { a9059cbb: 'dispatcher' })
  assert.deepEqual(seen('8063a9059cbb1415610030575b'), { a9059cbb: 'dispatcher' })
  // A selector whose first byte is zero: blockBots(address[]).
  assert.deepEqual(seen('8062b8cf2a14610030575b'), { '00b8cf2a': 'dispatcher' })
  // The place to jump to, pushed in any size.
  for (let size = 1; size <= 32; size++) {
    const push = `${(0x5f + size).toString(16)}${'30'.padStart(2 * size, '0')}`
    assert.equal(seen(`8063a9059cbb14${push}575b`)['a9059cbb'], 'dispatcher', `PUSH${size}`)
  }
  // A jump to nowhere, as in the code of another contract that is carried along.
  assert.deepEqual(seen('8063a9059cbb14610007575b'), { a9059cbb: 'constant_only' })
  // Pushed to be sent elsewhere, split upon, or shifted into place.
  assert.deepEqual(seen('63a9059cbb5f52'), { a9059cbb: 'constant_only' })
  assert.deepEqual(seen('8063a9059cbb11610030575b'), { a9059cbb: 'constant_only' })
  assert.deepEqual(seen('63278f794360e11b5f52')['4f1ef286'], 'constant_only')
  // The proxy of a Safe compares a whole word: PUSH32 a619486e… PUSH1 0 CALLDATALOAD EQ ISZERO PUSH1 JUMPI.
  assert.deepEqual(seen(`7fa619486e${'0'.repeat(56)}600035141560345700`), { a619486e: 'dispatcher' })
  // In the data of a push, after the end of a block, in three bytes that nothing compares.
  assert.deepEqual(seen('6863a9059cbb146100305700'), {})
  assert.deepEqual(seen('008063a9059cbb146100305700'), {})
  assert.deepEqual(seen('62b8cf2a5f52'), {})
})

test('Vyper before 0.3 keeps the selector in memory, and compares what it loads from there', async () => {
  // CALLDATALOAD of the first word to byte 28, so that the word at 0 is the selector; then one comparison a function (published code of
  // tokens such as CRV): PUSH4 PUSH1 0 MLOAD EQ ISZERO PUSH2 JUMPI, the body, JUMPDEST.
  const listed = ['18160ddd', '70a08231', '40c10f19']
  const body = '600760005260206000f350005b'
  const functionOf = (selector: string, at: number) => `63${selector}60005114156100${(at + 14 + body.length / 2 - 1).toString(16)}57${body}`
  let code = '600035601c52'
  for (const selector of listed) code += functionOf(selector, code.length / 2)
  code = `0x${code}60006000fd`
  const here = `0x${'fb'.repeat(20)}`
  await world.anvil.setCode(here, code)
  for (const selector of listed) assert.equal(BigInt(await called(here, `0x${selector}`)), 7n)
  await assert.rejects(called(here, '0xa9059cbb'))
  assert.deepEqual(analysed(code), listed.toSorted())
  assert.deepEqual(offered(code), listed.toSorted())
})

test('metadata is left out, unless the code jumps into it', () => {
  const hash = `5bff${'00'.repeat(30)}`
  const metadata = `a2646970667358221220${hash}64736f6c634300081e0033`
  const plain = scanCode(`0x5f5ffd${metadata}`)
  assert.deepEqual([plain.metadata_bytes, plain.opcodes.SELFDESTRUCT], [53, 0])
  // PUSH2 13 JUMP: byte 13 is the JUMPDEST at the start of the hash.
  const hidden = scanCode(`0x61000e56${metadata}`)
  assert.deepEqual([hidden.metadata_bytes, hidden.opcodes.SELFDESTRUCT], [null, 1])
  // A push of any size can name the place; the hash starts 10 bytes after the 2 + size bytes of PUSH and JUMP.
  for (let size = 1; size <= 32; size++) {
    const jump = `${(0x5f + size).toString(16)}${(size + 12).toString(16).padStart(2 * size, '0')}56`
    const { metadata_bytes, opcodes } = scanCode(`0x${jump}${metadata}`)
    assert.deepEqual([metadata_bytes, opcodes.SELFDESTRUCT], [null, 1], `PUSH${size}`)
  }
  // What only looks like metadata is read as code.
  assert.equal(scanCode(`0x5f5ffd${metadata.replace('6970667358', '6970667359')}`).metadata_bytes, null)
  assert.equal(scanCode('0x00a165767970657283000306000b').metadata_bytes, 13)
})

test('a block that ends in no end falls into the metadata, which is then code', async () => {
  // LOG1 and KECCAK256 take the zeros that stand ready; the hash: PUSH0 ×6 DELEGATECALL, then 42 is stored and returned.
  const hash = '5f5f5f5f5f5ff4602a5f5260205ff3'.padEnd(64, '0')
  const metadata = `a165627a7a72305820${hash}0029`
  const code = `0x5f5f5f5f${metadata}`
  const here = `0x${'fa'.repeat(20)}`
  await world.anvil.setCode(here, code)
  assert.equal(BigInt(await called(here)), 42n)
  assert.deepEqual([scanCode(code).opcodes.DELEGATECALL, scanCode(code).metadata_bytes], [1, null])
  // So does a push whose data reach into it.
  const pushed = scanCode(`0x6c${metadata}`)
  assert.deepEqual([pushed.opcodes.DELEGATECALL, pushed.metadata_bytes], [1, null])
  // An end before it, and the byte 0x22 after `ipfs`, which is no instruction, keep the block out of the hash.
  assert.deepEqual(scanCode(`0x5f5ffd${metadata}`).opcodes.DELEGATECALL, 0)
  assert.equal(scanCode(`0x5f5f5f5fa2646970667358221220${hash}64736f6c634300081e0033`).opcodes.DELEGATECALL, 0)
})

test('opcodes are counted where they may run', () => {
  // SSTORE; then after STOP: SELFDESTRUCT; then from JUMPDEST: DELEGATECALL, CALLCODE, ORIGIN, CREATE, CREATE2; the f4 in a push is data.
  const { opcodes } = scanCode('0x5500ff5bf4f232f0f560f4')
  assert.deepEqual(opcodes, { DELEGATECALL: 1, CALLCODE: 1, SELFDESTRUCT: 0, CREATE: 1, CREATE2: 1, ORIGIN: 1, SSTORE: 1 })
})

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((list) => `0x${Buffer.from(list).toString('hex')}`)

// attack: names with direction marks, hostile return data, revert messages
test('nothing that a stranger deploys or returns breaks the reading', () => {
  const property = fc.property(bytes(600), (data) => {
    const { selectors, opcodes } = scanCode(data)
    assert.ok(selectors.size <= data.length && Object.values(opcodes).every((count) => count <= data.length))
    readFacets(data)
    const text = readTokenText(data)
    assert.ok(text === null || (text.text.length <= 128 && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text.text)))
  })
  fc.assert(property, { numRuns: runs(500, 20_000), seed: SEED })
})

test('the walk is linear in the length of the code, whatever is in it', async () => {
  for (const unit of ['5b', '7f', `63a9059cbb`, `7fa619486e${'0'.repeat(56)}`, '8063a9059cbb146100305700', '8080808080']) {
    await assertGrowth(`scan of ${unit.slice(0, 12)}`, 1_024, (size) => {
      const code = `0x${unit.repeat(Math.ceil((2 * size) / unit.length))}`
      return () => scanCode(code)
    })
  }
})
