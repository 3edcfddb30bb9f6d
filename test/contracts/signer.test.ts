import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chooseSigning, SIGNED, wasmKeccak } from '../../src/adapters/signer/choose.ts'
import { loadNative, nativeRecover, nativeSigner, type NativeSecp256k1 } from '../../src/adapters/signer/native.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import type { Signer } from '../../src/ports/signer.ts'
import { fromHex, nobleCrypto, toHex, type ReceiptCrypto, readSignature } from '../../src/pure/receipts/crypto.ts'
import { runs, SEED } from '../support/counts.ts'
import { ADDRESS_ONE, DIGEST, KEY_ONE, SIGNATURE } from '../receipts/example.ts'

function bytes(hex: string): Uint8Array {
  return fromHex(hex) ?? assert.fail('not hex')
}

const DIGEST_BYTES = bytes(DIGEST)

/** RFC 6979 with SHA-256 over secp256k1, as in the test suites of Bitcoin Core and its ports: key, text that was hashed once, r ‖ s. */
const RFC6979: readonly (readonly [key: string, text: string, rs: string])[] = [
  [
    '1'.padStart(64, '0'),
    'Satoshi Nakamoto',
    '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
  ],
  [
    '1'.padStart(64, '0'),
    'All those moments will be lost in time, like tears in rain. Time to die...',
    '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21',
  ],
  [
    'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140',
    'Satoshi Nakamoto',
    'fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d06b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5',
  ],
  [
    'f8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181',
    'Alan Turing',
    '7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea',
  ],
]

/** Platforms for which the addon brings a binary; elsewhere it may be missing, and noble alone is held to the suite. */
const PREBUILT = ['linux-x64', 'darwin-arm64', 'win32-x64']

function nativeHere(): NativeSecp256k1 | null {
  try {
    return loadNative()
  } catch {
    return null
  }
}

const native = nativeHere()
type Suite = readonly [name: Signer['implementation'], signer: (key: Uint8Array) => Signer, recover: ReceiptCrypto['recover']]
const suites: Suite[] = [['noble', nobleSigner, nobleCrypto.recover]]
if (native !== null) suites.push(['secp256k1-native', (key) => nativeSigner(native, key), nativeRecover(native, nobleCrypto.keccak256)])

test('the addon loads wherever it brings a binary', () => {
  if (PREBUILT.includes(`${process.platform}-${process.arch}`)) assert.notEqual(native, null)
})

for (const [name, signer, recover] of suites) {
  test(`${name}: addresses and signatures are those computed elsewhere`, () => {
    const one = signer(KEY_ONE)
    assert.equal(one.address, ADDRESS_ONE)
    assert.equal(one.implementation, name)
    assert.equal(one.sign(DIGEST_BYTES), SIGNATURE)
    for (const [key, text, rs] of RFC6979) {
      const digest = createHash('sha256').update(text).digest()
      assert.equal(
        signer(bytes(`0x${key}`))
          .sign(digest)
          .slice(2, 130),
        rs,
      )
    }
  })

  test(`${name}: keys outside the group are refused, and a key is copied`, () => {
    const order = bytes('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')
    for (const key of [new Uint8Array(32), order, new Uint8Array(31).fill(1), new Uint8Array(33).fill(1)]) assert.throws(() => signer(key))
    const key = Uint8Array.from(KEY_ONE)
    const mine = signer(key)
    key.fill(9)
    assert.equal(mine.sign(DIGEST_BYTES), SIGNATURE)
  })

  test(`${name}: recovers signers, high s included, and says null where there is none`, () => {
    const good = readSignature(SIGNATURE)
    assert.ok(good.ok)
    assert.equal(recover(DIGEST_BYTES, good.rs, good.recovery), ADDRESS_ONE)
    assert.notEqual(recover(DIGEST_BYTES, good.rs, good.recovery === 0 ? 1 : 0), ADDRESS_ONE)
    const no_point = Uint8Array.from(good.rs)
    no_point.set(new Uint8Array(32))
    no_point[31] = 5
    for (const rs of [no_point, new Uint8Array(64), new Uint8Array(64).fill(0xff), new Uint8Array(63)])
      assert.equal(recover(DIGEST_BYTES, rs, 0), null)
  })
}

const BYTES_32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const PRIVATE_KEY = BYTES_32.filter((key) => key.some((byte) => byte > 0) && (key[0] ?? 0) < 0xff)

test('all sign alike and recover alike', () => {
  fc.assert(
    fc.property(PRIVATE_KEY, BYTES_32, (key, digest) => {
      const { address } = nobleSigner(key)
      const signature = nobleSigner(key).sign(digest)
      assert.match(signature, /^0x[0-9a-f]{64}[0-7][0-9a-f]{63}1[bc]$/)
      const reading = readSignature(signature)
      assert.ok(reading.ok && !reading.high_s)
      for (const [, signer, recover] of suites) {
        assert.equal(signer(key).sign(digest), signature)
        assert.equal(recover(digest, reading.rs, reading.recovery), address)
      }
    }),
    { numRuns: runs(60, 600), seed: SEED },
  )
  fc.assert(
    fc.property(BYTES_32, BYTES_32, BYTES_32, fc.constantFrom(0 as const, 1 as const), (r, s, digest, bit) => {
      const rs = Uint8Array.from([...r, ...s])
      for (const [, , recover] of suites) assert.equal(recover(digest, rs, bit), nobleCrypto.recover(digest, rs, bit))
    }),
    { numRuns: runs(60, 600), seed: SEED },
  )
})

test('the WebAssembly keccak-256 hashes as noble does, texts and bytes', async () => {
  const wasm = await wasmKeccak()
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.uint8Array({ maxLength: 400 }), (text, data) => {
      assert.equal(wasm.keccak256Hex(text), nobleCrypto.keccak256Hex(text))
      assert.equal(toHex(wasm.keccak256(text)), nobleCrypto.keccak256Hex(text))
      assert.deepEqual(Uint8Array.from(wasm.keccak256(data)), nobleCrypto.keccak256(data))
    }),
    { numRuns: runs(100, 10_000), seed: SEED },
  )
})

test('what the reference is written down to have signed is what it signs, and viem', async () => {
  for (const { key, address, digest, signature } of SIGNED) {
    const account = privateKeyToAccount(key as Hex)
    assert.deepEqual([nobleSigner(bytes(key)).address, account.address.toLowerCase()], [address, address])
    assert.deepEqual([nobleSigner(bytes(key)).sign(bytes(digest)), await account.sign({ hash: digest as Hex })], [signature, signature])
  }
})

test('the fast parts are chosen where they load and agree', async () => {
  const signing = await chooseSigning()
  assert.deepEqual([signing.implementation, signing.keccak], [suites.at(-1)?.[0], 'hash-wasm'])
  assert.equal(signing.refusals.length, native === null ? 1 : 0)
  assert.equal(signing.signer(KEY_ONE).sign(signing.crypto.keccak256('')), nobleSigner(KEY_ONE).sign(nobleCrypto.keccak256('')))
})

/** The addon's interface over noble, so that lies can be told on any platform. */
const honest: NativeSecp256k1 = {
  publicKeyCreate: (key) => secp256k1.getPublicKey(key, false),
  ecdsaSign: (digest, key) => {
    const made = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
    return { signature: made.slice(1), recid: made[0] ?? 0 }
  },
  ecdsaRecover: (rs, recid, digest) =>
    secp256k1.Signature.fromBytes(rs, 'compact').addRecoveryBit(recid).recoverPublicKey(digest).toBytes(false),
}

test('a part that differs from the reference or does not load is refused with a reason', async () => {
  assert.equal((await chooseSigning({ native: () => honest })).implementation, 'secp256k1-native')
  const lying = (change: Partial<NativeSecp256k1>) => () => ({ ...honest, ...change })
  const faults: readonly (readonly [native: () => NativeSecp256k1, reason: RegExp])[] = [
    [() => assert.fail('no binary'), /does not load/],
    [lying({ ecdsaSign: (digest, key) => ({ ...honest.ecdsaSign(digest, key), recid: 0 }) }), /signs a fixed digest otherwise/],
    [lying({ ecdsaRecover: () => honest.publicKeyCreate(KEY_ONE, false) }), /recovers another signer/],
    [lying({ publicKeyCreate: () => honest.publicKeyCreate(KEY_ONE, false) }), /derives another address/],
  ]
  for (const [candidate, reason] of faults) {
    const signing = await chooseSigning({ native: candidate })
    assert.equal(signing.implementation, 'noble')
    assert.match(signing.refusals.join(), reason)
    assert.equal(signing.signer(KEY_ONE).sign(DIGEST_BYTES), SIGNATURE)
  }
  const keccak = await chooseSigning({ keccak: async () => ({ ...nobleCrypto, keccak256Hex: () => '0x' }) })
  assert.equal(keccak.keccak, 'noble')
  assert.match(keccak.refusals.join(), /keccak-256 is not used: it hashes a fixed text otherwise/)
})
