/**
 * The client of the service: calls tools, pays for them within a cap (x402, version 2), and verifies every receipt. It stands on noble's
 * keccak-256 and secp256k1 alone and runs in Node 20, Bun and browsers.
 */
export { createClient, type AssayClient } from './client.ts'
export { AssayError, type Charged, type LocalErrorCode } from './error.ts'
export type { Allowance, Answer, AnswerBody, Settlement } from './answer.ts'
export type { Spending } from './budget.ts'
export type { Clock } from './clock.ts'
export type { DryRun } from './dry-run.ts'
export type { CallOptions, ClientOptions, Fetch, Hex, Signer, SpendCap, TransferTypedData } from './options.ts'
export type { Payment } from './payment.ts'
export type { Price } from './price.ts'
export {
  verifyChain,
  type ChainEntry,
  type ChainFaultCode,
  type ChainVerdict,
  type ExportedChain,
  type ReceiptChain,
} from './receipt-chain.ts'
export type { ToolId, ToolInputs, ToolOutputs } from './tools.ts'
export type { Check, Verification } from './proof.ts'
