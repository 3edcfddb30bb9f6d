/**
 * Whether the terms of a 402 may be signed. Everything in them came over the network, so each part is held against what is known without
 * them: the chain, the token of that chain, whom this client pays, and the call that was made.
 */
import { isObject } from '../pure/is-object.ts'
import { usdcOn } from '../pure/payments/usdc.ts'
import { ZERO_ADDRESS } from '../pure/receipts/receipt.ts'
import { fromBase64 } from './base64.ts'
import { localError, type AssayError } from './error.ts'
import { readMinor } from './money.ts'

/** Longest window in which a transfer may be carried out that is signed. */
const TIMEOUT_S_MAX = 3_600

/** What a signer is asked for. */
export interface Terms {
  amount_minor: bigint
  pay_to: string
  chain_id: number
  token: { address: string; name: string; version: string }
  timeout_s: number
  /** The chosen entry and the resource as they came: the service wants them back. */
  accepted: Readonly<Record<string, unknown>>
  resource: Readonly<Record<string, unknown>>
}

/** What terms have to agree with. */
export interface Expected {
  tool: string
  chain_id: number
  /** Lower case. */
  pay_to: string
  /** Lower case; no terms may pay the payer. */
  payer: string | null
}

/** Reads PAYMENT-REQUIRED (x402 version 2) and chooses the entry that fits. Throws TERMS_REFUSED, with the reason of the first entry. */
export function readTerms(header: string | null, expected: Expected): Terms {
  const required = header === null ? null : parsed(fromBase64(header))
  if (required === null || required['x402Version'] !== 2) throw refused('the answer carries no terms of x402 version 2')
  const { resource, accepts } = required
  if (!isObject(resource) || !isResourceOf(resource['url'], expected.tool)) throw refused('they are for another call')
  if (!Array.isArray(accepts) || accepts.length > 32) throw refused('they offer nothing')
  const read = accepts.map((entry) => readEntry(entry, resource, expected))
  const fitting = read.find((one) => typeof one !== 'string')
  if (fitting !== undefined && typeof fitting !== 'string') return fitting
  const [first] = read
  throw refused(typeof first === 'string' ? first : 'they offer nothing')
}

/** The entry as terms, or what stands against it. */
function readEntry(entry: unknown, resource: Readonly<Record<string, unknown>>, expected: Expected): Terms | string {
  if (!isObject(entry)) return 'they offer nothing'
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra } = entry
  const { chain_id } = expected
  const token = tokenOn(chain_id)
  const amount_minor = readMinor(amount)
  if (token === null) return `no USDC is known on the chain ${chain_id}, which the service names`
  if (scheme !== 'exact') return 'their scheme is not exact'
  if (network !== `eip155:${chain_id}`) return `they are not for the chain eip155:${chain_id}`
  if (!isSame(asset, token.address)) return 'their asset is not the USDC of this chain'
  if (!isObject(extra) || extra['name'] !== token.name || extra['version'] !== token.version) return 'they name another signing domain'
  const { paymentFlow = 'authorization' } = extra
  if (paymentFlow !== 'authorization') return 'they ask for another way of paying'
  if (amount_minor === null || amount_minor === 0n) return 'their amount is none'
  if (!isSame(payTo, expected.pay_to)) return 'they pay somebody else'
  if (expected.pay_to === expected.payer || expected.pay_to === ZERO_ADDRESS) return 'they pay nobody'
  if (!isTimeout(maxTimeoutSeconds)) return 'their time for settling is out of bounds'
  return { amount_minor, pay_to: expected.pay_to, chain_id, token, timeout_s: maxTimeoutSeconds, accepted: entry, resource }
}

/** Null for a chain that no service of this kind is on. */
function tokenOn(chain_id: number): ReturnType<typeof usdcOn> | null {
  try {
    return usdcOn(chain_id)
  } catch {
    return null
  }
}

/** The resource names the address of this tool's calls; its host may be another name of the same service. */
function isResourceOf(url: unknown, tool: string): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { pathname, search } = new URL(url)
  return pathname.endsWith(`/v1/tools/${tool}/call`) && search === ''
}

function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= TIMEOUT_S_MAX
}

function isSame(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase()
}

function parsed(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function refused(why: string): AssayError {
  return localError('TERMS_REFUSED', `The terms of payment were refused: ${why}. Nothing was signed.`, { status: 402 })
}
