import { ruleBookDomain, typedDataJson, typedDigest, type TypedStruct } from '../payments/typed-data.ts'
import type { ReceiptCrypto } from '../receipts/crypto.ts'

/** Subscription to the events of an account, as the account signs it (EIP-712). */
export interface SubscriptionTerms {
  /** Origin of the service, so that another deployment cannot use the signature. */
  service: string
  account: string
  url: string
  /** Empty for all types. */
  events: readonly string[]
  /** Seconds since 1970. */
  issued_at: number
}

const DOMAIN = ruleBookDomain('assay webhook')

const SUBSCRIPTION: TypedStruct = {
  name: 'WebhookSubscription',
  fields: [
    { name: 'service', type: 'string' },
    { name: 'account', type: 'address' },
    { name: 'url', type: 'string' },
    { name: 'events', type: 'string[]' },
    { name: 'issued_at', type: 'uint64' },
  ],
}

export function subscriptionDigest(terms: SubscriptionTerms, crypto: ReceiptCrypto): Uint8Array {
  return typedDigest(DOMAIN, SUBSCRIPTION, { ...terms }, crypto)
}

/** Typed data for the account to sign, in the form of wallets. */
export function subscriptionTypedData(terms: SubscriptionTerms) {
  return typedDataJson(DOMAIN, SUBSCRIPTION, { ...terms })
}
