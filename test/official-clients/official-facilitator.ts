import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { rpcRequest } from '../../src/adapters/chain/sandbox-process.ts'
import { restCall } from '../support/app.ts'
import { base64 } from '../support/paying.ts'
import { chainOf, type Shop } from './shop.ts'

/** The same address on every chain (github.com/mds1/multicall). */
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** The official facilitator for both generations, with a gas wallet of its own, on the chain of a sandbox. */
export async function officialFacilitator(shop: Shop): Promise<x402Facilitator> {
  const account = privateKeyToAccount(generatePrivateKey())
  const rpc = rpcRequest(shop.rpc_url)
  await rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000'])
  // Its diagnosis goes through this contract and says less where it is missing.
  await rpc('anvil_setCode', [MULTICALL3, await rpc('eth_call', [{ data: await multicallCreation() }, 'latest'])])
  const reader = chainOf(shop)
  const wallet = createWalletClient({ account, chain: shop.network.chain, transport: http(shop.rpc_url) })
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (call) => reader.readContract(call),
    verifyTypedData: (call) => reader.verifyTypedData(call as Parameters<typeof reader.verifyTypedData>[0]),
    writeContract: (call) => wallet.writeContract(call),
    sendTransaction: (call) => wallet.sendTransaction(call),
    waitForTransactionReceipt: (call) => reader.waitForTransactionReceipt(call),
    getCode: (call) => reader.getCode(call),
  })
  return registerExactEvmScheme(new x402Facilitator(), { signer, networks: shop.network.v2 })
}

/** viem carries the code but does not export it. */
async function multicallCreation(): Promise<string> {
  const source = await readFile('test/official-clients/node_modules/viem/_esm/constants/contracts.js', 'utf8')
  const found = /multicall3Bytecode = '(0x[0-9a-f]+)'/.exec(source)?.[1]
  if (found === undefined) throw new Error('viem has moved the code of Multicall3')
  return found
}

export type Generation = 1 | 2

/** What is asked of iban-check here. */
export const INPUT = { iban: 'GB82 WEST 1234 5698 7654 32' }

/** Our terms as a client of this generation reads them, their one entry, and the header of version 2. */
export async function termsFor(shop: Shop, generation: Generation) {
  const { headers, body } = await restCall(shop.url, 'iban-check', INPUT)
  const header = headers.get('payment-required') ?? ''
  const required: unknown = generation === 1 ? body : JSON.parse(Buffer.from(header, 'base64').toString())
  const terms = required as PaymentRequired
  const [entry] = terms.accepts
  assert.ok(entry !== undefined)
  return { terms, entry, header }
}

/** The call with this payment, in the header of its generation. */
export function pay(shop: Shop, payment: unknown, generation: Generation) {
  return restCall(shop.url, 'iban-check', INPUT, { [generation === 1 ? 'x-payment' : 'payment-signature']: base64(payment) })
}

/** The facilitator's word for what is wrong with a payment, or "valid". */
export async function judged(facilitator: x402Facilitator, payment: PaymentPayload, entry: PaymentRequirements): Promise<string> {
  const found = await facilitator.verify(payment, entry)
  return found.isValid ? 'valid' : String(found.invalidReason)
}
