/** The batch contract (contracts/BatchSettler.sol): where it is, how it gets there, what is sent to it and what its events say. */
import type { TransactionReceipt } from '../../ports/chain.ts'
import type { Payment } from '../../ports/payments.ts'
import { addressWord, bytes32Word, decodeUint, uintWord } from '../../pure/payments/abi.ts'
import { batchGas, DETERMINISTIC_DEPLOYER, type Deployment } from '../../pure/contracts/batch-settler.ts'
import type { Authorization } from '../../pure/payments/authorization.ts'
import { normaliseSignature } from '../../pure/payments/eip3009.ts'
import { transferBytesCall, transferCall } from '../../pure/payments/token-calls.ts'

/** settle(address,(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)[]) */
const SETTLE = '0xab347961'
/** keccak-256 of Failed(uint256). */
const FAILED_TOPIC = '0xc77ea6414b21b2cf2170f259ee35ec16a7cbf16eeace77cc3ae8c6d52556881a'

/**
 * Fixed gas limits, so that nothing depends on a node's estimate. Measured on the test token: 83,200 for a first payment to a recipient; the
 * real one adds a proxy and blacklist reads. A contract wallet's own check of a signature comes on top.
 */
const GAS = { single: 150_000n, contract_payer: 350_000n, deploy: 1_500_000n }
const SELF_TRANSFER_GAS = 21_000n

export type BatchContract = Pick<Deployment, 'address' | 'deploy_calldata'>

/** What a gas wallet sends. */
export interface Call {
  kind: 'single' | 'batch' | 'deploy' | 'cancel'
  to: string
  data: string
  gas: bigint
}

export function deployCall(contract: BatchContract): Call {
  return { kind: 'deploy', to: DETERMINISTIC_DEPLOYER, data: contract.deploy_calldata, gas: GAS.deploy }
}

/** A transaction that moves nothing, to use up an account nonce. */
export function selfTransfer(wallet: string): Call {
  return { kind: 'cancel', to: wallet, data: '0x', gas: SELF_TRANSFER_GAS }
}

/** One payment in a transaction of its own: the `bytes` form when only the token can judge the signature. */
export function singleCall(token: string, payment: Payment): Call {
  const signature = payment.contract_payer ? null : normaliseSignature(payment.signature)
  const authorization = authorizationOf(payment)
  if (signature === null) {
    return { kind: 'single', to: token, data: transferBytesCall(authorization, payment.signature), gas: GAS.contract_payer }
  }
  return { kind: 'single', to: token, data: transferCall(authorization, signature), gas: GAS.single }
}

/** At most BATCH_ITEMS_MAX payments, each of a payer without code. */
export function batchCall(contract: BatchContract, token: string, payments: readonly Payment[]): Call {
  const items = payments.map((payment) => itemWords(payment)).join('')
  const data = SETTLE + addressWord(token) + uintWord(64n) + uintWord(BigInt(payments.length)) + items
  return { kind: 'batch', to: contract.address, data, gas: batchGas(payments.length) }
}

/** Whether a payment can stand in a batch at all. */
export function batchable(payment: Payment): boolean {
  return !payment.contract_payer && normaliseSignature(payment.signature) !== null
}

/**
 * Items that the contract tried and the token refused. An item that neither failed nor left a transfer was not begun: too little gas was
 * left, or there was no contract.
 */
export function failedItems(receipt: TransactionReceipt, contract: string | null): Set<number> {
  const failed = receipt.logs.filter(({ address, topics }) => address === contract && topics.length === 1 && topics[0] === FAILED_TOPIC)
  return new Set(failed.map(({ data }) => Number(decodeUint(data) ?? -1n)))
}

function authorizationOf(payment: Payment): Authorization {
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce } = payment
  return { from: payer, to, value_minor, valid_after_s, valid_before_s, nonce }
}

/** The nine words of an item are the arguments of the call that it becomes. */
function itemWords(payment: Payment): string {
  const signature = normaliseSignature(payment.signature)
  if (signature === null) throw new RangeError('no signature of an account')
  const { payer, to, value_minor, valid_after_s, valid_before_s, nonce } = payment
  const terms = addressWord(payer) + addressWord(to) + uintWord(value_minor) + uintWord(valid_after_s) + uintWord(valid_before_s)
  return terms + bytes32Word(nonce) + uintWord(BigInt(signature.v)) + bytes32Word(signature.r) + bytes32Word(signature.s)
}
