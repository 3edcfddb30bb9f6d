/** The drill of docs/operating/keys.md: keys rotate under a running service, are revoked, and what hangs on the secret is lost and found again. */
import { randomBytes } from 'node:crypto'
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readSettings } from '../../src/service/read-settings.ts'
import { readKeyList, type KeyList } from '../../src/pure/receipts/keys.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { start, type Running } from '../../src/assembly/start.ts'
import { ask, balance, boughtCode, creditSettings, post } from '../support/credits.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

interface Receipt {
  signer: string
  ts: number
}

let desk: Desk
let settings: Record<string, string>
let data_dir: string
let running: Running
let signer_before: string
let log_key: string
const receipts: Receipt[] = []

before(async () => {
  desk = await openDesk()
  ;({ settings, data_dir } = await creditSettings('none'))
  running = await begin()
})
after(async () => {
  await running.stop()
  await desk.clear()
  rmSync(data_dir, { recursive: true, force: true })
})

async function begin(): Promise<Running> {
  const read = readSettings({ ...settings, ASSAY_FREE_DAILY: '1000' })
  assert.ok(read.ok)
  return start(read.settings)
}

async function restart(): Promise<void> {
  await running.stop()
  running = await begin()
}

async function called(): Promise<Receipt> {
  const { body } = await post(`${running.url}/v1/tools/luhn-check/call`, { input: { number: '4242424242424242' } })
  return body['receipt'] as Receipt
}

async function published(): Promise<{ signing_address: string; keys: KeyList }> {
  const { body } = await ask(`${running.url}/.well-known/xdr-1.json`)
  return { signing_address: String(body['signing_address']), keys: listOf(body) }
}

function listOf(document: unknown): KeyList {
  const list = readKeyList(document)
  assert.ok(list !== null)
  return list
}

async function keys(...args: string[]): Promise<KeyList> {
  const ended = await desk.run(['keys', ...args], { settings })
  assert.equal(ended.code, 0, ended.stderr)
  return listOf(parsed(ended.stdout))
}

function standing(receipt: Receipt, list: KeyList): { published: boolean | 'not_checked'; good: boolean | 'not_checked' } {
  const { valid, signer_published, signer_valid_at_ts } = verifyReceipt(receipt, list)
  assert.ok(valid)
  return { published: signer_published, good: signer_valid_at_ts }
}

const GOOD = { published: true, good: true }

// attack: receipts signed with a stolen key
// in: outgoing requests and stored data
// asset: receipt keys
// attacker: reader of the key file
// defence: rotation while the service runs, revocation with a time
test('a rotation beside the running service: it signs on with the old key, whose grace covers that', async () => {
  receipts.push(await called())
  signer_before = (await published()).signing_address
  log_key = await (await fetch(`${running.url}/log/key`)).text()
  const list = await keys('rotate')
  assert.deepEqual(
    list.map(({ status }) => status),
    ['active', 'retired'],
  )
  const late = await called()
  receipts.push(late)
  assert.equal(late.signer, signer_before)
  assert.equal(list[1]?.address, signer_before)
  for (const receipt of receipts) assert.deepEqual(standing(receipt, list), GOOD)
  // Readers that have the list of before lose nothing either.
  assert.deepEqual(
    (await published()).keys.map(({ address }) => address),
    [signer_before],
  )
})

test('after the restart the new key signs and is published, the old one beside it; the log keeps its own', async () => {
  await restart()
  const { signing_address, keys: list } = await published()
  assert.notEqual(signing_address, signer_before)
  assert.deepEqual(
    list.map(({ address, status }) => [address, status]),
    [
      [signing_address, 'active'],
      [signer_before, 'retired'],
    ],
  )
  const fresh = await called()
  assert.equal(fresh.signer, signing_address)
  for (const receipt of [...receipts, fresh]) assert.deepEqual(standing(receipt, list), GOOD)
  assert.equal(await (await fetch(`${running.url}/log/key`)).text(), log_key)
  const handed = await Promise.all([...receipts, fresh].map((receipt) => post(`${running.url}/log/entries`, { receipt })))
  assert.deepEqual(
    handed.map(({ status }) => status),
    [202, 202, 202],
  )
  receipts.push(fresh)
})

// attack: receipts signed with a stolen key
test('a revoked key is good for nothing dated since; what came before is told apart; the others are untouched', async () => {
  const [oldest, , fresh] = receipts
  assert.ok(oldest !== undefined && fresh !== undefined)
  await keys('revoke', signer_before, '--reason', 'drill', '--since', String(oldest.ts))
  await restart()
  const { keys: list, signing_address } = await published()
  assert.equal(list.find(({ address }) => address === signer_before)?.reason, 'drill')
  assert.equal(standing(oldest, list).good, false)
  assert.deepEqual(standing(fresh, list), GOOD)
  assert.equal(fresh.signer, signing_address)
  // The log of this service takes nothing more of it.
  assert.equal((await post(`${running.url}/log/entries`, { receipt: oldest })).status, 422)
})

test('the active key revoked: a fresh one takes its place at once', async () => {
  const { signing_address } = await published()
  const list = await keys('revoke', signing_address, '--reason', 'drill of the active key')
  assert.equal(list.filter(({ status }) => status === 'active').length, 1)
  await restart()
  assert.notEqual((await published()).signing_address, signing_address)
  assert.deepEqual(standing(await called(), (await published()).keys), GOOD)
})

test('another secret stops the start; under the old one sold codes are known again, and receipts do not depend on it', async () => {
  const { code } = await boughtCode(running.url, 500)
  assert.equal((await balance(running.url, code)).status, 200)
  const path = join(data_dir, 'secret.key')
  const secret = readFileSync(path, 'utf8')
  await running.stop()
  writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 })
  await assert.rejects(begin(), { message: /another secret.*secret\.key/ })
  writeFileSync(path, secret, { mode: 0o600 })
  running = await begin()
  assert.equal((await balance(running.url, code)).body['available'], '5000000')
  assert.deepEqual(standing(receipts[2] ?? (await called()), (await published()).keys).published, true)
})
