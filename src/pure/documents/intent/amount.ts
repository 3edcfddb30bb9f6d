import { checkCurrency } from '../../checks/currency.ts'
import { settlementToken } from '../../checks/settlement-tokens.ts'
import { usdcOn } from '../../payments/usdc.ts'
import type { IntentFinding } from './finding.ts'

/** The amount of an instruction: as a decimal text, in minor units, or both. */
export interface GivenAmount {
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

export interface IntentAmount {
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
export function readAmount(given: GivenAmount, chain_id: number, findings: IntentFinding[]): IntentAmount | null {
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
