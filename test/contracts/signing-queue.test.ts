/** The queue of signatures: the same bytes as the signer gives, whoever made them, and none lost when the thread lies or dies. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { chooseSigning } from '../../src/adapters/signer/choose.ts'
import { createSigningQueue } from '../../src/adapters/signer/queue.ts'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { runs } from '../support/counts.ts'
import { KEY_ONE } from '../receipts/example.ts'

const LIAR = new URL('../support/other-signer-worker.ts', import.meta.url)
const signing = await chooseSigning()
const signer = signing.signer(KEY_ONE)
const reference = nobleSigner(KEY_ONE)

const digests = (count: number) => Array.from({ length: count }, () => new Uint8Array(randomBytes(32)))

async function assertSigned(queue: ReturnType<typeof createSigningQueue>, asked: readonly Uint8Array[]): Promise<void> {
  const signatures = await Promise.all(asked.map((digest) => queue.sign(digest)))
  for (const [index, digest] of asked.entries()) assert.equal(signatures[index], reference.sign(digest))
}

test('one, a few and more than one message holds are signed as the reference signs them', async () => {
  const faults: string[] = []
  const queue = createSigningQueue(signer, KEY_ONE, (why) => faults.push(why))
  for (const count of [1, 2, 3, 31, 32, 33, 97, 200]) await assertSigned(queue, digests(count))
  for (let round = 0; round < runs(2, 20); round++) await assertSigned(queue, digests(64))
  await queue.stop()
  assert.deepEqual(faults, [])
})

test('what waits when the queue is stopped is signed, and so is what comes after', async () => {
  const queue = createSigningQueue(signer, KEY_ONE, () => undefined)
  const asked = digests(40)
  const waiting = assertSigned(queue, asked)
  await queue.stop()
  await waiting
  await assertSigned(queue, digests(40))
})

test('a thread that signs something else is found out by its first message, and nothing of it leaves', async () => {
  const faults: string[] = []
  const queue = createSigningQueue(signer, KEY_ONE, (why) => faults.push(why), LIAR)
  await assertSigned(queue, digests(70))
  await assertSigned(queue, digests(70))
  assert.deepEqual(faults, ['it signs otherwise than the signer here'])
  await queue.stop()
})

test('a thread that dies leaves no call without its signature', async () => {
  const faults: string[] = []
  const queue = createSigningQueue(signer, KEY_ONE, (why) => faults.push(why), LIAR)
  await assertSigned(queue, [new Uint8Array(32).fill(1), ...digests(60)])
  assert.deepEqual(faults, ['the thread ended'])
  await assertSigned(queue, digests(20))
  await queue.stop()
})
