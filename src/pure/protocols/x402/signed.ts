import type { Place } from '../place.ts'
import { networkAt, type Network } from './networks.ts'
import type { Payload } from './view.ts'

/** What a payer signs on EVM networks (scheme_exact_evm §1 and §2, scheme_upto_evm §1), read alike whichever way the token moves. */
export interface Signed {
  method: 'eip3009' | 'permit2'
  /** Who gets the money: of Permit2 the witness, to whom the proxy sends it. */
  to: Place
  amount: Place
  /** Unix time in seconds. */
  after: Place
  before: Place
  nonce: Place
  /** Every address that was signed. */
  addresses: Place[]
  /** Of Permit2 alone: the token, and who may move it. EIP-3009 is signed for the contract of the token itself. */
  permitted: { token: Place; spender: Place } | null
}

/**
 * Proxies that send the money to the witness and nowhere else: of exact and upto in @x402/evm 2.27.0, and those of the releases before,
 * which other facilitators still have. Another spender may send it to anybody.
 */
const PROXIES: ReadonlySet<string> = new Set(
  [
    '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
    '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
    '0x4020615294c913F045dc10f0a5cdEbd86c280001',
    '0x4020633461b2895a48930Ff97eE8fCdE8E520002',
  ].map((address) => address.toLowerCase()),
)

export function isProxy(address: string): boolean {
  return PROXIES.has(address.toLowerCase())
}

export function schemeOf({ terms, place }: Payload): string | null {
  return terms?.get('scheme').text() ?? place.get('scheme').text()
}

export function networkOf({ terms, place }: Payload): Network | null {
  return networkAt((terms ?? place).get('network'))
}

/** Each authorization that a payload holds. Where there are two, readers differ in which of them they take. */
export function signedBy(payload: Payload): Signed[] {
  const body = payload.place.get('payload')
  const [transfer, permit] = [body.get('authorization'), body.get('permit2Authorization')]
  return [
    ...(transfer.kind === 'object' ? [transferOf(transfer)] : []),
    ...(permit.kind === 'object' ? [permitOf(permit, schemeOf(payload) === 'upto')] : []),
  ]
}

/** Whom the payer signed to pay; none where that cannot be read, as in a transaction, a delegation or a voucher. */
export function recipientsOf(payload: Payload): Place[] {
  // Here the payer signs for a contract that collects the money first.
  if (schemeOf(payload) === 'auth-capture') return []
  return signedBy(payload).flatMap(({ to }) => (to.present ? [to] : []))
}

function transferOf(place: Place): Signed {
  const [from, to] = [place.get('from'), place.get('to')]
  const [after, before] = [place.get('validAfter'), place.get('validBefore')]
  return {
    method: 'eip3009',
    to,
    amount: place.get('value'),
    after,
    before,
    nonce: place.get('nonce'),
    addresses: [from, to],
    permitted: null,
  }
}

function permitOf(place: Place, is_upto: boolean): Signed {
  const to = place.down('witness', 'to')
  const permitted = { token: place.down('permitted', 'token'), spender: place.get('spender') }
  return {
    method: 'permit2',
    to,
    amount: place.down('permitted', 'amount'),
    after: place.down('witness', 'validAfter'),
    before: place.get('deadline'),
    nonce: place.get('nonce'),
    addresses: [place.get('from'), to, permitted.token, permitted.spender, ...(is_upto ? [place.down('witness', 'facilitator')] : [])],
    permitted,
  }
}
