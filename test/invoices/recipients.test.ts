/** Addresses that no payment may go to, as merchant, referrer and pay-to address. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { DEPOSIT_FACTORY } from '../../src/pure/contracts/deployment.ts'
import { unpayableAddress, unpayableText } from '../../src/pure/contracts/unpayable.ts'
import { readSettings } from '../../src/service/read-settings.ts'
import { newMerchant, send } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

const number = (value: number) => `0x${value.toString(16).padStart(40, '0')}`

// Addresses of Circle, x402 (specs/schemes), Permit2 and the OP Stack, and of this service's own deployments.
const UNPAYABLE: [string, string, RegExp][] = [
  [number(0), 'zero', /the zero address/],
  ['0x000000000000000000000000000000000000dEaD', 'burn', /a burn address, which has no known key/],
  ['0xdead000000000000000042069420694206942069', 'burn', /burn address/],
  [number(1), 'reserved', /number 0x1 of .* precompiles/],
  [number(0x11), 'reserved', /0x11/],
  [number(0xff), 'reserved', /0xff/],
  [number(0x100), 'reserved', /0x100/],
  ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'token', /the USDC contract on Base/],
  ['0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', 'token', /the EURC contract on Base/],
  ['0x4200000000000000000000000000000000000006', 'token', /the WETH contract on Base/],
  [DEPOSIT_FACTORY.address, 'contract', /the factory of deposit addresses/],
  ['0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003', 'contract', /settlement contract of payment channels/],
  ['0x4020806089470a89826cB9fB1f4059150b550004', 'contract', /ERC-3009 deposit collector/],
  ['0x4020425FAf3B746C082C2f942b4E5159887B0005', 'contract', /Permit2 deposit collector/],
  ['0x4e59b44847b379578588920cA78FbF26c0B4956C', 'contract', /deployment proxy/],
  ['0x000000000022D473030F116dDEE9F6B43aC78BA3', 'contract', /Permit2/],
  ['0x4200000000000000000000000000000000000010', 'contract', /system contract .* OP Stack/],
]

test('burn addresses, precompiles, system contracts, tokens and contracts of payments have their true names', () => {
  for (const [address, kind, name] of UNPAYABLE) {
    const found = unpayableAddress(address)
    assert.equal(found?.kind, kind, address)
    assert.match(found?.name ?? '', name, address)
  }
  const found = unpayableAddress(number(2)) ?? assert.fail()
  assert.match(
    unpayableText('merchant', number(2), found),
    /^merchant is 0x0{39}2, number 0x2 .* Expected the address of an account or a wallet/,
  )
  for (let round = 0; round < 100; round++) assert.equal(unpayableAddress(privateKeyToAddress(generatePrivateKey())), null)
  assert.equal(unpayableAddress(number(0x10000)), null)
})

const create = (body: Record<string, unknown>) => send(`${world.url}/api/invoice/create`, { amountUsdc: '5', ...body })

test('an invoice names its merchant and its referrer by an account or a wallet', async () => {
  for (const [address, , name] of [...UNPAYABLE, [world.chain.token, 'token', /the USDC contract on Base Sepolia/] as const]) {
    for (const field of ['merchant', 'referrer']) {
      const { status, body } = await create({ merchant: newMerchant().address, [field]: address })
      const [fault] = body['errors'] as { pointer: string; message: string }[]
      assert.deepEqual([status, fault?.pointer], [400, `/${field}`], address)
      assert.match(fault?.message ?? '', name, address)
      assert.ok(fault?.message.includes(address.toLowerCase()), fault?.message)
    }
  }
})

test('the deposit address of an invoice is no merchant', async () => {
  const { body: first } = await create({ merchant: newMerchant().address })
  const { address } = first['deposit'] as { address: string }
  const { status, body } = await create({ merchant: address })
  const [fault] = body['errors'] as { pointer: string; code: string }[]
  assert.deepEqual([status, fault?.pointer, fault?.code], [400, '/merchant', 'merchant_is_deposit'])
})

test('a deployment is not started with a pay-to address that is none', () => {
  for (const [address, , name] of UNPAYABLE) {
    const read = readSettings({ ASSAY_MODE: 'live', ASSAY_PAY_TO: address })
    assert.match(read.ok ? '' : read.message, name, address)
    assert.match(read.ok ? '' : read.message, /^ASSAY_PAY_TO must not be /)
  }
})
