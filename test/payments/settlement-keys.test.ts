/** Gas wallets: bytes as viem makes them, and keys that only their owner can read. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { keccak256, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { secretFileFault } from '../../src/pure/secret-file.ts'
import { readGasKeys } from '../../src/adapters/gas-wallet/key-file.ts'
import { gasWallet } from '../../src/adapters/gas-wallet/wallet.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'

const hex = (min: number, max: number) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

const transactions = fc.record({
  account_nonce: fc.oneof(fc.constant(0), fc.nat(300), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
  to: hex(20, 20),
  data: fc.oneof(fc.constant<Hex>('0x'), fc.constant<Hex>('0x00'), fc.constant<Hex>('0x7f'), hex(1, 80), hex(200, 400)),
  gas: fc.bigInt(0n, 2n ** 40n),
  max_fee_wei: fc.bigInt(2n ** 60n, 2n ** 100n),
  priority_fee_wei: fc.bigInt(0n, 2n ** 60n),
})

test('a signed transaction is byte for byte what viem signs, and its hash is the keccak-256 of it', async () => {
  const property = fc.asyncProperty(transactions, fc.constantFrom(8453, 84532, 1), hex(32, 32), async (transaction, chain_id, key) => {
    fc.pre(BigInt(key) > 0n && BigInt(key) < 2n ** 255n)
    const { account_nonce, to, data, gas, max_fee_wei, priority_fee_wei } = transaction
    const fees = { maxFeePerGas: max_fee_wei, maxPriorityFeePerGas: priority_fee_wei }
    const expected = await privateKeyToAccount(key).signTransaction({
      type: 'eip1559',
      chainId: chain_id,
      nonce: account_nonce,
      to,
      data,
      gas,
      ...fees,
    })
    const wallet = gasWallet(nobleSigner(Buffer.from(key.slice(2), 'hex')), chain_id)
    assert.deepEqual(wallet.sign(transaction), { raw: expected, hash: keccak256(expected) })
  })
  await fc.assert(property, { numRuns: 60, seed: 3 })
})

test('what is no transaction is not signed', () => {
  const wallet = gasWallet(nobleSigner(Buffer.alloc(32, 7)), 8453)
  const good = { account_nonce: 1, to: `0x${'11'.repeat(20)}`, data: '0x', gas: 21_000n, max_fee_wei: 1n, priority_fee_wei: 0n }
  for (const change of [{ to: '0x11' }, { data: '0x1' }, { gas: -1n }, { account_nonce: 1.5 }, { account_nonce: -1 }]) {
    assert.throws(() => wallet.sign({ ...good, ...change }), RangeError)
  }
})

describe('the key file', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'assay-gas-keys-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  async function read(text: string, mode = 0o600) {
    const path = join(directory, 'gas.key')
    await writeFile(path, text)
    await chmod(path, mode)
    return readGasKeys(path)
  }

  test('holds a key a line, with or without 0x, and comments', async () => {
    const [one, two] = [generatePrivateKey(), generatePrivateKey()]
    const found = await read(`# hot\n${one}\r\n\n${two.slice(2)}\n`)
    assert.ok(found.ok)
    assert.deepEqual(
      found.keys.map((key) => Buffer.from(key).toString('hex')),
      [one.slice(2), two.slice(2)],
    )
  })

  test('is refused when empty, malformed, repeated, open to others or missing; no message holds a digit of a key', async () => {
    const key = 'a1b2c3d4'.repeat(8)
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
    const bad: [string, number?][] = [
      ['\n#\n'],
      [`${key}0`],
      [`${key}\nzz`],
      [`${key}\n0x${key.toUpperCase()}`],
      ['0'.repeat(64)],
      [order],
      [key, 0o640],
      [key, 0o604],
    ]
    for (const [text, mode] of bad) {
      const found = await read(text, mode)
      assert.ok(!found.ok, text)
      assert.ok(!/a1b2c3d4|A1B2|ffff/.test(found.message), found.message)
    }
    assert.deepEqual(readGasKeys(join(directory, 'none')).ok, false)
  })
})

test('a file that an orchestrator mounts may be read by the group of the service, and by nobody else', () => {
  const cases: [mode: number, uid: number, own: number, closed: boolean][] = [
    [0o100600, 1000, 1000, true],
    [0o100400, 1000, 1000, true],
    [0o100640, 1000, 1000, false],
    [0o100644, 1000, 1000, false],
    [0o100440, 0, 1000, true],
    [0o100640, 0, 1000, true],
    [0o100660, 0, 1000, false],
    [0o100444, 0, 1000, false],
    [0o100440, 0, 0, false],
    // The file of another user, who can change it at any time.
    [0o100600, 1001, 1000, false],
    [0o100600, 1000, 0, false],
  ]
  const file = { setting: 'ASSAY_SECRET_FILE', path: '/keys/secret.key' }
  for (const [mode, uid, own, closed] of cases) {
    assert.equal(secretFileFault({ mode, uid }, own, file) === null, closed, `${mode.toString(8)} ${uid} ${own}`)
  }
})
