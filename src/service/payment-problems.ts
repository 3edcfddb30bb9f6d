type Phase = 'challenge' | 'signature' | 'settlement' | 'tool' | 'network'

/** Properties shared by all problems of one code. */
export interface ProblemKind {
  status: number
  title: string
  phase: Phase
  /** The same request may succeed later. */
  retryable: boolean
  /** Party that can correct the problem. */
  fault: 'caller' | 'service' | 'source'
  description: string
}

const kindsOf =
  (fault: ProblemKind['fault']) =>
  (status: number, phase: Phase, title: string, description: string, retryable: 'retryable' | null = null): ProblemKind => {
    return { status, title, phase, retryable: retryable !== null, fault, description }
  }
export const callerFault = kindsOf('caller')
export const serviceFault = kindsOf('service')
export const sourceFault = kindsOf('source')

/** Problems of a payment before it is settled. */
export const PAYMENT_PROBLEMS = {
  PAYMENT_REQUIRED: callerFault(
    402,
    'challenge',
    'Payment required',
    "Today's free calls are used up. Pay on the terms in this answer (x402), or wait until free calls reset at 00:00 UTC.",
    'retryable',
  ),
  MALFORMED_PAYMENT: callerFault(
    402,
    'signature',
    'The payment is malformed',
    'The payment does not have the members of x402. The detail names the field. This payment was not used.',
  ),
  PAYMENT_UNDECODABLE: callerFault(
    400,
    'signature',
    'The payment cannot be decoded',
    'The payment is not Base64 of a JSON object. The detail names the header and its fault. The payment was not used; the same request without a payment returns the terms.',
  ),
  PAYMENT_IDENTIFIER_INVALID: callerFault(
    400,
    'signature',
    'The id of the payment is malformed',
    'extensions.payment-identifier.info.id must be 16 to 128 letters, digits, hyphens or underscores. The payment was not used; send it with another id, or with none.',
  ),
  PAYMENT_CONFLICT: callerFault(
    400,
    'signature',
    'Several payments in one request',
    'Send one payment, in one place. None of them was used.',
  ),
  SCHEME_UNSUPPORTED: callerFault(
    402,
    'signature',
    'Unsupported payment scheme',
    'Pay with a scheme of the terms, by an EIP-3009 authorization.',
  ),
  NETWORK_MISMATCH: callerFault(402, 'signature', 'Wrong network', 'The payment names a network that is not in the payment terms.'),
  ASSET_MISMATCH: callerFault(402, 'signature', 'Wrong token', 'The payment names a token that is not in the payment terms.'),
  DOMAIN_MISMATCH: callerFault(
    402,
    'signature',
    'Wrong signing domain',
    "The payment was signed for an EIP-712 domain that differs from the token's. The terms give its name and version.",
  ),
  RECIPIENT_MISMATCH: callerFault(
    402,
    'signature',
    'Wrong recipient',
    'The authorization pays an address that is not the recipient in the terms.',
  ),
  PRICE_MISMATCH: callerFault(
    402,
    'signature',
    'Wrong amount',
    'The authorization is for an amount that is neither the price nor a recently quoted price that is still payable.',
  ),
  EXPIRED: callerFault(
    402,
    'signature',
    'The authorization expires too soon',
    'validBefore has passed, or leaves too little time to settle.',
  ),
  NOT_YET_VALID: callerFault(402, 'signature', 'The authorization is not valid yet', 'validAfter is in the future.', 'retryable'),
  WINDOW_TOO_LONG: callerFault(402, 'signature', 'The authorization is valid for too long', 'validBefore may be at most one hour ahead.'),
  BAD_SIGNATURE: callerFault(
    402,
    'signature',
    'Wrong signature',
    'The signature does not recover to the payer, and no contract at the address of the payer accepts it.',
  ),
  ERC6492_NOT_SUPPORTED: callerFault(
    402,
    'signature',
    'The wallet is not deployed yet',
    'The signature is wrapped for a wallet without code (ERC-6492). Deploy the wallet first.',
  ),
  INSUFFICIENT_FUNDS: callerFault(
    402,
    'signature',
    'Insufficient balance',
    'The balance of the payer does not cover this payment in addition to its pending payments.',
    'retryable',
  ),
  PAYER_BLOCKED: callerFault(
    402,
    'signature',
    'The token blocks the payer',
    'The issuer of the token has put the payer on its block list.',
  ),
  SIMULATION_FAILED: callerFault(
    402,
    'signature',
    'The transfer would fail',
    'The token rejects this transfer in a simulation. Nothing was sent.',
  ),
  REPLAY: callerFault(
    402,
    'signature',
    'The authorization was used before',
    'The token has the authorization as cancelled, or as used for another transfer: it moved nothing to the recipient of the terms. Sign a new authorization.',
  ),
  NONCE_BOUND: callerFault(
    409,
    'signature',
    'The payment belongs to another request',
    'A payment is bound to the tool and input that it was first sent with. Sign a new one for another request.',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of settlement, and of payments sent before. */
export const SETTLEMENT_PROBLEMS = {
  RATE_LIMITED: callerFault(
    429,
    'network',
    'Too many attempts',
    'Failed attempts are counted. Wait for the time in Retry-After.',
    'retryable',
  ),
  PAYER_SHUT_OUT: callerFault(
    429,
    'settlement',
    'Too many failed settlements',
    'Payments of this payer, or of its client network, were accepted and then cancelled or drained by the payer, too often within a day. Delays, outages and reorganisations do not count.',
    'retryable',
  ),
  PAYMENT_PENDING: serviceFault(
    202,
    'settlement',
    'The payment is pending',
    'Do not sign again. Send the same request with the same payment, or fetch the answer from the address in Location.',
    'retryable',
  ),
  PAYMENT_ALREADY_USED: callerFault(
    409,
    'settlement',
    'The payment was already used',
    'A settled payment can be read from the chain, so resending it opens its answer only from the client network of the first request, for a day. From elsewhere send the answer token, the payment-identifier id of the first request, or a SIGN-IN-WITH-X proof of the payer. A payment-identifier id belongs to one payment: another payment under it is not used. Nothing more was charged.',
  ),
  ANSWER_EXPIRED: callerFault(
    410,
    'settlement',
    'The answer is no longer stored',
    'The payment was settled and answered; answers are stored for a day. The receipt stays valid.',
  ),
  ANSWER_NOT_FOUND: callerFault(
    404,
    'settlement',
    'No answer under this address',
    'The address is unknown, or its payment was released or refused; charged says what is known. If you paid, send the same payment again, and do not sign another.',
  ),
  SETTLEMENT_FAILED: callerFault(
    402,
    'settlement',
    'The payment failed',
    'The transfer moved nothing, and this authorization will not be tried again here. While it is valid, anyone who has seen it may still execute it: `charged` is then unknown, and valid_before states from when another may be signed.',
  ),
  SETTLEMENT_UNAVAILABLE: serviceFault(
    503,
    'settlement',
    'Settlement is unavailable',
    'Payments cannot be verified or sent at the moment. Nothing was charged; the same payment may be sent again.',
    'retryable',
  ),
  VERIFICATION_BUSY: serviceFault(
    503,
    'network',
    'Too many payments to verify',
    'The rate limit for reading the chain is reached. Nothing was charged; send the same payment again.',
    'retryable',
  ),
  ASSET_NOT_DEPLOYED: serviceFault(
    503,
    'settlement',
    'The token is not on the chain',
    'There is no contract at the address of the token, so payments are impossible here. Nothing was charged.',
  ),
  ASSET_MISCONFIGURED: serviceFault(
    503,
    'settlement',
    'The token does not match the terms',
    'The token on the chain has another name or version than the terms, so no signature can match both. Nothing was charged.',
  ),
  EIP3009_NOT_SUPPORTED: serviceFault(
    503,
    'settlement',
    'The token has no signed transfers',
    'The contract at the address of the token does not implement EIP-3009. Nothing was charged.',
  ),
  TOKEN_PAUSED: sourceFault(
    503,
    'settlement',
    'The token is paused',
    'The issuer has stopped all transfers of the token. Nothing was charged.',
    'retryable',
  ),
  RECIPIENT_BLOCKED: serviceFault(
    503,
    'settlement',
    'The token blocks the recipient',
    'The issuer has put the recipient of this deployment on its block list. Nothing was charged.',
    'retryable',
  ),
  SETTLEMENT_NOT_CONFIGURED: serviceFault(
    503,
    'settlement',
    'This deployment takes no payments',
    'The request has a payment, but this deployment has no settlement. The payment was not used.',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of payment channels (x402 scheme batch-settlement). */
export const CHANNEL_PROBLEMS = {
  CHANNEL_MISMATCH: callerFault(
    402,
    'signature',
    'The voucher is not the next one',
    'A voucher must allow exactly what the channel was charged before, plus the price. The terms carry the state of the channel; sign the next voucher from it. The last voucher is shown to the client network of the last charge, or with a secret of it.',
    'retryable',
  ),
  CHANNEL_INVALID: callerFault(
    402,
    'signature',
    'The payment channel does not fit',
    'The channel differs from the terms, is not on the chain, or its balance does not cover the voucher. invalid_reason names which.',
  ),
  CHANNEL_PRESENCE: callerFault(
    402,
    'signature',
    'The refund must come from the payer',
    'A claimed voucher can be read from the chain, so a refund is given only to the client network of the last charge of the channel, or with the answer token or the payment-identifier id of that charge, or with a SIGN-IN-WITH-X proof of the payer. Nothing was moved.',
    'retryable',
  ),
  CHANNEL_BUSY: callerFault(
    402,
    'signature',
    'The payment channel is busy',
    'Too many calls wait on this channel, or a refund of it is on its way. Nothing was charged; send the same payment again.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of prepaid credits and of buying them. */
export const CREDIT_PROBLEMS = {
  CREDIT_UNKNOWN: callerFault(403, 'signature', 'No such credit', 'The code in X-CREDIT is mistyped or unknown here. Nothing was charged.'),
  CREDIT_KEY_INVALID: callerFault(
    400,
    'signature',
    'The credit needs an Idempotency-Key',
    'Send X-CREDIT together with an Idempotency-Key of 1 to 128 printable characters without spaces, a new one for each call. Nothing was charged.',
  ),
  CREDIT_KEY_BOUND: callerFault(
    409,
    'signature',
    'The key belongs to another request',
    'An Idempotency-Key is bound to the tool and input that it was first sent with. Use another key for another request.',
  ),
  CREDIT_IN_USE: callerFault(
    409,
    'settlement',
    'The same call is running',
    'A call with this credit and key is still running. Send the same request again; it is debited once.',
    'retryable',
  ),
  CREDIT_INSUFFICIENT: callerFault(
    402,
    'challenge',
    'Insufficient credit',
    'The credit, less what running calls have reserved, does not cover this call. Nothing was charged.',
    'retryable',
  ),
  CREDIT_NOT_DUE: callerFault(
    409,
    'settlement',
    'The credit is not paid yet',
    'The invoice that buys the credit is not settled. Ask again once it is.',
    'retryable',
  ),
  CREDIT_RELEASE_INVALID: callerFault(
    403,
    'signature',
    'Not signed by the payer',
    'A credit bought by an invoice is given to the account that paid it, for its signature over the text in the detail.',
  ),
  CREDIT_RATE_LIMITED: callerFault(
    429,
    'network',
    'Too many requests about credits',
    'Wrong codes, purchases and balance requests are limited per client and minute, and unpaid reads of outside sources for all clients together; the detail says whose limit is reached. Wait for the time in Retry-After.',
    'retryable',
  ),
  CARDS_UNAVAILABLE: sourceFault(
    503,
    'network',
    'Card payments are unavailable',
    'Stripe did not open a checkout. Nothing was charged.',
    'retryable',
  ),
  CARD_NOTICE_INVALID: callerFault(
    400,
    'signature',
    'The notice of Stripe is refused',
    'Body, signature and time do not form a notice of Stripe to this deployment; the error names the part. Nothing was changed.',
  ),
} as const satisfies Record<string, ProblemKind>

/** Problems of invoices. */
export const INVOICE_PROBLEMS = {
  INVOICE_NOT_FOUND: callerFault(404, 'tool', 'No such invoice', 'No invoice has this id. Nothing was charged.'),
  INVOICE_GONE: callerFault(
    410,
    'tool',
    'The invoice expired and was deleted',
    'It expired without a payment, and was deleted 30 days later. The detail and `deposit` say what becomes of USDC that is sent to its deposit ' +
      'address all the same.',
  ),
  INVOICE_CONFLICT: callerFault(
    409,
    'tool',
    'The key was used for another invoice',
    'The Idempotency-Key was sent before with other content. Use another key for another invoice.',
  ),
  INVOICE_LIMIT: callerFault(
    429,
    'tool',
    'Too many open invoices',
    'The merchant has reached the maximum of signed open invoices.',
    'retryable',
  ),
  INVOICE_NETWORK_LIMIT: callerFault(
    429,
    'tool',
    'Too many signed invoices of new merchants today',
    'Invoices that merchants sign before their first payment on the chain are limited per day: for a network (/24, /48), for a provider network ' +
      '(/16, /32), and for all. `limit_of` and the detail state which limit was reached. Merchants that were paid are not limited by it.',
    'retryable',
  ),
  INVOICE_RATE_LIMITED: callerFault(
    429,
    'tool',
    'Too many requests for invoices',
    'Creating, paying and changing invoices is limited per client and minute, payments sent from here per day, and unpaid reads of the chain for all clients together; the detail says whose limit is reached.',
    'retryable',
  ),
  INVOICE_NOT_PAYABLE: callerFault(
    409,
    'settlement',
    'The invoice does not accept this payment',
    'The invoice is void, expired, paid or being paid, or the amount is not one that is sent to the chain for it. Nothing was sent.',
  ),
  INVOICE_NOT_PRINTABLE: callerFault(
    422,
    'tool',
    'The PDF cannot print this invoice',
    'The client name or memo has characters that the PDF font cannot print; errors names them, and the page of the invoice shows them. The record lists them in pdf_unprintable.',
  ),
  INVOICE_PAYMENT_REQUIRED: callerFault(
    402,
    'challenge',
    'Pay this invoice',
    'This address takes a signed payment of the invoice; the terms state recipient and amount.',
    'retryable',
  ),
  INVOICE_SIGNATURE_INVALID: callerFault(
    403,
    'signature',
    'Not signed by the merchant',
    'Only the key of the merchant can sign or void an invoice, create a signed one, or list its invoices.',
  ),
  INVOICE_ERASED: callerFault(
    410,
    'tool',
    'The details of the invoice were erased',
    'The merchant signs the personal details of an invoice, which were erased. Create another invoice.',
  ),
  INVOICE_NOT_VOIDABLE: callerFault(
    409,
    'tool',
    'The invoice cannot be voided',
    'A payment was seen or is pending, or the invoice is already void.',
  ),
} as const satisfies Record<string, ProblemKind>

export const WEBHOOK_PROBLEMS = {
  WEBHOOK_NOT_FOUND: callerFault(
    404,
    'tool',
    'No such subscription',
    'No subscription or delivery has this id and token. One that ended is forgotten after a day; where all places are taken, one of an owner that was never paid gives way.',
  ),
  WEBHOOK_NOT_AUTHORISED: callerFault(
    403,
    'signature',
    'Not authorised to subscribe',
    'Events are delivered to the creator of an invoice, who has its webhook_token, or to the account itself, which signs sign.typed_data of this answer.',
  ),
  WEBHOOK_EXISTS: callerFault(
    409,
    'tool',
    'This address is subscribed',
    'An owner has one subscription for an address. `subscription` is that one; a later signature with `replaces` gets a new secret and token.',
  ),
  WEBHOOK_ENDED: callerFault(
    409,
    'tool',
    'The subscription has ended',
    'The receiver did not return the text of a challenge in time or failed for days, its name leads to an address that is not public, or the invoice is over. Subscribe again.',
  ),
  WEBHOOK_LIMIT: callerFault(
    429,
    'tool',
    'Too many subscriptions',
    'The account, the invoice, its network or the service has the maximum number of subscriptions; the detail says which. A limit of the service is shared by all.',
    'retryable',
  ),
  WEBHOOK_RATE_LIMITED: callerFault(
    429,
    'tool',
    'Too many requests for webhooks',
    'Requests for subscriptions are limited per client and minute, and checks of contract wallets by the reads of outside sources that the service makes without a payment; the detail says whose limit is reached.',
    'retryable',
  ),
} as const satisfies Record<string, ProblemKind>
