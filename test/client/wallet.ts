import type { PrivateKeyAccount } from 'viem/accounts'
import { createClient, type AssayClient, type ClientOptions, type Clock, type Detail, type Signer } from '../../src/client/index.ts'

/** A signer that tells what it was asked to sign. */
export interface Spy extends Signer {
  readonly signed: { to: string; value: bigint; nonce: string; validBefore: bigint }[]
}

export function spyOn(account: PrivateKeyAccount): Spy {
  const signed: Spy['signed'] = []
  return {
    address: account.address,
    signed,
    signTypedData(data) {
      signed.push(data.message)
      return account.signTypedData(data)
    },
  }
}

/** The time of this machine, without waiting. */
export const IMPATIENT: Clock = { now_ms: () => Date.now(), wait: () => Promise.resolve() }

export function payingClient<D extends Detail = 'standard'>(
  url: string,
  signer: Signer,
  more: Partial<ClientOptions<D>> = {},
): AssayClient<D> {
  return createClient<D>({ url, signer, spend_cap: { per_call_usdc: '0.05', session_usdc: '1' }, clock: IMPATIENT, ...more })
}
