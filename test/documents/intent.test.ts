/** Templates that viem signs and the token of the local chain executes: exactly the amount, and once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { parseSignature, type Hex, type PrivateKeyAccount } from 'viem'
import intent from '../../src/tools/messages/iso20022-to-x402-intent.ts'
import { clientsOf, revertOf, view, type Clients } from '../contracts-solidity/clients.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { runs, SEED } from '../support/counts.ts'

const DEBTOR = 'DE89370400440532013000'
const CREDITOR = 'GB82WEST12345698765432'
const SHOP = '0x2000000000000000000000000000000000000002'
const OTHER_SHOP = '0x3000000000000000000000000000000000000003'

interface Template {
  domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
  types: { TransferWithAuthorization: { name: string; type: string }[] }
  message: { from: Hex; to: Hex; value: string; validAfter: string; validBefore: string; nonce: Hex }
}

let anvil: Anvil
let clients: Clients
let payer: PrivateKeyAccount

before(async () => {
  anvil = await startAnvil({ accounts: 1, chain_id: 84_532 })
  clients = clientsOf(anvil)
  const [first] = anvil.accounts
  assert.ok(first !== undefined)
  payer = first
  await anvil.mint(payer.address, 1_000_000_000n)
})
after(() => anvil.stop())

async function templateOf(change: Record<string, unknown> = {}, amount: Record<string, unknown> = {}): Promise<Template> {
  const input = intent.input.parse({
    instruction: {
      end_to_end_id: 'INV-1',
      instructed_amount: { currency: 'USD', amount_str: '125.50', ...amount },
      debtor: { iban: DEBTOR },
      creditor: { iban: CREDITOR },
    },
    counterparty_wallet_directory: { [DEBTOR]: payer.address, [CREDITOR]: SHOP },
    chain_id: 84_532,
    valid_before: 4_000_000_000,
    ...change,
  })
  const { valid, reason, typed_data } = await intent.execute(input, null)
  assert.equal(valid, true, String(reason))
  return typed_data as Template
}

async function signedArguments({ domain, types, message }: Template): Promise<readonly unknown[]> {
  const { from, to, value, validAfter, validBefore, nonce } = message
  const fields = { from, to, value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce }
  const signature = await payer.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message: fields })
  const { r, s, yParity } = parseSignature(signature)
  return [from, to, fields.value, fields.validAfter, fields.validBefore, nonce, 27 + yParity, r, s]
}

test('what viem signs over a template the token takes, and only as it stands', async () => {
  const args = await signedArguments(await templateOf())
  assert.equal(await revertOf(clients, anvil.token, 'transferWithAuthorization', args), null)
  const more = args.with(2, 125_500_001n)
  assert.notEqual(await revertOf(clients, anvil.token, 'transferWithAuthorization', more), null)
  assert.equal(await view(clients, anvil.token, 'authorizationState', [payer.address, args[5]]), false)
})

test('the same instruction makes the same authorization, another one another', async () => {
  const { message } = await templateOf()
  assert.deepEqual((await templateOf({ valid_before: 4_100_000_000 })).message.nonce, message.nonce)
  const others = [
    await templateOf({}, { amount_str: '125.51' }),
    await templateOf({ counterparty_wallet_directory: { [DEBTOR]: payer.address, [CREDITOR]: OTHER_SHOP } }),
  ]
  for (const other of others) assert.notEqual(other.message.nonce, message.nonce)
})

test('the token units are the amount, for every amount of two places', async () => {
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 18n - 1n })
  const property = fc.asyncProperty(amounts, async (minor) => {
    const digits = minor.toString().padStart(3, '0')
    const amount_str = `${digits.slice(0, -2)}.${digits.slice(-2)}`
    const { message } = await templateOf({}, { amount_str, amount_minor: String(minor) })
    assert.equal(BigInt(message.value), minor * 10_000n)
  })
  await fc.assert(property, { numRuns: runs(100, 2_000), seed: SEED })
})
