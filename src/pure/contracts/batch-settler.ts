/**
 * The contract that settles many payments of one token in one transaction, and where it stands: its address follows from its code, so
 * it is the same on every chain that has the deterministic deployer. Source: contracts/BatchSettler.sol.
 */
import artifact from '../../../data/contracts/batch-settler.json' with { type: 'json' }
import { fromHex, nobleCrypto, toHex } from '../receipts/crypto.ts'

/** The proxy that turns a salt and creation code into a contract by CREATE2 (Arachnid's deterministic-deployment-proxy). */
export const DETERMINISTIC_DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const SALT = '00'.repeat(32)

/** Payments of one transaction at most; the contract refuses more. */
export const BATCH_ITEMS_MAX = 50
/** Gas that one payment may burn inside a batch, and that must be left for it to begin. */
export const BATCH_ITEM_GAS = 120_000n

const TRANSACTION_GAS = 40_000n
/** What a payment can cost at worst: its cap, what the cap needs to be granted (64/63), its calldata and its event. */
const ITEM_GAS_AT_WORST = 130_000n

/**
 * Gas to send with a batch so that every payment is tried whatever the others burn. Estimating says less: a batch that tries nothing
 * succeeds too, and with the least gas.
 */
export function batchGas(items: number): bigint {
  return TRANSACTION_GAS + BigInt(items) * ITEM_GAS_AT_WORST
}

export interface Deployment {
  /** 0x-prefixed lower-case address. */
  address: string
  creation_code: string
  /** Sent to DETERMINISTIC_DEPLOYER without value, this places the contract; sent again, it fails and changes nothing. */
  deploy_calldata: string
}

/** EIP-1014: the last 20 bytes of keccak(0xff ‖ deployer ‖ salt ‖ keccak(creation code)). */
function deploymentOf(creation_code: string): Deployment {
  const code_hash = hashHex(creation_code)
  const address = `0x${hashHex(`0xff${DETERMINISTIC_DEPLOYER.slice(2)}${SALT}${code_hash.slice(2)}`).slice(26)}`
  return { address, creation_code, deploy_calldata: `0x${SALT}${creation_code.slice(2)}` }
}

function hashHex(hex: string): string {
  const bytes = fromHex(hex)
  if (bytes === null) throw new Error('The creation code is not hexadecimal.')
  return toHex(nobleCrypto.keccak256(bytes))
}

export const BATCH_SETTLER: Deployment = deploymentOf(artifact.creation_code)
