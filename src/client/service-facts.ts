import { isObject } from '../pure/is-object.ts'
import { readKeyList, type KeyList, type PublishedKey } from '../pure/receipts/keys.ts'
import { localError } from './error.ts'
import { getJson, type Link } from './exchange.ts'
import type { ClientOptions } from './options.ts'

/** What must be known of a service before anything of it is believed, or paid. */
export interface ServiceFacts {
  keys: KeyList
  chain_id: number
  /** Lower case. */
  pay_to: string
}

/** What a client knows of its service: pinned by its options, else fetched once. */
export interface Facts {
  read(): Promise<ServiceFacts>
  /** The keys anew, for a receipt of a signer that is not on the list: it may have been added since. */
  keysFor(signer: unknown): Promise<KeyList>
  /** The keys as the service lists them now, or those that are pinned. */
  keysNow(): Promise<KeyList>
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** A chain that a pinned address says nothing of. */
export const ANY_CHAIN = 0

/** Throws BAD_OPTIONS for pins that are none. */
export function createFacts(link: Link, options: Pick<ClientOptions, 'keys' | 'pay_to' | 'chain_id'>): Facts {
  const pinned = { keys: pinnedKeys(options.keys), pay_to: pinnedAddress(options.pay_to), chain_id: options.chain_id ?? null }
  let first: Promise<ServiceFacts> | null = null
  let keys: KeyList | null = pinned.keys
  const load = async (): Promise<ServiceFacts> => {
    if (pinned.keys !== null && pinned.pay_to !== null && pinned.chain_id !== null) {
      return { keys: pinned.keys, pay_to: pinned.pay_to, chain_id: pinned.chain_id }
    }
    const found = await fetchFacts(link)
    keys ??= found.keys
    return { keys, pay_to: pinned.pay_to ?? found.pay_to, chain_id: pinned.chain_id ?? found.chain_id }
  }
  const read = () => {
    // Kept once it succeeded: neither recipient nor chain may change while a client lives.
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
      keys = (await fetchFacts(link)).keys
      return keys
    },
    async keysNow() {
      keys = pinned.keys ?? (await fetchFacts(link)).keys
      return keys
    },
  }
}

/** `/.well-known/xdr-1.json`: keys, chain and recipient. */
async function fetchFacts(link: Link): Promise<ServiceFacts> {
  const document = await getJson(link, '/.well-known/xdr-1.json').catch((cause: unknown) => {
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

function pinnedAddress(address: string | undefined): string | null {
  if (address === undefined) return null
  if (!ADDRESS.test(address)) throw localError('BAD_OPTIONS', 'pay_to must be an address: 0x and 40 hexadecimal digits.')
  return address.toLowerCase()
}
