/** One look at the chain for one payment: what is asked, and what the answers are. */
import type { Chain, ChainRead, ChainReadResult } from '../../ports/chain.ts'
import { decodeBool, decodeUint } from '../../pure/payments/abi.ts'
import type { SignedAuthorization } from '../../pure/payments/authorization.ts'
import { normaliseSignature } from '../../pure/payments/eip3009.ts'
import { readSignatureWrapper, type SignatureWrapper } from '../../pure/payments/signature-wrapper.ts'
import * as token from '../../pure/payments/token-calls.ts'

/** What the token is given for a payer with code: the signature, or what its wrapper holds. */
export function tokenSignature(authorization: SignedAuthorization): string {
  return wrapperOf(authorization)?.inner_signature ?? authorization.signature
}

type NamedReads = Record<string, ChainRead>

export interface LookOptions {
  token_address: string
  /** Code was seen there before; USDC cannot lose it. */
  token_known: boolean
  authorization: SignedAuthorization
  /** Whether an account's key made the signature; then the form for accounts may apply. */
  account_signed: boolean
  /** Who would send the transaction; some wallets look. */
  settle_from: string | undefined
  gas: bigint
}

/** Null: the token does not answer that question. */
export interface Sight {
  payer_has_code: boolean
  token_has_code: boolean
  balance_minor: bigint | null
  used: boolean | null
  paused: boolean | null
  payer_blocked: boolean | null
  recipient_blocked: boolean | null
  /** The transfer in the form that applies to this payer; null when none does. */
  simulation: ChainReadResult | null
}

/** An ERC-6492 wrapper is for verifiers; the token gets what is inside. A wrapper without a factory is taken for the wallet's own format. */
export function wrapperOf({ signature }: SignedAuthorization): SignatureWrapper | null {
  const wrapper = readSignatureWrapper(signature)
  return wrapper === null || BigInt(wrapper.factory) === 0n ? null : wrapper
}

/** The reads of one round trip by their names. */
function readsFor({ token_address: to, token_known, authorization, account_signed, settle_from, gas }: LookOptions): NamedReads {
  const ask = (data: string): ChainRead => ({ kind: 'call', to, data })
  const simulate = (data: string): ChainRead => ({ kind: 'call', to, data, gas, ...(settle_from !== undefined && { from: settle_from }) })
  const account = account_signed ? normaliseSignature(authorization.signature) : null
  return {
    payer_code: { kind: 'code', address: authorization.from },
    balance: ask(token.balanceCall(authorization.from)),
    used: ask(token.authorizationStateCall(authorization.from, authorization.nonce)),
    paused: ask(token.PAUSED_CALL),
    payer_blocked: ask(token.blacklistedCall(authorization.from)),
    recipient_blocked: ask(token.blacklistedCall(authorization.to)),
    bytes_form: simulate(token.transferBytesCall(authorization, tokenSignature(authorization))),
    ...(account !== null && { account_form: simulate(token.transferCall(authorization, account)) }),
    ...(!token_known && { token_code: { kind: 'code', address: to } }),
  }
}

export async function takeSight(chain: Pick<Chain, 'read'>, options: LookOptions): Promise<Sight> {
  const reads = readsFor(options)
  const results = await chain.read(Object.values(reads))
  const seen: Record<string, ChainReadResult | undefined> = Object.fromEntries(
    Object.keys(reads).map((name, index) => [name, results[index]]),
  )
  const payer_has_code = hasCode(seen['payer_code'])
  return {
    payer_has_code,
    token_has_code: options.token_known || hasCode(seen['token_code']),
    balance_minor: seen['balance']?.ok === true ? decodeUint(seen['balance'].data) : null,
    used: flag(seen['used']),
    paused: flag(seen['paused']),
    payer_blocked: flag(seen['payer_blocked']),
    recipient_blocked: flag(seen['recipient_blocked']),
    // FiatToken v2.2 asks any signer that has code, a delegated account (EIP-7702) included.
    simulation: (payer_has_code ? seen['bytes_form'] : seen['account_form']) ?? null,
  }
}

function hasCode(result: ChainReadResult | undefined): boolean {
  return result?.ok === true && result.data !== '0x'
}

function flag(result: ChainReadResult | undefined): boolean | null {
  return result?.ok === true ? decodeBool(result.data) : null
}
