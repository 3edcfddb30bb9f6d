import { checkCurrency } from '../../checks/currency.ts'
import { settlementToken } from '../../checks/settlement-tokens.ts'
import { NETWORKS } from '../../networks.ts'
import { usdcOn } from '../../payments/usdc.ts'
import { checkIban } from '../../checks/iban.ts'
import { readEvmAddress } from '../../checks/evm-address.ts'
import { canonicalText } from '../../receipts/canonical.ts'
import { nobleCrypto } from '../../receipts/crypto.ts'

/** What stands in the way of an intent, or should be known of it. `found` texts are never repeated. */
interface IntentFinding {
  code: (typeof INTENT_CODES)[number]
  field: string
  message: string
}

export const INTENT_CODES = [
  'currency_unknown',
  'no_token',
  'amount_missing',
  'amount_fraction',
  'amounts_differ',
  'amount_not_positive',
  'unsupported_chain',
  'iban_invalid',
  'directory_ambiguous',
  'wallet_invalid',
  'wallet_checksum',
  'wallet_zero',
  'recipient_missing',
  'payer_is_recipient',
  'window_empty',
] as const

/** The amount of an instruction: as a decimal text, in minor units, or both. */
interface GivenAmount {
  currency: string
  amount_str?: string | undefined
  amount_minor?: string | undefined
}

interface IntentToken {
  symbol: string
  /** EIP-55 form. */
  address: string
  decimals: number
  /** Of the EIP-712 domain. */
  name: string
  version: string
  /** Whether the name was read from the contract; a signature over another one fails, and nothing else happens. */
  domain_confirmed: boolean
}

interface IntentAmount {
  currency: string
  minor_units: number
  amount_minor: bigint
  /** In the smallest unit of the token. */
  token_units: bigint
  token: IntentToken
}

/**
 * What is to be moved: the very sum of the instruction, in the token of the very currency. Nothing is converted and nothing rounded: a
 * currency without a token of its own, digits beyond its minor unit, or two statements that differ end in findings.
 */
function readAmount(given: GivenAmount, chain_id: number, findings: IntentFinding[]): IntentAmount | null {
  const facts = checkCurrency(given.currency).facts
  if (facts?.status !== 'current' || facts.minor_units === null) {
    findings.push({ code: 'currency_unknown', field: 'instructed_amount.currency', message: 'This is no current currency of ISO 4217.' })
    return null
  }
  const { alpha: currency, minor_units } = facts
  const amount_minor = readMinor(given, minor_units, findings)
  const token = tokenOf(currency, chain_id)
  if (token === null) {
    const message = `No token of ${currency} is known on chain ${chain_id}, and nothing is converted.`
    findings.push({ code: 'no_token', field: 'instructed_amount.currency', message })
  }
  if (amount_minor === null || token === null) return null
  if (amount_minor <= 0n) {
    findings.push({ code: 'amount_not_positive', field: 'instructed_amount', message: 'Nothing would be moved.' })
    return null
  }
  const token_units = amount_minor * 10n ** BigInt(token.decimals - minor_units)
  return { currency, minor_units, amount_minor, token_units, token }
}

function readMinor({ amount_str, amount_minor }: GivenAmount, minor_units: number, findings: IntentFinding[]): bigint | null {
  const stated = amount_minor === undefined ? null : BigInt(amount_minor)
  if (amount_str === undefined) {
    if (stated === null)
      findings.push({ code: 'amount_missing', field: 'instructed_amount', message: 'Give amount_str, amount_minor or both.' })
    return stated
  }
  const [whole = '', part = ''] = amount_str.split('.')
  const beyond = part.slice(minor_units)
  if (/[1-9]/.test(beyond)) {
    const message = `The amount has digits beyond the ${minor_units} places of its currency.`
    findings.push({ code: 'amount_fraction', field: 'instructed_amount.amount_str', message })
    return null
  }
  const read = BigInt(`${whole}${part.slice(0, minor_units).padEnd(minor_units, '0')}`)
  if (stated === null || stated === read) return read
  findings.push({ code: 'amounts_differ', field: 'instructed_amount', message: 'amount_str and amount_minor are not the same amount.' })
  return null
}

function tokenOf(currency: string, chain_id: number): IntentToken | null {
  if (currency === 'USD') {
    const { name, version, address } = usdcOn(chain_id)
    return { symbol: 'USDC', address, decimals: 6, name, version, domain_confirmed: true }
  }
  const token = settlementToken(currency)
  if (token === null || token.chain_id !== chain_id) return null
  // Circle's tokens name their domain after their name(); that of EURC on Base was not read from the contract.
  return { ...token, name: token.symbol, version: '2', domain_confirmed: false }
}

const ZERO = `0x${'0'.repeat(40)}`

interface Parties {
  debtor_iban: string
  creditor_iban: string
  /** EIP-55 form; null where the directory does not name the debtor's wallet. */
  from: string | null
  to: string
  recipient_source: 'directory' | 'seller_pay_to_address'
  /** The directory and seller_pay_to_address name different wallets; the directory wins. */
  recipients_differ: boolean
}

interface Given {
  debtor_iban: string
  creditor_iban: string
  directory: Readonly<Record<string, string>>
  seller_pay_to_address?: string | undefined
}

/**
 * Who pays whom. Accounts are compared without spaces and in capitals, after their check digits; wallets with capitals must bear those of
 * EIP-55, since a mistyped one would take the money. The creditor's wallet in the directory goes before the seller's address.
 */
function readParties(given: Given, findings: IntentFinding[]): Parties | null {
  const debtor_iban = account(given.debtor_iban, 'instruction.debtor.iban', findings)
  const creditor_iban = account(given.creditor_iban, 'instruction.creditor.iban', findings)
  const wallets = walletsOf(given.directory, [debtor_iban, creditor_iban], findings)
  const seller = given.seller_pay_to_address === undefined ? null : wallet(given.seller_pay_to_address, 'seller_pay_to_address', findings)
  if (debtor_iban === null || creditor_iban === null || findings.length > 0) return null
  const listed = wallets.get(creditor_iban) ?? null
  const to = listed ?? seller
  const from = wallets.get(debtor_iban) ?? null
  if (to === null) {
    findings.push({ code: 'recipient_missing', field: 'counterparty_wallet_directory', message: 'No wallet of the creditor is named.' })
    return null
  }
  if (from === to) {
    findings.push({ code: 'payer_is_recipient', field: 'counterparty_wallet_directory', message: 'Payer and recipient are one wallet.' })
    return null
  }
  const recipient_source = listed === null ? ('seller_pay_to_address' as const) : ('directory' as const)
  return {
    debtor_iban,
    creditor_iban,
    from,
    to,
    recipient_source,
    recipients_differ: listed !== null && seller !== null && listed !== seller,
  }
}

function account(text: string, field: string, findings: IntentFinding[]): string | null {
  const { valid, normalized } = checkIban(text)
  if (valid) return normalized
  findings.push({ code: 'iban_invalid', field, message: 'The IBAN fails its own rules; iban-check says where.' })
  return null
}

/** The wallets of these accounts. Other entries are nobody's business here, whatever they hold. */
function walletsOf(directory: Readonly<Record<string, string>>, accounts: readonly (string | null)[], findings: IntentFinding[]) {
  const wallets = new Map<string, string>()
  for (const [key, value] of Object.entries(directory)) {
    const { normalized } = checkIban(key)
    if (!accounts.includes(normalized)) continue
    const found = wallet(value, 'counterparty_wallet_directory', findings)
    const known = wallets.get(normalized) ?? found
    if (found !== null) wallets.set(normalized, found)
    if (known === found) continue
    const message = 'One IBAN is listed twice with different wallets.'
    findings.push({ code: 'directory_ambiguous', field: 'counterparty_wallet_directory', message })
  }
  return wallets
}

function wallet(text: string, field: string, findings: IntentFinding[]): string | null {
  const read = text.startsWith('0x') ? readEvmAddress(text) : null
  const fault = (code: IntentFinding['code'], message: string) => {
    findings.push({ code, field, message })
    return null
  }
  if (read === null) return fault('wallet_invalid', 'A wallet is 0x and 40 hexadecimal digits.')
  if (read.checksum === 'broken') return fault('wallet_checksum', 'The capitals of a wallet are not those of EIP-55: it may be mistyped.')
  if (read.address === ZERO) return fault('wallet_zero', 'The zero address is nobody’s wallet.')
  return read.checksummed
}

/** The chains on which tokens are known. */
export const INTENT_CHAINS: readonly number[] = NETWORKS.map(({ chain_id }) => chain_id)
/** Goes into every nonce, so that no other scheme makes the same. */
const NONCE_TAG = 'iso20022-to-x402-intent/1'

interface GivenIntent {
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

interface Intent {
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
