import { canonicalText } from '../../receipts/canonical.ts'
import { nobleCrypto } from '../../receipts/crypto.ts'
import { readAmount, type GivenAmount, type IntentAmount } from './amount.ts'
import type { IntentFinding } from './finding.ts'
import { readParties, type Parties } from './parties.ts'

/** The chains on which tokens are known. */
export const INTENT_CHAINS: readonly number[] = [8453, 84_532]
/** Goes into every nonce, so that no other scheme makes the same. */
const NONCE_TAG = 'iso20022-to-x402-intent/1'

export interface GivenIntent {
  end_to_end_id: string
  amount: GivenAmount
  debtor_iban: string
  creditor_iban: string
  directory: Readonly<Record<string, string>>
  seller_pay_to_address?: string | undefined
  chain_id: number
  valid_after?: string | undefined
  valid_before?: string | undefined
}

/** EIP-712 typed data in the form that wallets take; what only the caller can supply is null and listed in `needs`. */
interface TypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: string }
  types: Readonly<Record<string, readonly { name: string; type: string }[]>>
  primaryType: 'TransferWithAuthorization'
  message: {
    from: string | null
    to: string
    value: string
    validAfter: string
    validBefore: string | null
    nonce: string
  }
}

export interface Intent {
  amount: IntentAmount
  parties: Parties
  typed_data: TypedData
  needs: ('from' | 'valid_before')[]
}

const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
]

const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/**
 * A payment instruction as an EIP-3009 authorization that its payer may sign (EIP-3009 and EIP-712, final). The nonce follows from the
 * instruction: a retry makes the same authorization, which the token executes once; a random one could pay twice. Findings stand in the way
 * of an intent; there is none beside them.
 */
export function intentOf(given: GivenIntent): { intent: Intent | null; findings: IntentFinding[] } {
  const findings: IntentFinding[] = []
  if (!INTENT_CHAINS.includes(given.chain_id)) {
    const message = `Tokens are known on chains ${INTENT_CHAINS.join(' and ')}.`
    return { intent: null, findings: [{ code: 'unsupported_chain', field: 'chain_id', message }] }
  }
  const parties = readParties(given, findings)
  const amount = readAmount(given.amount, given.chain_id, findings)
  const window = windowOf(given, findings)
  if (parties === null || amount === null || findings.length > 0) return { intent: null, findings }
  const needs = [...(parties.from === null ? ['from' as const] : []), ...(window.validBefore === null ? ['valid_before' as const] : [])]
  return { intent: { amount, parties, typed_data: typedData(given, amount, parties, window), needs }, findings }
}

function windowOf({ valid_after, valid_before }: GivenIntent, findings: IntentFinding[]) {
  const validAfter = BigInt(valid_after ?? '0')
  const validBefore = valid_before === undefined ? null : BigInt(valid_before)
  // Both ends are exclusive: a second must lie between them.
  if (validBefore !== null && validBefore - validAfter < 2n) {
    findings.push({ code: 'window_empty', field: 'valid_before', message: 'No second lies between valid_after and valid_before.' })
  }
  return { validAfter: String(validAfter), validBefore: validBefore === null ? null : String(validBefore) }
}

function typedData(
  { chain_id, end_to_end_id }: GivenIntent,
  { token, token_units }: IntentAmount,
  { from, to, debtor_iban, creditor_iban }: Parties,
  window: { validAfter: string; validBefore: string | null },
): TypedData {
  const value = String(token_units)
  const bound = { tag: NONCE_TAG, chain_id, token: token.address, end_to_end_id, value, debtor_iban, creditor_iban, to }
  return {
    domain: { name: token.name, version: token.version, chainId: chain_id, verifyingContract: token.address },
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value, ...window, nonce: nobleCrypto.keccak256Hex(canonicalText(bound)) },
  }
}
