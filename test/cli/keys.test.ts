import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseArguments, COMMANDS } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/keys.ts'
import { openDesk, parsed, type Desk, type Ended } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

type Row = { address: string; status: string; not_before: number; not_after: number | null; reason: string | null }

function rows({ stdout }: Ended): Row[] {
  return parsed(stdout)['keys'] as Row[]
}

/** Every private key in the key file, as it is written there. */
function secrets(): string[] {
  const { keys } = parsed(readFileSync(join(desk.settings['ASSAY_DATA_DIR'] ?? '', 'receipt-keys.json'), 'utf8')) as {
    keys: { private_key: string | null }[]
  }
  return keys.flatMap(({ private_key }) => (private_key === null ? [] : [private_key.replace(/^0x/, '')]))
}

test('keys rotate and are revoked; old receipts are judged by the published list', async () => {
  const outputs: string[] = []
  const hidden: string[] = []
  const keys = async (...args: string[]) => {
    const ended = await desk.run(['keys', ...args])
    outputs.push(ended.stdout, ended.stderr)
    if (ended.code === 0) hidden.push(...secrets())
    return ended
  }
  const call = () => desk.run(['call', 'luhn-check', '{"number":"4242424242424242"}'])
  const before_rotation = await desk.file('before.json', (await call()).stdout)
  const first = rows(await keys('list'))[0]
  assert.equal(first?.status, 'active')

  const rotated = rows(await keys('rotate'))
  assert.deepEqual(
    rotated.map(({ status }) => status),
    ['active', 'retired'],
  )
  assert.equal(rotated[1]?.address, first.address)
  // A server that is running goes on with the old key for a while.
  assert.ok((rotated[1]?.not_after ?? 0) > (rotated[0]?.not_before ?? 0))
  const after_rotation = await desk.file('after.json', (await call()).stdout)
  const published = await desk.file('xdr-1.json', { keys: rotated })
  for (const file of [before_rotation, after_rotation]) {
    const { code, stdout } = await desk.run(['verify', file, '--keys', published])
    assert.deepEqual([code, parsed(stdout)['signer_valid_at_ts'], parsed(stdout)['key_mode']], [0, true, 'sandbox'])
  }

  const revoked = rows(await keys('revoke', first.address, '--reason', 'copied by a stranger', '--since', '0'))
  assert.deepEqual(
    revoked.map(({ status, reason }) => [status, reason]),
    [
      ['active', null],
      ['revoked', 'copied by a stranger'],
    ],
  )
  const { code, stdout } = await desk.run(['verify', before_rotation, '--keys', await desk.file('revoked.json', { keys: revoked })])
  assert.deepEqual([code, parsed(stdout)['signer_valid_at_ts']], [1, false])

  const unknown = await keys('revoke', `0x${'12'.repeat(20)}`, '--reason', 'none')
  assert.equal(unknown.code, 78)
  await keys('list', '--text')
  assert.ok(hidden.length > 2)
  for (const secret of hidden) assert.ok(!outputs.join('').includes(secret), 'a secret was shown')
})

test('mistakes are told before anything is changed', async () => {
  const mistakes: [string[], RegExp][] = [
    [['rotat'], /Unknown action "rotat"\. Did you mean "rotate"\?/],
    [['revoke'], /address/],
    [['revoke', `0x${'12'.repeat(20)}`], /--reason/],
    [['revoke', `0x${'12'.repeat(20)}`, '--reason', 'x', '--since', 'soon'], /whole seconds/],
    [['list', '--reason', 'x'], /go with revoke/],
  ]
  const { options, most_words } = COMMANDS.keys
  for (const [args, message] of mistakes) {
    await assert.rejects(async () => run(parseArguments(args, options, most_words)), { exit: 'usage', message }, args.join(' '))
  }
})
