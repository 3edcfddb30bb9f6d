/** Journeys 7 and 8: an underwriter registers and countersigns; the insured verifies the certificate offline. */
import assert from 'node:assert/strict'
import canonicalize from 'canonicalize'
import { hashTypedData, keccak256, recoverAddress, stringToHex, type Hex, type TypedDataDefinition } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { follow, journey, type Json } from './stranger.ts'

journey('an underwriter registers, quotes and countersigns, and the insured verifies the certificate offline', {}, async (given) => {
  const key = generatePrivateKey()
  const now_s = Math.floor(Date.parse(String((await given.get('/health')).headers.get('date'))) / 1_000)
  const entry = {
    underwriter: privateKeyToAccount(key).address,
    name: 'Example Re',
    origin: String((await given.get('/api/insurance/register')).body['origin']),
    coverage_type: 'commercial_trade_credit',
    min_coverage_minor: '1000000',
    max_coverage_minor: '50000000000',
    rate_bps: 150,
    min_premium_minor: '5000000',
    term_days: 30,
    jurisdictions: ['DE'],
    licence_reference: '',
    // The host whose proof file a sandbox knows.
    terms_uri: 'https://underwriter.example/terms',
    terms_hash: keccak256(stringToHex('the terms')),
    issued_at: now_s,
    valid_until: now_s + 86_400,
  }
  const unsigned = await given.post('/api/insurance/register', { entry })
  assert.deepEqual([unsigned.status, unsigned.body['code']], [400, 'INSURANCE_REQUEST_INVALID'])
  const registered = await follow(unsigned.body, key, { entry })
  assert.deepEqual([registered.status, registered.body['proven']], [201, true], registered.text)

  const underwriter_id = String(registered.body['underwriter_id'])
  const { quotes } = await given.result('quote-3rd-party-insurance', { amount_usdc: 20_000 })
  const [quote] = quotes as Json[]
  // 150 basis points of 20,000 USDC.
  assert.deepEqual([quote?.['underwriter_id'], quote?.['premium_minor']], [underwriter_id, '300000000'])

  const wish = { underwriter_id, amount_usdc: 20_000, invoice_id: 'INV-7', policyholder_address: `0x${'7'.repeat(40)}` }
  const pending = await given.result('bind-insurance-policy', wish)
  assert.equal(pending['status'], 'PENDING_UNDERWRITER')
  const stranger = await given.post('/api/insurance/countersign', { policy_id: (pending['certificate'] as Json)['policy_id'] })
  assert.deepEqual(stranger.body['sign'], pending['sign'])
  const bound = await follow(pending, key)
  assert.deepEqual([bound.status, (bound.body['certificate'] as Json)['status']], [201, 'BOUND'])

  const read = await given.get(String(pending['certificate_url']))
  const certificate = read.body['certificate'] as Json
  await verifyOffline(certificate, pending['sign'] as Json, (await given.get('/.well-known/xdr-1.json')).body)
})

/** As /docs/pol-1 describes it: the digest of the record, its registrar, and the countersignature over that digest. */
async function verifyOffline(certificate: Json, sign: Json, keys: Json): Promise<void> {
  const { status: _, registrar_signature, underwriter_signature, ...record } = certificate
  const digest = keccak256(stringToHex(`POL-1|${canonicalize(record) ?? ''}`))
  const registrar = (await recoverAddress({ hash: digest, signature: registrar_signature as Hex })).toLowerCase()
  assert.equal(registrar, certificate['registrar'])
  assert.ok((keys['keys'] as Json[]).some(({ address }) => address === registrar))
  const typed_data = sign['typed_data'] as TypedDataDefinition
  assert.equal((typed_data.message as Json)['policy_digest'], digest)
  const hash = hashTypedData(typed_data)
  const underwriter = await recoverAddress({ hash, signature: underwriter_signature as Hex })
  assert.equal(underwriter.toLowerCase(), certificate['underwriter_address'])
}
