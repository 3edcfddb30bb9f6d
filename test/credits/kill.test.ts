/** The service, killed while credits pay: no use is debited twice, no answer that was debited is lost, and nothing stays reserved for good. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { runs } from '../support/counts.ts'
import { balance, boughtCode, callWith, creditSettings } from '../support/credits.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'

/** What a claim that nobody serves any more is held for, and a little more. */
const AHEAD_MS = 61_000
const PACK_CENTS = 9_900

const folders: string[] = []
after(async () => {
  killLeft()
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

async function deployment(): Promise<Record<string, string>> {
  const { settings, data_dir } = await creditSettings('none')
  folders.push(data_dir)
  return settings
}

/** Null when the service died before it answered. */
async function sent(url: string, code: string, key: string): Promise<string | null> {
  try {
    const { status, text } = await callWith(url, code, key)
    assert.equal(status, 200, text)
    return text
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return null
  }
}

const amountIn = (text: string) => BigInt((JSON.parse(text) as { settlement: { amount_minor: string } }).settlement.amount_minor)

async function assertBooked(url: string, code: string, answers: readonly string[]): Promise<void> {
  const { body } = await balance(url, code)
  const spent = answers.reduce((sum, text) => sum + amountIn(text), 0n)
  const granted = BigInt(PACK_CENTS) * 10_000n
  assert.deepEqual([body['spent'], body['reserved'], body['available']], [`${spent}`, '0', `${granted - spent}`])
}

describe('killed at a step, then started again', { concurrency: 2, timeout: 120_000 }, () => {
  for (const die_at of ['after_claim', 'before_settled_row'] as const) {
    test(`${die_at}: what was reserved comes back, and the same request is debited once`, async () => {
      const settings = await deployment()
      const dying = await startFaulty(settings, { die_at })
      const { code } = await boughtCode(dying.url, PACK_CENTS)
      assert.equal(await sent(dying.url, code, 'dies'), null)
      assert.equal((await dying.ended).signal, 'SIGKILL')
      const service = await startFaulty(settings, { ahead_ms: AHEAD_MS })
      const answer = await sent(service.url, code, 'dies')
      assert.ok(answer !== null)
      assert.equal(await sent(service.url, code, 'dies'), answer)
      await assertBooked(service.url, code, [answer])
      await service.stop()
    })
  }
})

test('killed at any moment while many pay: what was answered stays answered, byte for byte, and each key is debited once', async () => {
  for (let round = 0; round < runs(1, 8); round++) {
    const settings = await deployment()
    const dying = await startFaulty(settings)
    const { code } = await boughtCode(dying.url, PACK_CENTS)
    const keys = Array.from({ length: 150 }, (_, key) => `key-${key}`)
    const answered = new Map<string, string>()
    const kill_at = 20 + 13 * round
    let next = 0
    const caller = async () => {
      for (let key = keys[next++]; key !== undefined; key = keys[next++]) {
        const text = await sent(dying.url, code, key)
        if (text === null) return
        answered.set(key, text)
        if (answered.size === kill_at) dying.process.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: 16 }, caller))
    assert.equal((await dying.ended).signal, 'SIGKILL')
    const service = await startFaulty(settings, { ahead_ms: AHEAD_MS })
    const answers: string[] = []
    for (const key of keys) {
      const text = await sent(service.url, code, key)
      assert.ok(text !== null)
      assert.equal(answered.get(key) ?? text, text)
      answers.push(text)
    }
    await assertBooked(service.url, code, answers)
    await service.stop()
  }
})
