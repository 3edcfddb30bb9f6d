/** A service that is killed while it works on a task: the next service finishes the task when it is first asked for it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import * as buyers from '../support/faults-buyer.ts'
import { heartbeat, liveDeployment } from '../support/faults-live.ts'
import { killLeft, startFaulty } from '../support/faults-process.ts'

let anvil: Anvil
let stopHeart: () => Promise<void>

before(async () => {
  anvil = await startAnvil()
  stopHeart = heartbeat(anvil)
})
after(async () => {
  killLeft()
  await stopHeart()
  await anvil.stop()
})

interface A2aTask {
  id: string
  status: { state: string }
  artifacts?: { parts: { data: Record<string, unknown> }[] }[]
}

async function ask(url: string, method: string, params: unknown): Promise<A2aTask> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(`${url}/a2a`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const reply = (await response.json()) as { result?: A2aTask; error?: unknown }
  assert.ok(reply.result !== undefined, JSON.stringify(reply.error))
  return reply.result
}

for (const die_at of ['after_claim', 'after_prepare'] as const) {
  test(`killed at ${die_at}: the first look at the task finishes it, paid once`, { timeout: 120_000 }, async (t) => {
    const live = await liveDeployment(anvil)
    t.after(live.remove)
    const first = await startFaulty(live.settings, { die_at })
    const buyer = await buyers.newBuyer(anvil, first.url)
    const message = (parts: unknown[], more: object) => ({ message: { kind: 'message', role: 'user', messageId: 'm', parts, ...more } })
    const call = [{ kind: 'data', data: { tool: buyers.TOOL, input: buyers.INPUT } }]
    const begun = await ask(first.url, 'message/send', message(call, {}))
    assert.equal(begun.status.state, 'input-required')
    const payload: unknown = JSON.parse(Buffer.from(buyer.signed.v2, 'base64').toString('utf8'))
    const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload }
    const paying = ask(first.url, 'message/send', message([{ kind: 'text', text: 'Paid.' }], { taskId: begun.id, metadata }))
    await assert.rejects(paying)
    assert.equal((await first.ended).signal, 'SIGKILL')

    const second = await startFaulty(live.settings)
    const task = await ask(second.url, 'tasks/get', { id: begun.id })
    assert.equal(task.status.state, 'completed')
    const answer = task.artifacts?.[0]?.parts[0]?.data ?? {}
    const receipt = answer['receipt'] as Record<string, string>
    assert.deepEqual([verifyReceipt(receipt).valid, receipt['nonce']], [true, buyer.signed.message.nonce])
    assert.equal(await buyers.settlements(anvil, live, buyer), 1)
    await second.stop()
  })
}
