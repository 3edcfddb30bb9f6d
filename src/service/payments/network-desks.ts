import type { ReceiptCrypto } from '../../pure/receipts/crypto.ts'
import type { Chain } from '../../ports/chain.ts'
import type { Log } from '../../ports/log.ts'
import type { Fraction } from '../../pure/market/fraction.ts'
import { assetId, networkOf } from '../../pure/networks.ts'
import { AUTHORIZATION_COLLECTOR, CHANNEL_SETTLEMENT } from '../../pure/payments/channels.ts'
import { domainSeparator } from '../../pure/payments/eip3009.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { limits } from '../limits.ts'
import type { EuroRates } from './euro-rate.ts'
import type { GasWatch } from './gas-watch.ts'
import type { AnyPayment, X402Payment } from './payment-header.ts'
import { gasTooDear, rateMissing } from './payment-refusals.ts'
import type { AdmittedPayment, BoundRequest, PaymentService } from './payment-parts.ts'
import type { Settler } from './settlement.ts'
import { type AcceptableTerms, caip2, type OfferedNetworks, type PaymentTerms } from './terms.ts'

/** Placeholder payer for the readiness check, which is not about a particular payer. */
const ANYBODY = '0x0000000000000000000000000000000000000001'
/** DOMAIN_SEPARATOR() of EIP-2612 and FiatToken. */
const DOMAIN_SEPARATOR_CALL = '0x3644e515'

/** A token on a network, in which calls can be paid, with the parts that verify and settle these payments and no others. */
export interface NetworkDesk {
  terms: PaymentTerms
  /** CAIP-19; null for USDC on the network of the deployment. */
  asset: string | null
  service: PaymentService
  chain: Pick<Chain, 'read' | 'answers'>
  settler: Pick<Settler, 'ready' | 'method'>
  /** Of a token that is not worth a US dollar. */
  rates?: EuroRates
  /** Gas of the network against prices. */
  gas: GasWatch
}

/** State of a network by the last check. */
export interface NetworkState {
  /** CAIP-2. */
  network: string
  name: string
  asset: string
  method: 'self' | 'facilitator'
  chain_ok: boolean
  /** A payment can be settled now, so the network is among the terms. */
  ready: boolean
  /** Reason why it is not; null when it is. */
  detail: string | null
}

/**
 * Payments on several networks: each goes to the desk of its network and token, whose domain its signature is checked against, so that a
 * signature for one network is refused on every other. What no desk takes goes to the first, which refuses it.
 */
export function routePayments(desks: readonly [NetworkDesk, ...NetworkDesk[]]): PaymentService {
  const [{ service: first }] = desks
  const serviceOf = (payment: AnyPayment) => deskOf(desks, payment).service
  return {
    async replay(request, payment) {
      const desk = deskOf(desks, payment)
      const result = await desk.service.replay(request, payment)
      return result === null ? null : withNetwork(desk, result)
    },
    async admit(request, payment, acceptable) {
      const desk = deskOf(desks, payment)
      const { rates, service } = desk
      // The service of payment channels checks deposits itself: a voucher moves nothing on chain.
      const is_too_dear = payment.scheme === 'exact' && !desk.gas.takesPayments()
      const terms = { ...acceptable, ...desk.terms, ...(is_too_dear && { unavailable: gasTooDear(desk.gas.now()) }) }
      const is_euro = rates !== undefined && payment.scheme === 'exact'
      const admitted = is_euro ? admitEuro(desk, rates, request, payment, terms) : service.admit(request, payment, terms)
      return withNetwork(desk, await admitted)
    },
    releaseAbandoned: (payment) => serviceOf(payment).releaseAbandoned(payment),
    // Token, row and stored answer of a payment do not depend on its network.
    tokenOf: (payment) => first.tokenOf(payment),
    fetch: (token) => first.fetch(token),
    find: (key) => first.find(key),
    async isUsed(key) {
      const used = await Promise.all(desks.map((desk) => desk.service.isUsed(key)))
      if (used.includes(true)) return true
      return used.includes(null) ? null : false
    },
    isSigned: (payment) => serviceOf(payment).isSigned(payment),
  }
}

/**
 * Admits a payment in EURC of an amount that terms have offered for a price, at a rate of the last two minutes. The claim has the price, and
 * names the token with its amount.
 */
async function admitEuro(
  { asset, service }: NetworkDesk,
  rates: EuroRates,
  request: BoundRequest,
  payment: X402Payment,
  terms: AcceptableTerms,
): Promise<AdmittedPayment> {
  const { value_minor } = payment.authorization
  const price_minor = rates.priceOf(value_minor, [...terms.amounts])
  const offered_minor = typeof price_minor === 'bigint' ? price_minor : null
  const amounts = new Set(offered_minor === null ? [] : [value_minor])
  const unavailable = price_minor === 'no_rate' ? { unavailable: rateMissing() } : {}
  const admitted = await service.admit(request, payment, { ...terms, amounts, ...unavailable })
  if (admitted.kind !== 'claimed' || asset === null) return admitted
  // The rate of a payment whose row was lost may be over: then the price is that of now.
  const [now_minor = value_minor] = terms.amounts
  return {
    kind: 'claimed',
    claim: { ...admitted.claim, amount_minor: offered_minor ?? now_minor, token: { asset, amount_minor: value_minor } },
  }
}

/** Names the network in a refusal, for the receipt of the failure. */
function withNetwork<Result extends AdmittedPayment>({ asset, terms }: NetworkDesk, result: Result): Result {
  return result.kind === 'refused' && asset !== null ? { ...result, network: caip2(terms.chain_id) } : result
}

function deskOf(desks: readonly [NetworkDesk, ...NetworkDesk[]], payment: AnyPayment): NetworkDesk {
  const asset = payment.accepted?.asset.toLowerCase()
  const found = desks.find(({ terms: { chain_id, network, token } }) => {
    const is_here = payment.network === caip2(chain_id) || payment.network === network
    return is_here && (asset === undefined || asset === token.address.toLowerCase())
  })
  return found ?? desks[0]
}

export interface NetworkWatch extends OfferedNetworks {
  states(): readonly NetworkState[]
  start(): void
  stop(): void
}

interface WatchParts {
  desks: readonly [NetworkDesk, ...NetworkDesk[]]
  crypto: Pick<ReceiptCrypto, 'keccak256'>
  log: Log
  every_ms?: number
}

/**
 * Checks each network every few seconds, independently of the others, and offers those that can settle. Before the first check, and when
 * none can, only the network of the deployment is offered, as by a deployment with one network. A further network is offered only after its
 * token has confirmed the domain that payers sign over.
 */
export function watchNetworks({ desks, crypto, log, every_ms = limits.network_check_ms }: WatchParts): NetworkWatch {
  const states = desks.map(({ terms, settler }, index) => firstState(terms, settler.method, index === 0))
  const confirmed = desks.map((_, index) => index === 0)
  const rates = desks.find((desk) => desk.rates !== undefined)?.rates
  let rate = rates?.now() ?? null
  const has_channels = desks.map((_, index) => index === 0)
  let offered = offeredNow(desks, { states, rate, has_channels })
  const refresh = () => {
    const newest = offeredNow(desks, { states, rate, has_channels })
    if (newest.key !== offered.key) offered = newest
  }
  let gas_seen = desks.map((desk) => desk.gas.now())
  let timers: NodeJS.Timeout[] = []
  let stopped = false

  async function check(desk: NetworkDesk, index: number): Promise<void> {
    const before = states[index]
    const state = await stateOf(desk, confirmed[index] === true, crypto).catch(() => null)
    if (before === undefined || stopped) return
    const found = state ?? { chain_ok: false, ready: false, detail: 'The check ended with an error.' }
    if (found.ready) confirmed[index] = true
    states[index] = { ...before, ...found }
    const { network, asset } = before
    if (found.ready && has_channels[index] === false && (await hasChannelContracts(desk).catch(() => false))) {
      has_channels[index] = true
      log.info({ network, asset }, 'payment channels are offered on this network')
    }
    if (found.ready !== before.ready) {
      if (found.ready) log.info({ network, asset }, 'payments are taken on this network')
      else log.error({ network, asset, detail: found.detail }, 'no payments are taken on this network')
    }
    refresh()
  }

  const loop = async (desk: NetworkDesk, index: number): Promise<void> => {
    await check(desk, index)
    if (stopped) return
    const timer = setTimeout(() => void loop(desk, index), every_ms)
    timer.unref()
    timers[index] = timer
  }
  const now = () => {
    const [newest, gas] = [rates?.now() ?? null, desks.map((desk) => desk.gas.now())]
    if (newest !== rate || gas.some((view, index) => view !== gas_seen[index])) {
      rate = newest
      gas_seen = gas
      refresh()
    }
    return offered
  }
  return {
    now,
    noneNow() {
      const { primary, further } = now()
      const [{ gas }] = desks
      return primary || further.length > 0 ? null : gas.now().detail
    },
    states: () => states,
    start() {
      rates?.start()
      desks.forEach((desk, index) => void loop(desk, index))
    },
    stop() {
      rates?.stop()
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      timers = []
    },
  }
}

function firstState({ chain_id, token }: PaymentTerms, method: NetworkState['method'], is_first: boolean): NetworkState {
  return {
    network: caip2(chain_id),
    name: networkOf(chain_id)?.name ?? `chain ${chain_id}`,
    asset: assetId(chain_id, token.address),
    method,
    chain_ok: is_first,
    ready: is_first,
    detail: is_first ? null : 'The network was not checked yet.',
  }
}

async function stateOf(desk: NetworkDesk, is_confirmed: boolean, crypto: WatchParts['crypto']) {
  const chain_ok = await desk.chain.answers()
  if (!chain_ok) return { chain_ok, ready: false, detail: 'The chain does not answer.' }
  const ready = await desk.settler.ready(ANYBODY)
  if (!ready.ok) return { chain_ok, ready: false, detail: ready.detail }
  const gas = desk.gas.now()
  if (!gas.offered) return { chain_ok, ready: false, detail: gas.detail }
  if (desk.rates?.now() === null) return { chain_ok, ready: false, detail: 'EURC has no rate that may be used.' }
  if (is_confirmed || (await confirmsDomain(desk, crypto))) return { chain_ok, ready: true, detail: null }
  return { chain_ok, ready: false, detail: 'The token does not confirm the name and version that payers sign over.' }
}

/** A signature over another domain would recover to another account; so the contract is asked rather than a table believed. */
async function confirmsDomain({ chain, terms: { chain_id, token } }: NetworkDesk, { keccak256 }: WatchParts['crypto']): Promise<boolean> {
  const [found] = await chain.read([{ kind: 'call', to: token.address.toLowerCase(), data: DOMAIN_SEPARATOR_CALL }])
  const { name, version, address } = token
  const expected = toHex(domainSeparator({ name, version, chain_id, verifying_contract: address.toLowerCase() }, keccak256))
  return found?.ok === true && found.data === expected
}

/** A further network has payment channels only once their contracts are seen at their addresses. */
async function hasChannelContracts({ chain, terms: { channels } }: NetworkDesk): Promise<boolean> {
  if (channels === undefined) return false
  const codes = await chain.read([CHANNEL_SETTLEMENT, AUTHORIZATION_COLLECTOR].map((address) => ({ kind: 'code', address })))
  return codes.every((code) => code.ok && code.data !== '0x')
}

/** Results of the last checks of each desk, and the rate of EURC, null without one. */
interface Checked {
  states: readonly NetworkState[]
  rate: Fraction | null
  has_channels: readonly boolean[]
}

function offeredNow(desks: readonly NetworkDesk[], { states, rate, has_channels }: Checked): ReturnType<OfferedNetworks['now']> {
  const isReady = (desk: NetworkDesk, index: number) =>
    states[index]?.ready === true && desk.gas.now().offered && (desk.rates === undefined || rate !== null)
  const ready = desks.filter(isReady)
  const [first] = desks
  const primary_too_dear = first !== undefined && !first.gas.now().offered
  const primary = !primary_too_dear && (ready.length === 0 || (first !== undefined && ready.includes(first)))
  const further = desks.flatMap((desk, index): PaymentTerms[] => {
    if (desk === first || !isReady(desk, index)) return []
    const { channels, ...terms } = desk.terms
    const offered = channels !== undefined && has_channels[index] === true ? { ...terms, channels } : terms
    return [desk.rates === undefined || rate === null ? offered : { ...offered, rate }]
  })
  const names = further.map(
    ({ chain_id, token, channels }) => assetId(chain_id, token.address) + (channels === undefined ? '' : '+channels'),
  )
  const rate_key = rate === null ? '' : `${rate.numerator}/${rate.denominator}`
  // Smallest deposits are part of the terms.
  const deposits = desks.map(({ gas }) => gas.now().minimums.channel_deposit_minor)
  return { primary, further, primary_too_dear, key: [primary, primary_too_dear, ...names, rate_key, ...deposits].join(' ') }
}
