import { randomBytes } from 'node:crypto'
import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import { type Authorization, createAuthorizationDigest } from '../../src/pure/payments/eip3009.ts'
import { nobleCrypto, toHex } from '../../src/pure/receipts/crypto.ts'

/** One entry of the terms in PAYMENT-REQUIRED, as far as a wallet needs it. */
interface Entry {
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: { name: string; version: string }
}

/** The terms of a 402, version 2. */
export interface PaymentRequired {
  resource: unknown
  accepts: Entry[]
}

export interface SignedPayment {
  /** Value of PAYMENT-SIGNATURE. */
  header: string
  /** The same for `_meta["x402/payment"]`. */
  payment: unknown
  authorization: Authorization
}

/** Pays like any x402 wallet: reads the terms, signs one transfer of exactly that amount to that address, and encodes it. */
export function signPayment(private_key: Uint8Array, required: PaymentRequired, now_s: number): SignedPayment {
  const accepted = required.accepts[0]
  if (accepted === undefined) throw new Error('the terms offer nothing')
  const wallet = nobleSigner(private_key)
  const authorization: Authorization = {
    from: wallet.address,
    to: accepted.payTo.toLowerCase(),
    value_minor: BigInt(accepted.amount),
    valid_after_s: 0n,
    valid_before_s: BigInt(now_s + accepted.maxTimeoutSeconds),
    nonce: toHex(randomBytes(32)),
  }
  const { name, version } = accepted.extra
  const domain = { name, version, chain_id: Number(accepted.network.split(':')[1]), verifying_contract: accepted.asset }
  const signature = wallet.sign(createAuthorizationDigest(domain, nobleCrypto.keccak256)(authorization))
  const payment = {
    x402Version: 2,
    resource: required.resource,
    accepted,
    payload: {
      signature,
      authorization: {
        from: authorization.from,
        to: authorization.to,
        value: authorization.value_minor.toString(),
        validAfter: '0',
        validBefore: authorization.valid_before_s.toString(),
        nonce: authorization.nonce,
      },
    },
  }
  return { header: Buffer.from(JSON.stringify(payment)).toString('base64'), payment, authorization }
}
