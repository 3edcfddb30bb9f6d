import { providerNetwork, quotaClient, widerNetwork } from '../clients.ts'

/** Bounds of places that clients occupy for a while, such as event streams. */
export interface PlaceBounds {
  all: number
  client: number
  /** Of an IPv4 /24 or IPv6 /48, and of an IPv4 /16 or IPv6 /32. */
  network: number
  provider: number
  /** Part of `all` that only favoured holders take. */
  kept: number
}

/** The limit that a refused holder met: that of its client, its network (/24, /48), its provider (/16, /32), or of the service. */
export type PlaceLimit = 'client' | 'network' | 'provider' | 'service'

interface PlaceRequest {
  /** Address of the client. */
  address: string
  /** Favoured holders may take the places that are kept, and others give way to them. */
  is_favoured: boolean
  /** Called when the place is given to another holder. The place is free by then. */
  end(): void
}

export type PlaceResult = { kind: 'taken'; leave: () => void } | { kind: 'refused'; limit: PlaceLimit }

export interface SharedPlaces {
  take(request: PlaceRequest): PlaceResult
  count(): number
}

interface Holder extends PlaceRequest {
  client: string
  network: string
  provider: string
}

/**
 * Places that clients share. When all are taken, the newest holder of the widest network gives way, so that neither many clients of one
 * network nor many networks of one provider keep a client from elsewhere out. A holder never gives way to a network that has as many.
 */
export function createSharedPlaces(bounds: PlaceBounds): SharedPlaces {
  /** In the order of their arrival. */
  const holders = new Set<Holder>()
  return {
    count: () => holders.size,
    take(request) {
      const { address } = request
      const holder: Holder = {
        ...request,
        client: quotaClient(address),
        network: widerNetwork(address),
        provider: providerNetwork(address),
      }
      const limit = ownLimit(holders, holder, bounds)
      if (limit !== null) return { kind: 'refused', limit }
      const given = placeFor(holders, holder, bounds)
      if (given === 'none') return { kind: 'refused', limit: 'service' }
      holders.add(holder)
      if (given !== 'free') {
        holders.delete(given)
        given.end()
      }
      return { kind: 'taken', leave: () => void holders.delete(holder) }
    },
  }
}

function ownLimit(holders: Iterable<Holder>, { client, network, provider }: Holder, bounds: PlaceBounds): PlaceLimit | null {
  const counts = { client: 0, network: 0, provider: 0 }
  for (const holder of holders) {
    if (holder.provider !== provider) continue
    counts.provider += 1
    if (holder.network === network) counts.network += 1
    if (holder.client === client) counts.client += 1
  }
  if (counts.client >= bounds.client) return 'client'
  if (counts.network >= bounds.network) return 'network'
  return counts.provider >= bounds.provider ? 'provider' : null
}

/** A free place, the holder that gives way, or none. */
function placeFor(holders: ReadonlySet<Holder>, holder: Holder, { all, kept }: PlaceBounds): Holder | 'free' | 'none' {
  const others = [...holders].filter(({ is_favoured }) => !is_favoured)
  if (holder.is_favoured) {
    if (holders.size < all) return 'free'
    return newestOfWidest(others, null) ?? newestOfWidest([...holders], holder) ?? 'none'
  }
  if (others.length < all - kept && holders.size < all) return 'free'
  return newestOfWidest(others, holder) ?? 'none'
}

/**
 * The newest holder in the widest network of the provider with the most holders. Null unless that provider, or else that network, has more
 * holders than `asking` would have; null for `asking` means that any holder gives way.
 */
function newestOfWidest(holders: readonly Holder[], asking: Holder | null): Holder | null {
  const of_provider = widest(holders, (one) => one.provider)
  const of_network = widest(of_provider, (one) => one.network)
  const newest = of_network.at(-1) ?? null
  if (asking === null || newest === null) return newest
  const own_provider = holders.filter(({ provider }) => provider === asking.provider).length
  if (of_provider.length > own_provider + 1) return newest
  const own_network = holders.filter(({ network }) => network === asking.network).length
  const within_own = newest.provider === asking.provider
  return within_own && of_network.length > own_network + 1 ? newest : null
}

/** The largest of the groups; of several, the first. */
function widest(holders: readonly Holder[], keyOf: (holder: Holder) => string): Holder[] {
  let most: Holder[] = []
  for (const group of Map.groupBy(holders, keyOf).values()) if (group.length > most.length) most = group
  return most
}
