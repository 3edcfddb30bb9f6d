import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeOf, judgeKey, readKeyList, revoked, rotated, type PublishedKey } from '../../src/pure/receipts/keys.ts'

const [A, B, C] = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]

function key(address: string, not_before: number): PublishedKey {
  return { address, status: 'active', not_before, not_after: null, revoked_at: null, reason: null, mode: 'live', chain_id: 8453 }
}

test('through two rotations each second has its signers, the seam both', () => {
  const list = rotated(rotated([key(A, 100)], key(B, 200), 200), key(C, 300), 310)
  assert.equal(activeOf(list)?.address, C)
  assert.deepEqual(
    list.map((row) => [row.address, row.status, row.not_before, row.not_after]),
    [
      [C, 'active', 300, null],
      [B, 'retired', 200, 310],
      [A, 'retired', 100, 200],
    ],
  )
  const signersAt = (ts: number): string[] => [A, B, C].filter((address) => judgeKey(list, address, ts).signer_valid_at_ts)
  assert.deepEqual([99, 100, 199, 200, 201, 305, 311].map(signersAt), [[], [A], [A], [A, B], [B], [B, C], [C]])
})

test('revocation keeps the earliest time and leaves the other keys alone', () => {
  const list = rotated([key(A, 100)], key(B, 200), 200)
  const once = revoked(list, A.toUpperCase().replace('0X', '0x'), 'lost', 150)
  assert.deepEqual(once[1], { ...key(A, 100), status: 'revoked', not_after: 200, revoked_at: 150, reason: 'lost' })
  assert.deepEqual(once[0], list[0])
  assert.equal(revoked(once, A, 'again', 500)[1]?.revoked_at, 150)
  assert.equal(revoked(once, A, 'worse', 120)[1]?.revoked_at, 120)
  assert.deepEqual(revoked(list, C, 'unknown', 1), list)
  assert.equal(judgeKey(once, A, 149).code, 'revoked_later')
  assert.equal(judgeKey(once, A, 150).code, 'signer_revoked')
  assert.equal(activeOf(revoked(list, B, 'lost', 1)), undefined)
})

test('a time of revocation counts whatever the status says, and in whichever row it stands', () => {
  const noted: PublishedKey = { ...key(A, 100), revoked_at: 150 }
  assert.deepEqual(
    [149, 150].map((ts) => judgeKey([noted], A, ts).code),
    ['revoked_later', 'signer_revoked'],
  )
  const twice: PublishedKey[] = [{ ...key(A, 300), not_after: 400 }, { ...key(A, 100), status: 'retired', not_after: 200 }, key(B, 1)]
  assert.deepEqual(
    [99, 150, 250, 350, 401].map((ts) => judgeKey(twice, A, ts).signer_valid_at_ts),
    [false, true, false, true, false],
  )
  const lost = [...twice, { ...key(A, 100), status: 'revoked' as const, revoked_at: 120, reason: 'lost' }]
  assert.deepEqual(
    [110, 150, 350].map((ts) => judgeKey(lost, A, ts).code),
    ['revoked_later', 'signer_revoked', 'signer_revoked'],
  )
})

test('a published list is read whole or not at all', () => {
  const list = [
    { ...key(A, 1), address: A.toUpperCase().replace('0X', '0x') },
    { ...key(B, 2), status: 'revoked', revoked_at: 5, reason: 'lost' },
  ]
  const expected = [key(A, 1), list[1]]
  assert.deepEqual(readKeyList(JSON.parse(JSON.stringify(list))), expected)
  assert.deepEqual(readKeyList({ signing_address: A, keys: list }), expected)
  const { not_after: _, ...open } = key(A, 1)
  assert.deepEqual(readKeyList([open]), [key(A, 1)])
  const wrong: unknown[] = [null, {}, 'x', { keys: 1 }, [1], [{ ...key(A, 1), address: '0x' }], [{ ...key(A, 1), status: 'new' }]]
  for (const document of [...wrong, [{ ...key(A, 1), not_before: -1 }], [{ ...key(A, 1), not_after: '5' }], [{ ...key(A, 1), mode: 1 }]]) {
    assert.equal(readKeyList(document), null)
  }
})
