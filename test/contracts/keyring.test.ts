import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import {
  activeKey,
  loadKeyring,
  publicKeys,
  revokeKey,
  rotateKey,
  type Keyring,
  type KeyringRead,
} from '../../src/adapters/signer/keyring.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { signReceipt } from '../../src/pure/receipts/receipt.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { ADDRESS_ONE, BODY } from '../receipts/example.ts'

const IDENTITY = { mode: 'sandbox', chain_id: 84_532, pay_to: `0x${'22'.repeat(20)}` }
const NOW = 1_790_000_000

function inFolder(run: (path: string, folder: string) => void | Promise<void>) {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-keys-'))
    try {
      await run(join(folder, 'data', 'receipt-keys.json'), folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function ringOf(read: KeyringRead): Keyring {
  return read.ok ? read.ring : assert.fail(read.message)
}

function messageOf(read: KeyringRead): string {
  return read.ok ? assert.fail('it was accepted') : read.message
}

test(
  'a missing file is made once, readable by its owner alone, and read back',
  inFolder((path) => {
    const ring = ringOf(loadKeyring(path, IDENTITY, NOW))
    const key = activeKey(ring)
    assert.ok(key !== undefined)
    assert.equal(nobleSigner(key.private_key).address, key.address)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(join(path, '..')), ['receipt-keys.json'])
    assert.deepEqual(ringOf(loadKeyring(path, IDENTITY, NOW + 9)), ring)
    const { keys, ...identity } = JSON.parse(readFileSync(path, 'utf8'))
    assert.deepEqual(identity, IDENTITY)
    assert.deepEqual(Object.keys(keys[0]).toSorted(), [
      'address',
      'not_after',
      'not_before',
      'private_key',
      'reason',
      'revoked_at',
      'status',
    ])
    const life = { address: key.address, status: 'active', not_before: NOW, not_after: null, revoked_at: null, reason: null }
    assert.deepEqual(publicKeys(ring), [{ ...life, mode: 'sandbox', chain_id: 84_532 }])
  }),
)

test(
  'processes that start at once end with one key',
  inFolder(async (path) => {
    const program = `
      import { loadKeyring } from '${new URL('../../src/adapters/signer/keyring.ts', import.meta.url).href}'
      const read = loadKeyring(${JSON.stringify(path)}, ${JSON.stringify(IDENTITY)}, ${NOW})
      console.log(read.ok ? read.ring.keys.map((key) => key.address).join() : read.message)
    `
    const starts = Array.from({ length: 6 }, () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]))
    const printed = (await Promise.all(starts)).map(({ stdout }) => stdout.trim())
    const held = ringOf(loadKeyring(path, IDENTITY, NOW)).keys.map((key) => key.address)
    assert.deepEqual(new Set(printed), new Set(held))
    assert.equal(held.length, 1)
    assert.deepEqual(readdirSync(join(path, '..')), ['receipt-keys.json'])
  }),
)

test(
  'a file of another deployment is refused with a sentence that names both',
  inFolder((path) => {
    loadKeyring(path, IDENTITY, NOW)
    for (const other of [
      { ...IDENTITY, mode: 'live' },
      { ...IDENTITY, chain_id: 8453 },
      { ...IDENTITY, pay_to: `0x${'33'.repeat(20)}` },
    ]) {
      const message = messageOf(loadKeyring(path, other, NOW))
      for (const part of [path, 'sandbox on chain 84532', `${other.mode} on chain ${other.chain_id} with pay-to ${other.pay_to}`]) {
        assert.ok(message.includes(part), message)
      }
    }
    assert.ok(loadKeyring(path, { ...IDENTITY, pay_to: IDENTITY.pay_to.toUpperCase().replace('0X', '0x') }, NOW).ok)
  }),
)

test(
  'a bare key is taken as it lies, and becomes a list when it is rotated',
  inFolder((_, folder) => {
    const path = join(folder, 'bare.key')
    for (const text of [`0x${'1'.padStart(64, '0')}\n`, '1'.padStart(64, '0')]) {
      writeFileSync(path, text)
      const ring = ringOf(loadKeyring(path, IDENTITY, NOW))
      assert.deepEqual(
        ring.keys.map((key) => [key.address, key.not_before]),
        [[ADDRESS_ONE, 0]],
      )
      assert.equal(readFileSync(path, 'utf8'), text)
    }
    const rotated = ringOf(rotateKey(path, IDENTITY, NOW))
    assert.deepEqual(
      rotated.keys.map((key) => [key.status, key.not_after]),
      [
        ['active', null],
        ['retired', NOW],
      ],
    )
    assert.deepEqual(ringOf(loadKeyring(path, IDENTITY, NOW)), rotated)
    assert.ok(!readFileSync(path, 'utf8').includes('1'.padStart(64, '0')), 'the secret of a retired key is forgotten')
  }),
)

test(
  'rotation and revocation change what verifiers say',
  inFolder((path) => {
    const first = activeKey(ringOf(loadKeyring(path, IDENTITY, BODY.ts - 50))) ?? assert.fail()
    const { receipt } = signReceipt(BODY, nobleSigner(first.private_key))
    const verdictOf = (ring: Keyring) => {
      const { valid, signer_published, signer_valid_at_ts, warnings } = verifyReceipt(receipt, publicKeys(ring))
      return [valid, signer_published, signer_valid_at_ts, warnings.map((warning) => warning.code).join()]
    }
    const later = ringOf(rotateKey(path, IDENTITY, BODY.ts - 20, BODY.ts + 40))
    assert.deepEqual(verdictOf(later), [true, true, true, ''])
    assert.notEqual(activeKey(later)?.address, first.address)
    const spared = ringOf(revokeKey(path, IDENTITY, first.address, 'the backup was lost', NOW, BODY.ts + 1))
    assert.deepEqual(verdictOf(spared), [true, true, true, 'revoked_later'])
    assert.equal(activeKey(spared)?.address, activeKey(later)?.address)
    const struck = ringOf(revokeKey(path, IDENTITY, first.address, 'it was stolen', NOW, BODY.ts))
    assert.deepEqual(verdictOf(struck), [true, true, false, 'signer_revoked'])
    assert.deepEqual(ringOf(loadKeyring(path, IDENTITY, NOW)), struck)
  }),
)

test(
  'revoking the active key puts a fresh one in charge; an unknown address changes nothing',
  inFolder((path) => {
    const before = activeKey(ringOf(loadKeyring(path, IDENTITY, NOW))) ?? assert.fail()
    const text = readFileSync(path, 'utf8')
    assert.match(messageOf(revokeKey(path, IDENTITY, ADDRESS_ONE, 'none', NOW)), /No key in .* has that address/)
    assert.equal(readFileSync(path, 'utf8'), text)
    const after = ringOf(revokeKey(path, IDENTITY, before.address, 'it was stolen', NOW + 5))
    assert.deepEqual(
      after.keys.map((key) => [key.status, key.not_before, key.private_key === null]),
      [
        ['active', NOW + 5, false],
        ['revoked', NOW, true],
      ],
    )
  }),
)

test(
  'what cannot be read or written is said in one sentence without any key',
  inFolder((path, folder) => {
    const secret = Buffer.from(activeKey(ringOf(loadKeyring(path, IDENTITY, NOW)))?.private_key ?? []).toString('hex')
    const good = JSON.parse(readFileSync(path, 'utf8'))
    const [key] = good.keys
    const texts = ['', '{}', 'not hex', `0x${secret}00`, '0'.repeat(64), '[]', '{"mode":"sandbox","mode":"live"}']
    const keyLists = [[{ ...key, address: ADDRESS_ONE }], [{ ...key, private_key: null }], [1], [{ ...key, private_key: 5 }]]
    const files = [...keyLists.map((keys) => ({ ...good, keys })), { ...good, pay_to: 1 }]
    for (const text of [...texts, ...files.map((file) => JSON.stringify(file))]) {
      writeFileSync(path, text)
      const message = messageOf(loadKeyring(path, IDENTITY, NOW))
      assert.match(message, /^The receipt key file \S+ holds neither .*ASSAY_RECEIPT_KEY_FILE\.$/)
      assert.ok(!message.includes(secret))
    }
    assert.match(messageOf(loadKeyring(folder, IDENTITY, NOW)), /cannot be read \(EISDIR\)/)
    assert.match(messageOf(loadKeyring(join(path, 'below', 'a file'), IDENTITY, NOW)), /cannot be (?:read|written) \(ENOTDIR\)/)
    assert.match(messageOf(rotateKey(join(folder, 'none.json'), IDENTITY, NOW)), /There is no receipt key file/)
    writeFileSync(`${path}.lock`, '')
    assert.match(messageOf(rotateKey(path, IDENTITY, NOW)), /\.lock exists: another change is under way/)
  }),
)
