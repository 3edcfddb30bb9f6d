/**
 * Deposit addresses of invoices, and the contract that places and sweeps them. Both addresses follow from code alone, so they are the same on
 * every chain. Source: contracts/DepositFactory.sol.
 */
import artifact from '../../../data/contracts/deposit-factory.json' with { type: 'json' }
import { addressWord, bytes32Word, uintWord } from '../payments/token-calls.ts'
import { nobleCrypto } from '../receipts/crypto.ts'
import { create2Address, deploymentOf, firstCreated, type Deployment } from './deployment.ts'

export const DEPOSIT_FACTORY: Deployment = deploymentOf(artifact.creation_code)

/** The contract that every deposit address delegates to; the constructor of the factory creates it. */
const IMPLEMENTATION = firstCreated(DEPOSIT_FACTORY.address)

/** An invoice as the factory knows it; the merchant is 0x-prefixed lower-case hex. */
export interface DepositOwner {
  invoice_id: string
  merchant: string
}

const TRANSACTION_GAS = 40_000n
/** Maximum gas of a deposit: its deployment, the transfer to a merchant without a balance, and the proxy and blacklist of the real token. */
const ITEM_GAS_AT_WORST = 200_000n

/** Gas to send with a sweep. A gas estimate is too low: a failed deposit does not fail the transaction. */
export function sweepGas(items: number): bigint {
  return TRANSACTION_GAS + BigInt(items) * ITEM_GAS_AT_WORST
}

/** Lower-case address. Creation code of a minimal proxy (EIP-1167) whose code ends with the merchant, as OpenZeppelin's Clones make it. */
export function depositAddress({ invoice_id, merchant }: DepositOwner): string {
  const size = '0041'
  const code = `0x61${size}3d81600a3d39f3363d3d373d3d3d363d73${IMPLEMENTATION.slice(2)}5af43d82803e903d91602b57fd5bf3${merchant.slice(2)}`
  return create2Address(DEPOSIT_FACTORY.address, depositSalt(invoice_id), code)
}

function depositSalt(invoice_id: string): string {
  return nobleCrypto.keccak256Hex(invoice_id)
}

/** sweep(address,(bytes32,address)[]) */
const SWEEP = '0xb72c7f8d'

/** Calldata for the factory: deploys each deposit address without code, and sends its whole balance of the token to its merchant. */
export function sweepCall(token: string, owners: readonly DepositOwner[]): string {
  const items = owners.map(({ invoice_id, merchant }) => bytes32Word(depositSalt(invoice_id)) + addressWord(merchant)).join('')
  return SWEEP + addressWord(token) + uintWord(64n) + uintWord(BigInt(owners.length)) + items
}
