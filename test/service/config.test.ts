import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings, SETTINGS } from '../../src/service/config.ts'

function settings(environment: Record<string, string>) {
  const read = readSettings(environment)
  assert.ok(read.ok, read.ok ? '' : read.message)
  return read.settings
}

function refusal(environment: Record<string, string>): string {
  const read = readSettings(environment)
  assert.equal(read.ok, false, JSON.stringify(environment))
  return read.ok ? '' : read.message
}

const LIVE = {
  ASSAY_MODE: 'live',
  ASSAY_RPC_URLS: 'https://rpc.example',
  ASSAY_PAY_TO: `0x${'Ab'.repeat(20)}`,
  ASSAY_GAS_KEY_FILE: '/run/gas',
}

test('no settings at all make a sandbox on port 8402', () => {
  const found = settings({ HOME: '/root', PATH: '/bin' })
  assert.equal(found.ASSAY_MODE, 'sandbox')
  assert.equal(found.ASSAY_PORT, 8402)
  assert.equal(found.ASSAY_HOST, '127.0.0.1')
  assert.equal(found.ASSAY_CHAIN_ID, 84_532)
  assert.equal(found.ASSAY_FREE_DAILY, 3)
  assert.deepEqual(found.ASSAY_FREE_DAILY_OVERRIDES, { 'token-contract-risk': 5 })
})

test('live reads its settings, on Base unless told otherwise', () => {
  const found = settings(LIVE)
  assert.equal(found.ASSAY_CHAIN_ID, 8453)
  assert.equal(found.ASSAY_PAY_TO, `0x${'ab'.repeat(20)}`)
  assert.equal(settings({ ...LIVE, ASSAY_CHAIN_ID: '84532' }).ASSAY_CHAIN_ID, 84_532)
})

test('an unknown name is refused and the nearest one suggested', () => {
  assert.match(refusal({ ASSAY_PROT: '1' }), /ASSAY_PROT is not a setting.*did you mean ASSAY_PORT/)
  assert.match(refusal({ ASSAY_SOMETHING_ELSE: '1' }), /ASSAY_SOMETHING_ELSE is not a setting/)
})

test('a value that does not fit names its variable', () => {
  const wrong: [string, string][] = [
    ['ASSAY_PORT', '70000'],
    ['ASSAY_PORT', '-1'],
    ['ASSAY_PORT', '8e3'],
    ['ASSAY_MODE', 'Live'],
    ['ASSAY_CHAIN_ID', '1'],
    ['ASSAY_FREE_DAILY', '3.5'],
    ['ASSAY_FREE_DAILY_OVERRIDES', 'token-contract-risk'],
    ['ASSAY_BASE_URL', 'https://assay.example/'],
    ['ASSAY_API_URL', 'assay.example'],
    ['ASSAY_LOG_LEVEL', 'loud'],
  ]
  for (const [name, value] of wrong) assert.match(refusal({ [name]: value }), new RegExp(`^${name} `), `${name}=${value}`)
})

test('settings that move money are refused without live mode', () => {
  for (const name of ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE'] as const) {
    assert.match(refusal({ [name]: LIVE[name] }), new RegExp(`^${name} .*ASSAY_MODE=live`))
  }
  assert.match(refusal({ ASSAY_FACILITATOR_URLS: 'https://f.example' }), /^ASSAY_FACILITATOR_URLS .*ASSAY_MODE=live/)
})

test('live without what it needs is refused by name', () => {
  for (const name of ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE'] as const) {
    assert.match(refusal({ ...LIVE, [name]: '' }), new RegExp(name))
  }
  assert.match(refusal({ ...LIVE, ASSAY_FACILITATOR_URLS: 'https://f.example' }), /not both/)
})

test('a PostgreSQL store needs the key and the secret that instances share', () => {
  const store = 'postgres://assay@db/assay'
  assert.match(refusal({ ASSAY_STORE: store }), /^ASSAY_RECEIPT_KEY_FILE /)
  assert.match(refusal({ ASSAY_STORE: store, ASSAY_RECEIPT_KEY_FILE: '/k' }), /^ASSAY_SECRET_FILE /)
  assert.equal(settings({ ASSAY_STORE: store, ASSAY_RECEIPT_KEY_FILE: '/k', ASSAY_SECRET_FILE: '/s' }).ASSAY_STORE, store)
})

test('every setting says what it means', () => {
  for (const [name, { meaning }] of Object.entries(SETTINGS)) assert.match(meaning, /\.$/, name)
})
