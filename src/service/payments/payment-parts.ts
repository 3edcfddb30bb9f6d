import type { Payment, PaymentKey, PaymentStore } from '../../ports/payments.ts'
import type { Authorization } from '../../pure/payments/eip3009.ts'
import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { InFlight } from './in-flight.ts'
import type { OnChainCheck } from './on-chain.ts'
import type { AnyPayment, ChannelPayment } from './payment-header.ts'
import type { PaymentRefusal } from './payment-refusals.ts'
import type { PayerBalances, PayerStatus } from './reserved-balances.ts'
import type { ResendParts, ResendSecrets } from './resends.ts'
import type { CreditSettlement, FaultHook, PaidSettlement, Pending, Settler } from './settlement.ts'
import type { AcceptableTerms } from './terms.ts'
import type { UsedAuthorizations } from './used-authorizations.ts'

/** Takes payments: binds them to a request, settles them and replays stored answers. The store, not this process, guarantees each promise. */
export interface PaymentService {
  /** Returns the result of the same payment sent before; null when it may be admitted. */
  replay(request: BoundRequest, payment: AnyPayment): Promise<PaymentResult | null>
  /** Verifies the payment, cheapest checks first, then claims it. */
  admit(request: BoundRequest, payment: AnyPayment, acceptable: AcceptableTerms): Promise<AdmittedPayment>
  /** Releases an unsent claim of a process that has ended. A claim of this process stays. */
  releaseAbandoned(payment: AnyPayment): Promise<void>
  /** Returns the answer token of a payment, for parts that hold the payer's own request. */
  tokenOf(payment: AnyPayment): string
  /** Returns the result of the payment that an answer token names. */
  fetch(token: string): Promise<PaymentResult | null>
  find(key: PaymentKey): Promise<Payment | null>
  /** Says whether the chain has the authorization as used or cancelled; null where it cannot be read now. */
  isUsed(key: PaymentKey): Promise<boolean | null>
  /** Returns true when the signature recovers to the payer; never for a contract wallet. */
  isSigned(payment: AnyPayment): boolean
}

/** Takes the vouchers of payment channels (scheme batch-settlement). A voucher is claimed by no row before it is charged. */
export interface ChannelService {
  replay(request: BoundRequest, payment: ChannelPayment): Promise<PaymentResult | null>
  admit(request: BoundRequest, payment: ChannelPayment, acceptable: AcceptableTerms): Promise<AdmittedPayment>
  /** Key of the payment row that the charge of the voucher writes. */
  keyOf(payment: ChannelPayment): PaymentKey
  isSigned(payment: ChannelPayment): boolean
}

/** Result of a payment for its payer. `text` is the whole body of the answer. */
export type PaymentResult =
  | { kind: 'paid'; text: string; settlement: PaidSettlement | CreditSettlement }
  | { kind: 'pending'; pending: Pending }
  | PaymentRefusal

export type AdmittedPayment = { kind: 'claimed'; claim: Claim } | PaymentResult

/** The request that a payment is bound to. */
export interface BoundRequest {
  tool: string
  price_class: string
  input_hash: string
  /** Client under which resends with another input are counted. */
  client: string
  address: string
  secrets: ResendSecrets
}

/** A payment that this process has bound to one request. The tool may run; nothing is sent before `settle`. */
export interface Claim extends PaymentKey {
  /** Price in minor units of USDC; what is paid, but for another token. */
  readonly amount_minor: bigint
  /** Token other than USDC, and its amount. */
  readonly token?: { asset: string; amount_minor: bigint }
  /** Stores the answer, settles, and returns the answer with its settlement. */
  settle(answer: SplitAnswer): Promise<PaymentResult>
  /** Releases the payment before anything was sent. */
  release(reason: string): Promise<void>
}

/** Text of an answer before and after the place of its settlement, which is known last. */
export interface SplitAnswer {
  head: string
  tail: string
}

/** Parts that turn a payment row into a result. */
export interface ResultParts extends ResendParts {
  store: PaymentStore
  inFlightClaims: InFlight<PaymentKey, Payment>
  /** Network of the deployment, on which payments without an asset are. */
  chain_id: number
  /** Token that these parts take, as in the row of a payment. */
  asset: string | null
  digest(authorization: Authorization): Uint8Array
  crypto: Pick<ReceiptCrypto, 'recover' | 'keccak256Hex'>
}

/** Parts that settle a claim. */
export interface ClaimParts extends ResultParts {
  settler: Settler
  payerStatus: PayerStatus
  /** Reports an unexpected error that does not prevent an answer. */
  onFault(error: unknown): void
  reach: FaultHook
}

export interface PaymentServiceParts extends ClaimParts {
  onChain: OnChainCheck
  uses: UsedAuthorizations
  payerBalances: PayerBalances
  /** Absent where the scheme batch-settlement is not offered. */
  channels?: ChannelService | null
}

/** Purpose that a payment is bound to: a call or an invoice. */
export interface PaymentPurpose {
  purpose: Payment['purpose']
  subject: string
  /** Null where the subject alone identifies the request. */
  input_hash: string | null
  /** Counts a resend for another purpose; false when there were too many. */
  countMismatch(key: PaymentKey): Promise<boolean>
}
