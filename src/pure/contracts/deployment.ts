/**
 * Contracts whose address follows from their code (EIP-1014), so that it is the same on every chain that has the deterministic deployer.
 */
import settler from '../../../data/contracts/batch-settler.json' with { type: 'json' }
import factory from '../../../data/contracts/deposit-factory.json' with { type: 'json' }
import { bytes32Word, addressWord, uintWord } from '../payments/token-calls.ts'
import { fromHex, nobleCrypto, toHex } from '../receipts/crypto.ts'

/** The proxy that turns a salt and creation code into a contract by CREATE2 (Arachnid's deterministic-deployment-proxy). */
export const DETERMINISTIC_DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const SALT = `0x${'00'.repeat(32)}`

export interface Deployment {
  /** 0x-prefixed lower-case address. */
  address: string
  creation_code: string
  /** Sent to DETERMINISTIC_DEPLOYER without value, this places the contract; sent again, it fails and changes nothing. */
  deploy_calldata: string
}

function deploymentOf(creation_code: string): Deployment {
  const address = create2Address(DETERMINISTIC_DEPLOYER, SALT, creation_code)
  return { address, creation_code, deploy_calldata: SALT + creation_code.slice(2) }
}

/** EIP-1014: the last 20 bytes of keccak(0xff ‖ deployer ‖ salt ‖ keccak(creation code)). All are 0x-prefixed lower-case hex. */
function create2Address(deployer: string, salt: string, creation_code: string): string {
  return lastBytes(`0xff${deployer.slice(2)}${salt.slice(2)}${keccakOfHex(creation_code).slice(2)}`)
}

/** Address of the first contract that a contract creates with CREATE: the last 20 bytes of keccak(rlp([creator, 1])), EIP-161. */
function firstCreated(creator: string): string {
  return lastBytes(`0xd694${creator.slice(2)}01`)
}

function lastBytes(hex: string): string {
  return `0x${keccakOfHex(hex).slice(26)}`
}

function keccakOfHex(hex: string): string {
  const bytes = fromHex(hex)
  if (bytes === null) throw new RangeError('not hexadecimal')
  return toHex(nobleCrypto.keccak256(bytes))
}

/**
 * The contract that settles many payments of one token in one transaction, and its address. The address follows from its code, so it is
 * the same on every chain that has the deterministic deployer. Source: contracts/BatchSettler.sol.
 */

/** Payments of one transaction at most; the contract refuses more. */
export const BATCH_ITEMS_MAX = 50
/** Gas that one payment may burn inside a batch, and that must be left for it to begin. */
export const BATCH_ITEM_GAS = 120_000n

const BATCH_BASE_GAS = 40_000n
/** Maximum gas of a payment: its cap, the reserve that the cap needs (64/63), its calldata and its event. */
const ITEM_GAS_AT_WORST = 130_000n

/**
 * Gas to send with a batch so that every payment is tried, even if the others burn all of theirs. A gas estimate is too low: a batch
 * that tries no payment succeeds too, with the least gas.
 */
export function batchGas(items: number): bigint {
  return BATCH_BASE_GAS + BigInt(items) * ITEM_GAS_AT_WORST
}

export const BATCH_SETTLER: Deployment = deploymentOf(settler.creation_code)

/**
 * Deposit addresses of invoices, and the contract that places and sweeps them. Both addresses follow from code alone, so they are the same on
 * every chain. Source: contracts/DepositFactory.sol.
 */

export const DEPOSIT_FACTORY: Deployment = deploymentOf(factory.creation_code)

/** The contract that every deposit address delegates to; the constructor of the factory creates it. */
export const DEPOSIT_IMPLEMENTATION = firstCreated(DEPOSIT_FACTORY.address)

/** An invoice as the factory knows it; the merchant is 0x-prefixed lower-case hex. */
interface DepositOwner {
  invoice_id: string
  merchant: string
}

const SWEEP_BASE_GAS = 40_000n
/** Maximum gas of a deposit: its deployment, the transfer to a merchant without a balance, and the proxy and blacklist of the real token. */
const DEPOSIT_GAS_AT_WORST = 200_000n

/** Gas to send with a sweep. A gas estimate is too low: a failed deposit does not fail the transaction. */
export function sweepGas(items: number): bigint {
  return SWEEP_BASE_GAS + BigInt(items) * DEPOSIT_GAS_AT_WORST
}

/** Lower-case address. Creation code of a minimal proxy (EIP-1167) whose code ends with the merchant, as OpenZeppelin's Clones make it. */
export function depositAddress({ invoice_id, merchant }: DepositOwner): string {
  const size = '0041'
  const code = `0x61${size}3d81600a3d39f3363d3d373d3d3d363d73${DEPOSIT_IMPLEMENTATION.slice(2)}5af43d82803e903d91602b57fd5bf3${merchant.slice(2)}`
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
