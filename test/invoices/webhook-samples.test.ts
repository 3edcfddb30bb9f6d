/** The receivers of the guide run as they stand: they answer the challenge of a real service, and deliver an order for its own paid invoice alone. */
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { issueSigned, newMerchant, payByX402, send } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { lastingPort } from '../support/service.ts'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const OTHER = 'inv_other0000000'

let world: World
const processes: ChildProcess[] = []
before(async () => {
  world = await startWorld()
})
after(async () => {
  for (const one of processes) one.kill('SIGKILL')
  await world.stop()
})

const PROGRAMS = {
  javascript: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
} as const

async function sampleIn(language: keyof typeof PROGRAMS): Promise<string> {
  const guide = await readFile(new URL('../../docs/guide/webhooks.md', import.meta.url), 'utf8')
  return new RegExp(`^\`\`\`${language} .*\n([^]*?)^\`\`\`$`, 'm').exec(guide)?.[1] ?? ''
}

/** Runs the sample; returns the lines that it prints. */
function started(language: keyof typeof PROGRAMS, sample: string, env: Record<string, string>): string[] {
  const [program, ...words] = PROGRAMS[language]
  const child = spawn(program, [...words, sample], { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] })
  processes.push(child)
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  return lines
}

const has = { javascript: true, python: spawnSync('python3', ['--version']).status === 0 }

for (const language of ['javascript', 'python'] as const) {
  test(`a receiver in ${language}`, { skip: !has[language] && 'python3 is not installed' }, async () => {
    const shop = newMerchant()
    const port = await lastingPort()
    const url = `http://localhost:${port}/`
    const request = { url, account: shop.address }
    const asked = await send(`${world.url}/v1/webhooks`, request)
    const { typed_data, submit } = asked.body['sign'] as { typed_data: Parameters<typeof shop.signTypedData>[0]; submit: { body: object } }
    const signature = await shop.signTypedData(typed_data)
    const made = await send(`${world.url}/v1/webhooks`, { ...request, ...submit.body, signature })
    const { subscription, secret, token } = made.body as { subscription: { subscription_id: string }; secret: string; token: string }
    const own = await issueSigned(world, '1', shop)
    const orders = { [own.invoice_id]: { order: '4711', amount_minor: '1000000' }, [OTHER]: { order: '4712', amount_minor: '49000000' } }
    const env = { WEBHOOK_SECRET: secret, ORDERS: JSON.stringify(orders), PORT: port }
    const lines = started(language, await sampleIn(language), env)
    await until('the receiver listens', () =>
      fetch(url, { method: 'POST', body: '{}' }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    )

    const at = `${world.url}/v1/webhooks/${subscription.subscription_id}`
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await send(`${at}/verify`, {}, headers)).status, 200)
    await until('the receiver is verified', async () => (await send(at, undefined, headers)).body['state'] === 'verified')
    const paid = await payByX402(world, await world.payer(1_000_000n), own)
    assert.equal(paid.answer.status, 200, paid.answer.text)
    await until('the order is delivered', () => lines.length > 0)

    const whole = { invoice_id: OTHER, merchant_signed: true, status: 'SETTLED', amount_minor: '49000000', order_number: '4712' }
    const delivered = async (data: Record<string, unknown>, key = secret) => {
      const body = JSON.stringify({ type: 'invoice.paid', timestamp: new Date().toISOString(), data })
      const now = new Date()
      const signed = {
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new Webhook(key).sign('evt_1', now, body),
      }
      return (await fetch(url, { method: 'POST', body, headers: { 'webhook-id': 'evt_1', ...signed } })).status
    }
    assert.equal(await delivered(whole, `whsec_${Buffer.alloc(32).toString('base64')}`), 401)
    for (const change of [
      { merchant_signed: false },
      { invoice_id: 'inv_stranger0000' },
      { amount_minor: '10000' },
      { status: 'PARTIALLY_PAID' },
    ])
      assert.ok((await delivered({ ...whole, ...change })) < 300)
    assert.deepEqual(lines, ['deliver 4711'])
    await delivered(whole)
    await delivered(whole)
    await until('the other order', () => lines.length > 1)
    assert.deepEqual(lines, ['deliver 4711', 'deliver 4712'])
  })
}
