/**
 * The contract that settles many payments of one token in one transaction, and its address. The address follows from its code, so it is
 * the same on every chain that has the deterministic deployer. Source: contracts/BatchSettler.sol.
 */
import artifact from '../../../data/contracts/batch-settler.json' with { type: 'json' }
import { deploymentOf, type Deployment } from './deployment.ts'

/** Payments of one transaction at most; the contract refuses more. */
export const BATCH_ITEMS_MAX = 50
/** Gas that one payment may burn inside a batch, and that must be left for it to begin. */
export const BATCH_ITEM_GAS = 120_000n

const TRANSACTION_GAS = 40_000n
/** Maximum gas of a payment: its cap, the reserve that the cap needs (64/63), its calldata and its event. */
const ITEM_GAS_AT_WORST = 130_000n

/**
 * Gas to send with a batch so that every payment is tried, even if the others burn all of theirs. A gas estimate is too low: a batch
 * that tries no payment succeeds too, with the least gas.
 */
export function batchGas(items: number): bigint {
  return TRANSACTION_GAS + BigInt(items) * ITEM_GAS_AT_WORST
}

export const BATCH_SETTLER: Deployment = deploymentOf(artifact.creation_code)
