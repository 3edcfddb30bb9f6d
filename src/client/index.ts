/**
 * Client library of the service: calls tools, pays for them within a cap (x402, version 2) and verifies every receipt. It depends only on
 * keccak-256 and secp256k1 of noble and runs in Node 20, Bun and browsers.
 */
export { createClient, type AssayClient } from './client.ts'
export { AssayError, type Charged, type LocalErrorCode } from './answer.ts'
export { decodeReceipt, encodeReceipt, type CompactCode, type CompactProblem } from '../pure/receipts/compact.ts'
export type { Allowance, Answer, AnswerBody, BriefAnswer, BriefBody, Settlement } from './answer.ts'
export type { Spending } from './payment.ts'
export type { Clock } from './options.ts'
export type { DryRun } from './exchange.ts'
export type { CallOptions, ClientOptions, Detail, Fetch, Hex, Signer, SpendCap, TransferTypedData } from './options.ts'
export type { Payment } from './answer.ts'
export type { Price } from './payment.ts'
export {
  verifyChain,
  type ChainEntry,
  type ChainFaultCode,
  type ChainVerdict,
  type ExportedChain,
  type ReceiptChain,
} from './verification.ts'
export type { ToolId, ToolInputs, ToolOutputs } from './tools.ts'
export type { Check, Verification } from './answer.ts'
