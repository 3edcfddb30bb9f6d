/** Journey 9: a device and a recipient sign a proof of delivery, which the recipient verifies. */
import assert from 'node:assert/strict'
import { keccak256, recoverAddress, stringToHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { journey, signText, type Json } from './stranger.ts'

journey('a device signs a delivery proof, and the recipient verifies it', {}, async (given) => {
  const keys: Record<string, Hex> = { device: generatePrivateKey(), recipient: generatePrivateKey() }
  const address = (role: string) => privateKeyToAccount(keys[role] ?? '0x').address.toLowerCase()
  const example = (await given.get('/v1/tools/pod-verify-delivery')).body['example'] as { input: { mandate: Json; attestation: Json } }
  const { mandate, attestation } = example.input
  const agreed = { ...mandate, signer_keys: { device: address('device'), recipient: address('recipient') } }
  const { signatures: _, ...fields } = attestation
  const unsigned = { ...fields, device_pubkey: address('device') }

  const asked = await given.result('pod-verify-delivery', { mandate: agreed, attestation: unsigned, last_seen_counter: 41 })
  assert.deepEqual([asked['verdict'], asked['reason_code']], ['INCOMPLETE', 'signature_missing'])
  const signers = asked['signers'] as { role: string; message: string; digest: string }[]
  assert.deepEqual(
    signers.map(({ role }) => role),
    ['device', 'recipient'],
  )
  const signatures: Record<string, Hex> = {}
  for (const { role, message, digest } of signers) {
    assert.equal(keccak256(stringToHex(message)), digest)
    signatures[role] = await signText(message, keys[role] ?? '0x')
  }
  const proof = { mandate: agreed, attestation: { ...unsigned, signatures }, last_seen_counter: 41 }
  const verified = await given.result('pod-verify-delivery', proof)
  assert.deepEqual([verified['verdict'], verified['next_last_seen_counter']], ['VERIFIED', 42])
  assert.deepEqual(verified['warnings'], [])
  for (const { role, digest } of signers) {
    const signer = await recoverAddress({ hash: digest as Hex, signature: signatures[role] ?? '0x' })
    assert.equal(signer.toLowerCase(), address(role))
  }
  const replayed = await given.result('pod-verify-delivery', { ...proof, last_seen_counter: 42 })
  assert.deepEqual([replayed['verdict'], replayed['reason_code']], ['REJECTED', 'counter_replayed'])
  assert.equal((await given.get('/v1/signing/pod-1-role')).status, 200)
})
