import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { premiumOf, readEntry, underwriterAddress, underwriterId, coverageMinor, standing } from '../../src/pure/rulebooks/pol1-registry.ts'
import { verifyPolicy, type Policy } from '../../src/pure/rulebooks/pol1.ts'
import { issuePolicy } from '../../src/tools/insurance/bind-insurance-policy.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedRegistrar } from '../support/fixed-registrar.ts'
import { insurer } from '../support/insurer.ts'
import { NOON_S } from '../support/underwriters.ts'

const ORIGIN = 'https://assay.test'
const underwriter = insurer(`0x${'8'.repeat(64)}`)

async function issued(): Promise<Policy> {
  const read = readEntry(await underwriter.registration(ORIGIN, NOON_S), ORIGIN, NOON_S)
  assert.ok(read.ok)
  const subject = { tx_hash: null, transaction_id: null, invoice_id: 'INV-1' }
  const asked = { coverage_minor: 1_000_001n, policyholder: `0x${'1'.repeat(40)}`, beneficiary: null, subject }
  const maker = { registrar: fixedRegistrar(), crypto: nobleCrypto, hmac: () => 'a'.repeat(64), now_s: NOON_S }
  return issuePolicy(read.entry, read.entry_hash, asked, maker)
}

async function bound(): Promise<Policy> {
  const policy = await issued()
  const signature = await underwriter.countersign({ ...policy }, verifyPolicy(policy).digest ?? '')
  return standing({ certificate: JSON.stringify(policy), underwriter_signature: signature, underwriter_attestation: null })
}

/** Bound by a signature that only a contract wallet accepts; the text that the registrar signs is written out as docs/guide/pol-1.md has it. */
async function boundByContract(): Promise<Policy> {
  const policy = await issued()
  const underwriter_signature = `0x${'ab'.repeat(97)}`
  const text = `POL-1-CONTRACT|${verifyPolicy(policy).digest ?? ''}|${underwriter_signature}|${NOON_S}`
  const registrar_signature = fixedRegistrar().sign(nobleCrypto.keccak256(text))
  const underwriter_attestation = JSON.stringify({ method: 'erc1271', checked_at: NOON_S, registrar_signature })
  return standing({ certificate: JSON.stringify(policy), underwriter_signature, underwriter_attestation })
}

test('of a contract wallet the registrar attests that it countersigned', async () => {
  const whole = await boundByContract()
  const { underwriter_attestation, ...bare } = whole
  assert.ok(underwriter_attestation !== undefined)
  const found = verifyPolicy(whole)
  assert.deepEqual(
    [found.valid, found.reason_code, found.status_proved, found.underwriter_signed, found.underwriter_attested],
    [true, 'ok_attested', 'BOUND', false, true],
  )
  const altered: [unknown, string][] = [
    [bare, 'underwriter_signature_invalid'],
    [{ ...whole, underwriter_signature: null }, 'status_not_proved'],
    [{ ...whole, underwriter_signature: `0x${'ab'.repeat(96)}ac` }, 'underwriter_signature_invalid'],
    [{ ...whole, underwriter_attestation: { ...underwriter_attestation, checked_at: NOON_S + 1 } }, 'underwriter_signature_invalid'],
    [{ ...whole, underwriter_attestation: { ...underwriter_attestation, registrar_signature: '0x' } }, 'underwriter_signature_invalid'],
    [{ ...whole, underwriter_attestation: { ...underwriter_attestation, method: 'erc6492' } }, 'not_a_policy'],
    [{ ...whole, underwriter_attestation: 'yes' }, 'not_a_policy'],
    [{ ...whole, coverage_minor: '9'.repeat(78) }, 'registrar_signature_invalid'],
    [{ ...(await boundByContract()), policy_id: `pol_${'0'.repeat(32)}` }, 'registrar_signature_invalid'],
  ]
  for (const [policy, reason_code] of altered) {
    const verdict = verifyPolicy(policy)
    assert.deepEqual([verdict.valid, verdict.reason_code], [false, reason_code])
  }
  // An attestation beside the signature of a key adds nothing.
  const key = { ...(await bound()), underwriter_attestation }
  assert.deepEqual([verifyPolicy(key).reason_code, verifyPolicy(key).underwriter_attested], ['ok', false])
})

test('a certificate proves what its signatures prove, whatever its status says', async () => {
  const pending = await issued()
  const whole = await bound()
  const verdicts: [Policy, string, string | null][] = [
    [pending, 'ok', 'PENDING_UNDERWRITER'],
    [whole, 'ok', 'BOUND'],
    [{ ...whole, status: 'PENDING_UNDERWRITER' }, 'ok', 'BOUND'],
    [{ ...pending, status: 'BOUND' }, 'status_not_proved', 'PENDING_UNDERWRITER'],
    [{ ...whole, underwriter_signature: pending.registrar_signature }, 'underwriter_signature_invalid', 'PENDING_UNDERWRITER'],
    [{ ...whole, registrar_signature: '0x00' }, 'registrar_signature_invalid', null],
    [{ ...whole, coverage_minor: 'lots' }, 'not_a_policy', null],
    // 78 digits, and more than 256 bits hold.
    [{ ...whole, coverage_minor: '9'.repeat(78) }, 'registrar_signature_invalid', null],
    [{ ...whole, premium_minor: '9'.repeat(78) }, 'registrar_signature_invalid', null],
  ]
  for (const [policy, reason_code, status] of verdicts) {
    const { valid, reason_code: found, status_proved } = verifyPolicy(policy)
    assert.deepEqual([valid, found, status_proved], [reason_code === 'ok', reason_code, status])
  }
})

test('no member can be changed, left out or added', async () => {
  const whole = await bound()
  const unsigned = ['status', 'underwriter_signature']
  for (const name of Object.keys(whole).filter((member) => !unsigned.includes(member))) {
    const { [name as keyof Policy]: value, ...rest } = whole
    assert.equal(verifyPolicy(rest).valid, false, name)
    const other = typeof value === 'number' ? value + 1 : typeof value === 'string' ? flipped(value) : 'other'
    assert.equal(verifyPolicy({ ...rest, [name]: other }).valid, false, name)
  }
  assert.equal(verifyPolicy({ ...whole, more: 1 }).valid, false)
})

/** The same text with another last character. */
function flipped(text: string): string {
  return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
}

test('whatever is no certificate is said to be none, never thrown', () => {
  const property = fc.property(fc.oneof(fc.anything(), fc.record({ v: fc.constant('POL-1'), policy_id: fc.anything() })), (value) => {
    assert.equal(verifyPolicy(value).reason_code, 'not_a_policy')
    const read = readEntry(value, ORIGIN, NOON_S)
    assert.equal(read.ok, false)
  })
  fc.assert(property, { numRuns: runs(300, 5_000), seed: SEED })
})

test('an entry that viem signed is taken, and no changed one', async () => {
  const { entry, signature } = await underwriter.registration(ORIGIN, NOON_S)
  assert.ok(readEntry({ entry, signature }, ORIGIN, NOON_S).ok)
  const changes = {
    ...entry,
    name: 'Other',
    rate_bps: 149,
    min_premium_minor: '0',
    jurisdictions: ['AT', 'DE'],
    terms_hash: `0x${'7'.repeat(64)}`,
  }
  for (const [name, value] of Object.entries(changes)) {
    if (entry[name as keyof typeof entry] === value) continue
    assert.equal(readEntry({ entry: { ...entry, [name]: value }, signature }, ORIGIN, NOON_S).ok, false, name)
  }
})

test('the premium is never below the exact basis points nor the minimum, and less than a millionth above', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
  const property = fc.property(amount, amount, fc.integer({ min: 0, max: 10_000 }), (coverage, least, rate_bps) => {
    const premium = premiumOf({ rate_bps, min_premium_minor: String(least) }, coverage)
    assert.ok(premium >= least && premium * 10_000n >= coverage * BigInt(rate_bps))
    assert.ok(premium === least || premium * 10_000n - coverage * BigInt(rate_bps) < 10_000n)
  })
  fc.assert(property, { numRuns: runs(500, 20_000), seed: SEED })
})

test('sums are read exactly and rounded up to the millionth', () => {
  const sums: [number | string, bigint][] = [
    [0.1, 100_000n],
    ['0.0000001', 1n],
    [1e-6, 1n],
    ['999999999999999.999999', 999_999_999_999_999_999_999n],
    [1e15, 10n ** 21n],
    ['1.0000000', 1_000_000n],
  ]
  for (const [sum, minor] of sums) assert.equal(coverageMinor(sum), minor)
})

test('an underwriter is known by its id and by its address', () => {
  const address = underwriter.address.toLowerCase()
  for (const id of [underwriterId(address), underwriter.address, address]) assert.equal(underwriterAddress(id), address)
  for (const id of ['uw_', 'uw_12', `${address}0`, 'acme']) assert.equal(underwriterAddress(id), null)
})
