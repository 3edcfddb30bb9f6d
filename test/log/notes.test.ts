/** Notes with many signatures, some of kinds that are not known here: C2SP signed-note asks readers for sixteen, post-quantum ones among them. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { checkpointText, readNote, signatureLine, verifierKey, proofText, verifyLogProof } from '../../src/pure/log/checkpoint.ts'
import { leafHash } from '../../src/pure/log/tree.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
// The last 32 bytes of the DER form are the key itself (RFC 8410).
const KEY = verifierKey('log', 'log.example/one', new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)))
const ENTRY = new Uint8Array(32).fill(7)
/** Ed25519; ML-DSA-44, -65 and -87 (FIPS 204, table 2). */
const SIGNATURE_BYTES = [64, 2_420, 3_309, 4_627]
const TIME_BYTES = 8

/** The checkpoint of a log of one entry, signed by its key and by so many others. */
function checkpoint(others: number, bytes: number): string {
  const text = checkpointText({ origin: KEY.name, size: 1, root: leafHash(ENTRY) })
  const own = signatureLine(KEY, new Uint8Array(sign(null, Buffer.from(text), privateKey)))
  const foreign = (at: number) => ({ name: `witness-${at}.example/${'w'.repeat(40)}`, id: at.toString(16).padStart(8, '0') })
  const lines = Array.from({ length: others }, (_, at) => signatureLine(foreign(at), new Uint8Array(TIME_BYTES + bytes).fill(at)))
  return `${text}\n${[own, ...lines].join('\n')}\n`
}

test('up to sixteen signatures of any kind are read, and the one that counts is found', () => {
  for (const bytes of SIGNATURE_BYTES) {
    for (const others of [0, 5, 15]) {
      const note = checkpoint(others, bytes)
      assert.equal(readNote(note)?.signatures.length, 1 + others, `${others} of ${bytes} bytes`)
      assert.equal(verifyLogProof(proofText({ index: 0, hashes: [], checkpoint: note }), ENTRY, KEY).code, 'ok')
    }
  }
})

test('there is an end to how many and how long', () => {
  assert.equal(readNote(checkpoint(31, 64))?.signatures.length, 32)
  assert.equal(readNote(checkpoint(32, 64)), null)
  assert.equal(readNote(checkpoint(31, 4_627)), null)
})
