/** Sponsor edges, signed by viem as a stranger would from the description alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak256, toBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { validateEdges, readSubject, type SponsorEdge } from '../../src/pure/rulebooks/aci1.ts'
import { runs, SEED } from '../support/counts.ts'

const NOW_S = 1_795_262_400
const SUBJECT = `0x${'ab'.repeat(20)}`
const asked = { subject: SUBJECT, role: 'payer', now_s: NOW_S } as const
const newSponsor = () => privateKeyToAccount(generatePrivateKey())

async function signed(account: PrivateKeyAccount, change: Partial<SponsorEdge> = {}): Promise<SponsorEdge> {
  const plain = { subject: SUBJECT, scope: 'payer', issued_at: NOW_S - 60, expires_at: NOW_S + 60, ...change }
  const sponsor = account.address.toLowerCase()
  const text = ['ACI-1-EDGE', sponsor, plain.subject, plain.scope, plain.issued_at, plain.expires_at].join('|')
  return { sponsor, ...plain, signature: await account.sign({ hash: keccak256(toBytes(text)) }) }
}

const reasons = (edges: SponsorEdge[]) => validateEdges(edges, asked).map(({ void_reason }) => void_reason)

test('an edge counts for its subject, its role and its time alone', async () => {
  const account = newSponsor()
  const judged: [Partial<SponsorEdge>, string | null][] = [
    [{}, null],
    [{ scope: 'any' }, null],
    [{ issued_at: NOW_S, expires_at: NOW_S }, null],
    [{ scope: 'seller' }, 'other_scope'],
    [{ scope: 'Payer' }, 'malformed'],
    [{ subject: `0x${'ac'.repeat(20)}` }, 'wrong_subject'],
    [{ subject: 'c402:abab' }, 'wrong_subject'],
    [{ subject: 'c402:' }, 'malformed'],
    [{ issued_at: NOW_S + 1 }, 'not_yet_valid'],
    [{ expires_at: NOW_S - 1 }, 'expired'],
    [{ issued_at: NOW_S + 2, expires_at: NOW_S + 1 }, 'malformed'],
  ]
  for (const [change, reason] of judged) assert.deepEqual(reasons([await signed(account, change)]), [reason], JSON.stringify(change))
})

test('of several edges of one sponsor the first good one counts, whatever the letters of its address', async () => {
  const [one, other] = [newSponsor(), newSponsor()]
  const edges = [
    await signed(one, { expires_at: NOW_S - 1 }),
    { ...(await signed(one)), sponsor: one.address },
    await signed(one, { scope: 'any' }),
    await signed(other),
  ]
  assert.deepEqual(reasons(edges), ['expired', null, 'duplicate_sponsor', null])
})

test('nobody sponsors themselves, in whatever letters', async () => {
  const account = newSponsor()
  const edge = await signed(account, { subject: account.address.toLowerCase() })
  const own = { ...asked, subject: account.address.toLowerCase() }
  assert.equal(validateEdges([edge], own)[0]?.void_reason, 'self')
  assert.equal(validateEdges([{ ...edge, subject: account.address }], own)[0]?.void_reason, 'self')
})

test('a changed field, another signer, the high s and noise are bad signatures', async () => {
  const [account, other] = [newSponsor(), newSponsor()]
  const edge = await signed(account)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const high = (order - BigInt(`0x${edge.signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  const turned = edge.signature.endsWith('1b') ? '1c' : '1b'
  const bad: SponsorEdge[] = [
    { ...edge, expires_at: edge.expires_at + 1 },
    { ...edge, issued_at: edge.issued_at - 1 },
    { ...edge, scope: 'any' },
    { ...edge, sponsor: other.address },
    { ...edge, signature: `${edge.signature.slice(0, 66)}${high}${turned}` },
    ...['', '0x', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, edge.signature.slice(0, -2), 'x'.repeat(256)].map((signature) => ({
      ...edge,
      signature,
    })),
  ]
  for (const one of bad) assert.deepEqual(reasons([one]), ['bad_signature'], JSON.stringify(one))
})

test('a subject is an address in any letters or a c402 name in small ones', () => {
  const read: [string, string | null][] = [
    [`0x${'AB'.repeat(20)}`, SUBJECT],
    [SUBJECT, SUBJECT],
    ['c402:a', 'c402:a'],
    [`c402:${'a'.repeat(64)}`, `c402:${'a'.repeat(64)}`],
    ['c402:acme.shop_1-x', 'c402:acme.shop_1-x'],
    ...['', 'c402:', `c402:${'a'.repeat(65)}`, 'c402:A', 'C402:a', 'c402:a|b', 'c402:a\n', `0X${'ab'.repeat(20)}`, '0xab'].map(
      (text): [string, null] => [text, null],
    ),
  ]
  for (const [text, subject] of read) assert.equal(readSubject(text), subject, JSON.stringify(text))
})

test('edges full of noise are void and never throw', () => {
  const time = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(NOW_S, NOW_S + 1, 2 ** 53))
  const edge = fc.record({
    sponsor: fc.oneof(fc.string({ unit: 'binary' }), fc.constant(SUBJECT)),
    subject: fc.oneof(fc.string({ unit: 'binary' }), fc.constant(SUBJECT)),
    scope: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('any')),
    issued_at: time,
    expires_at: time,
    signature: fc.string({ unit: 'binary', maxLength: 256 }),
  })
  const property = fc.property(fc.array(edge, { maxLength: 32 }), (edges) => reasons(edges).every((reason) => reason !== null))
  fc.assert(property, { numRuns: runs(50, 2_000), seed: SEED })
})
