/** Networks that are offered, by the gas of each, without a chain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { gasNotCompared } from '../../src/service/payments/gas-watch.ts'
import { type NetworkDesk, watchNetworks } from '../../src/service/payments/network-desks.ts'

const HOME = 'eip155:8453'
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }

test('the reason for empty terms is given from the moment in which the terms are empty', () => {
  const gas = gasNotCompared(8453, HOME, 'Gas costs more than a call.')
  let view = gas.now()
  const token = { name: 'USD Coin', version: '2', address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' }
  const terms = { network: HOME, chain_id: 8453, token, pay_to: `0x${'2'.repeat(40)}` }
  const desk = { terms, asset: null, settler: { method: 'self' }, gas: { ...gas, now: () => view } } as unknown as NetworkDesk
  const watch = watchNetworks({ desks: [desk], crypto: nobleCrypto, log })
  assert.equal(watch.noneNow?.(), null)
  view = { ...view, offered: false }
  assert.equal(watch.noneNow?.(), 'Gas costs more than a call.')
  assert.equal(watch.now().primary, false)
})
