/**
 * Checks that an answer is what its receipt states: signed by a key of the service, over this input, this result and this payment, and linked to
 * the previous receipt. It does not check that the result is true. A client's receipts are kept in order, each linked to the one before.
 */
import { verifyLink, readReceiptHash, type ChainLink } from '../pure/receipts/chain.ts'
import { type KeyList, readKeyList, type PublishedKey } from '../pure/receipts/keys.ts'
import { valueHash, ZERO_ADDRESS, type Receipt } from '../pure/receipts/receipt.ts'
import { verifyReceipt, type ReceiptVerdict } from '../pure/receipts/verify.ts'
import { type AnswerBody, type Payment, type Check, type Verification, localError } from './answer.ts'
import { isObject } from '../pure/is-object.ts'
import { networkOf } from '../pure/networks.ts'
import type { Exchange } from './exchange.ts'
import type { ClientOptions } from './options.ts'

/** Call and payment that an answer must match. */
interface SentCall {
  tool: string
  input_hash: string
  previous_receipt: string | null
  payment: Payment | null
}

/** Verifies an answer. Never throws. */
export function verifyAnswer(body: AnswerBody<object>, sent: SentCall, keys: KeyList): Verification {
  const receipt = verifyReceipt(body.receipt, keys)
  // A stored answer may contain anything.
  const { tool, input_hash }: Partial<Receipt> = { ...body.receipt }
  const checks: Check[] = [
    { name: 'signature', ok: receipt.valid, words: receipt.reason },
    keyCheck(receipt, sent.payment, keys),
    check('tool', tool === sent.tool, 'The receipt names the tool that was called.', 'The receipt is of another tool.'),
    check('input', input_hash === sent.input_hash, 'The receipt covers the input as it was sent.', 'The receipt covers another input.'),
    check('result', isCovered(body), 'The receipt covers the result as it came.', 'The receipt covers another result.'),
    paymentCheck(body, sent.payment),
    settlementCheck(body, sent.payment),
    linkCheck(body, receipt, sent.previous_receipt),
  ]
  return { ok: checks.every(({ ok }) => ok), checks, receipt }
}

function keyCheck(
  { signer_published, signer_valid_at_ts, signer_recovered }: ReceiptVerdict,
  payment: Payment | null,
  keys: KeyList,
): Check {
  const good = signer_published === true && signer_valid_at_ts === true
  const chains = keys.filter(({ address }) => address === signer_recovered).map(({ chain_id }) => chain_id)
  const here = payment === null || chains.some((chain_id) => chain_id === ANY_CHAIN || hasSameMoney(chain_id, payment.chain_id))
  return check('key', good && here, 'The key is published, and was good at that time.', 'The key is not one of the service for this.')
}

/** A key belongs to the chain of the service, whose further networks are all with real money or all without. */
function hasSameMoney(chain_id: number, paid_on: number): boolean {
  return chain_id === paid_on || networkOf(chain_id)?.is_testnet === networkOf(paid_on)?.is_testnet
}

function isCovered({ result, receipt }: AnswerBody<object>): boolean {
  try {
    return valueHash(result) === receipt.output_hash
  } catch {
    // A result without canonical text has no hash.
    return false
  }
}

function paymentCheck({ receipt, tier }: AnswerBody<object>, payment: Payment | null): Check {
  const wanted =
    payment === null
      ? { tier: 'free', payer: ZERO_ADDRESS, amount: '0' }
      : { tier: 'paid', payer: payment.payer, amount: payment.amount_minor, nonce: payment.nonce, recipient: payment.pay_to }
  const told: Record<string, unknown> = { ...receipt }
  const ok = tier === wanted.tier && Object.entries(wanted).every(([name, value]) => told[name] === value)
  return check('payment', ok, 'The receipt names what was paid, and by whom.', 'The receipt names another payment.')
}

function settlementCheck({ settlement }: AnswerBody<object>, payment: Payment | null): Check {
  const ok =
    payment === null
      ? settlement === null
      : settlement !== null &&
        settlement.network === `eip155:${payment.chain_id}` &&
        settlement.payer === payment.payer &&
        settlement.amount_minor === payment.amount_minor &&
        /^0x[0-9a-f]{64}$/.test(settlement.transaction ?? '')
  return check('settlement', ok, 'The settlement is that of this payment.', 'The settlement is not that of this payment.')
}

function linkCheck({ chain }: AnswerBody<object>, { digest, signer_recovered }: ReceiptVerdict, previous: string | null): Check {
  if (previous === null) {
    return check('link', chain === null, 'The call named no earlier receipt.', 'The answer links to a receipt that the call did not name.')
  }
  const linked = chain !== null && chain.prev_receipt_hash === previous && digest !== null && signer_recovered !== null
  const ok = linked && verifyLink(chain, digest, signer_recovered).valid
  return check('link', ok, 'The key of the receipt has linked it to the one before.', 'The link to the receipt before is missing or wrong.')
}

function check(name: Check['name'], ok: boolean, good: string, bad: string): Check {
  return { name, ok, words: ok ? good : bad }
}

export interface ChainEntry {
  receipt: Receipt
  receipt_hash: string
  /** Null if the receipt links to none. */
  link: ChainLink | null
}

/** Chain of receipts as plain JSON. */
export interface ExportedChain {
  v: 1
  /** Receipt that the first one links to; null for none. */
  start: string | null
  entries: ChainEntry[]
}

export interface ChainVerdict {
  valid: boolean
  /** Each receipt links to the one before it; false for concurrent calls. */
  line: boolean
  /** Number of receipts that were checked. */
  length: number
  /** First fault; null if the chain is valid. */
  fault: { index: number; code: ChainFaultCode } | null
}

export type ChainFaultCode = 'not_a_chain' | 'receipt_invalid' | 'key_unknown' | 'hash_mismatch' | 'link_invalid' | 'follows_nothing'

export interface ReceiptChain {
  /** Receipt that the first one links to; null for none. */
  readonly start: string | null
  /** Receipt that the next call will link to; null for none. */
  readonly head: string | null
  readonly entries: readonly ChainEntry[]
  export(): ExportedChain
}

/** Chain of the answers of a client. An answer that arrives twice, through a payment that is resumed twice, is added once. */
export function createReceiptChain(start: string | null): ReceiptChain & { add(entry: ChainEntry): void } {
  const entries: ChainEntry[] = []
  const known = new Set<string>()
  return {
    start,
    get head() {
      return entries.at(-1)?.receipt_hash ?? start
    },
    get entries() {
      return [...entries]
    },
    add(entry) {
      if (known.has(entry.receipt_hash)) return
      known.add(entry.receipt_hash)
      entries.push(entry)
    },
    export: () => ({ v: 1, start, entries: structuredClone(entries) }),
  }
}

/**
 * Verifies an exported chain offline: each receipt is valid, signed by a listed key, has the stated hash and links to an earlier receipt.
 * Concurrent calls may link to the same receipt, or to none at the start of a chain. Never throws.
 */
export function verifyChain(chain: unknown, keys: KeyList | readonly unknown[]): ChainVerdict {
  const list = readKeyList(keys)
  const entries = isObject(chain) && chain['v'] === 1 && Array.isArray(chain['entries']) ? (chain['entries'] as unknown[]) : null
  if (list === null || entries === null || !isObject(chain)) return verdict(0, false, { index: 0, code: 'not_a_chain' })
  const { start = null } = chain
  const known = new Set<unknown>([start])
  let [before, line] = [start, true]
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(entry, list)
    if (typeof read === 'string') return verdict(entries.length, false, { index, code: read })
    if (!known.has(read.previous)) return verdict(entries.length, false, { index, code: 'follows_nothing' })
    if (read.previous !== before) line = false
    before = read.receipt_hash
    known.add(before)
  }
  return verdict(entries.length, line, null)
}

function verdict(length: number, line: boolean, fault: ChainVerdict['fault']): ChainVerdict {
  return { valid: fault === null, line, length, fault }
}

function readEntry(entry: unknown, keys: KeyList): ChainFaultCode | { receipt_hash: string; previous: string | null } {
  if (!isObject(entry)) return 'not_a_chain'
  const { valid, digest, signer_recovered, signer_published, signer_valid_at_ts } = verifyReceipt(entry['receipt'], keys)
  if (!valid || digest === null || signer_recovered === null) return 'receipt_invalid'
  if (signer_published !== true || signer_valid_at_ts !== true) return 'key_unknown'
  if (entry['receipt_hash'] !== digest) return 'hash_mismatch'
  const { link = null } = entry
  if (link === null) return { receipt_hash: digest, previous: null }
  if (!isObject(link) || !verifyLink(link, digest, signer_recovered).valid) return 'link_invalid'
  return { receipt_hash: digest, previous: readReceiptHash(String(link['prev_receipt_hash'])) }
}

/** Facts about a service that verification and payment depend on. */
export interface ServiceFacts {
  keys: KeyList
  chain_id: number
  /** Chains on which the client may pay, the preferred first. */
  pay_on: readonly number[]
  /** Lower case. */
  pay_to: string
}

/** Facts of the service: pinned by options, otherwise fetched once. */
interface ServiceFactsReader {
  read(): Promise<ServiceFacts>
  /** Fetches the keys again for a signer that is not on the list, because it may have been added. */
  keysFor(signer: unknown): Promise<KeyList>
  /** Current keys of the service, or the pinned ones. */
  keysNow(): Promise<KeyList>
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Chain id of a pinned address, for which the chain is unknown. */
const ANY_CHAIN = 0

/** Throws BAD_OPTIONS for invalid pins. */
export function createFacts(
  exchange: Exchange,
  options: Pick<ClientOptions, 'keys' | 'pay_to' | 'chain_id' | 'networks'>,
): ServiceFactsReader {
  const pinned = { keys: pinnedKeys(options.keys), pay_to: pinnedAddress(options.pay_to), chain_id: options.chain_id ?? null }
  let first: Promise<ServiceFacts> | null = null
  let keys: KeyList | null = pinned.keys
  const networks = options.networks === undefined ? null : pinnedNetworks(options.networks)
  const load = async (): Promise<ServiceFacts> => {
    const found = await loadFacts()
    return { ...found, pay_on: networks ?? [found.chain_id] }
  }
  const loadFacts = async (): Promise<Omit<ServiceFacts, 'pay_on'>> => {
    if (pinned.keys !== null && pinned.pay_to !== null && pinned.chain_id !== null) {
      return { keys: pinned.keys, pay_to: pinned.pay_to, chain_id: pinned.chain_id }
    }
    const found = await fetchFacts(exchange)
    keys ??= found.keys
    return { keys, pay_to: pinned.pay_to ?? found.pay_to, chain_id: pinned.chain_id ?? found.chain_id }
  }
  const read = () => {
    // Kept after the first success: recipient and chain must not change during the life of the client.
    first ??= load().catch((error: unknown) => {
      first = null
      throw error
    })
    return first
  }
  return {
    read,
    async keysFor(signer) {
      const known = keys ?? (await read()).keys
      if (pinned.keys !== null || typeof signer !== 'string' || known.some(({ address }) => address === signer.toLowerCase())) return known
      keys = (await fetchFacts(exchange)).keys
      return keys
    },
    async keysNow() {
      keys = pinned.keys ?? (await fetchFacts(exchange)).keys
      return keys
    },
  }
}

/** `/.well-known/xdr-1.json`: keys, chain and recipient. */
async function fetchFacts(exchange: Exchange): Promise<Omit<ServiceFacts, 'pay_on'>> {
  const document = await exchange.json('/.well-known/xdr-1.json').catch((cause: unknown) => {
    throw localError('KEYS_UNAVAILABLE', 'The receipt keys of the service cannot be read, so its answers could not be verified.', {
      retryable: true,
      cause,
    })
  })
  const { chain_id, payment_address } = isObject(document) ? document : {}
  const keys = readKeyList(document)
  if (keys === null || keys.length === 0 || typeof chain_id !== 'number' || typeof payment_address !== 'string') {
    throw localError('KEYS_UNAVAILABLE', 'The address does not publish receipt keys as this service does.')
  }
  return { keys, chain_id, pay_to: payment_address.toLowerCase() }
}

function pinnedKeys(keys: ClientOptions['keys']): KeyList | null {
  if (keys === undefined) return null
  const list = readKeyList(keys.map((key) => (typeof key === 'string' ? pinnedKey(key) : key)))
  if (list === null || list.length === 0) throw localError('BAD_OPTIONS', 'keys must be a published key list, or addresses.')
  return list
}

function pinnedKey(address: string): PublishedKey {
  const life = { not_before: 0, not_after: null, revoked_at: null, reason: null }
  return { address: address.toLowerCase(), status: 'active', ...life, mode: '', chain_id: ANY_CHAIN }
}

/** Chain ids of networks in CAIP-2. */
function pinnedNetworks(networks: readonly string[]): number[] {
  const chains = Array.isArray(networks) ? networks.map((network) => chainOf(network)) : []
  const known = chains.filter((chain) => chain !== null)
  if (known.length === 0 || known.length < chains.length)
    throw localError('BAD_OPTIONS', 'networks must list networks with USDC in CAIP-2, such as "eip155:137".')
  return known
}

function chainOf(network: unknown): number | null {
  const [, digits = ''] = /^eip155:([1-9][0-9]{0,9})$/.exec(String(network)) ?? []
  return networkOf(Number(digits))?.chain_id ?? null
}

function pinnedAddress(address: string | undefined): string | null {
  if (address === undefined) return null
  if (!ADDRESS.test(address)) throw localError('BAD_OPTIONS', 'pay_to must be an address: 0x and 40 hexadecimal digits.')
  return address.toLowerCase()
}
