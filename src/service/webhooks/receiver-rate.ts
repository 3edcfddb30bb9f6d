import type { SteadyClock } from '../../ports/clock.ts'
import { splitDomain } from '../../pure/checks/domains.ts'
import { WEBHOOK_RULES } from '../limits.ts'
import { createRecentMap } from '../recent.ts'

/**
 * Rate of the requests that a receiver gets, counted over all subscriptions by host, by registrable domain and by IP address. Few are sent that it does
 * not accept, so that no number of subscriptions floods a server of others; a request that it accepts with 2xx counts only
 * against a higher rate. Challenges count as events do.
 */
export interface ReceiverRate {
  /** Time in ms until a request may be sent; 0 for now. Each caller that has to wait gets a later time than the one before. */
  wait_ms(url: string, sender: RateClass): number
  /** Takes a request; null when the host or its domain got too many. */
  takeHost(url: string, sender: RateClass): RateTaken | null
  /** Takes a request to the address of a host. */
  takeAddress(address: string, sender: RateClass): RateTaken | null
}

export interface RateClass {
  /** Its last request was accepted. What others get refused does not delay it. */
  healthy: boolean
  /** The owner was paid here: a share of the rate is kept for it. */
  paid: boolean
}

interface RateTaken {
  /** The receiver answered with 2xx. */
  accepted(): void
}

const { rate: RATE } = WEBHOOK_RULES
const MINUTE_MS = 60_000
/** An IP address, as the URL standard spells it. */
const ADDRESS = /^(?:\[.*\]|[\d.]+)$/
const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost']

interface Bucket {
  most: number
  left: number
  counted_ms: number
  /** Time that was given to the last caller that has to wait. */
  promised_ms: number
}

/** A bucket that a request takes from, and what it must leave there. */
interface Draw {
  bucket: Bucket
  leave: number
  returned: boolean
  /** Time between two callers that wait, in ms: a place in the bucket is free sooner when the receiver accepts. */
  spacing_ms: number
}

export function createReceiverRate(clock: SteadyClock): ReceiverRate {
  const buckets = createRecentMap<Bucket>(RATE.remembered)

  function bucketOf(key: string, most: number): Bucket {
    const now_ms = clock.steady_ms()
    const bucket = buckets.get(key) ?? { most, left: most, counted_ms: now_ms, promised_ms: 0 }
    bucket.left = Math.min(most, bucket.left + (Math.max(0, now_ms - bucket.counted_ms) * most) / MINUTE_MS)
    bucket.counted_ms = now_ms
    buckets.set(key, bucket)
    return bucket
  }

  function drawsOf(key: string, { all, unaccepted }: { all: number; unaccepted: number }, { healthy, paid }: RateClass): Draw[] {
    const leave = paid ? 0 : Math.floor(all * RATE.share_of_paid)
    const spacing_ms = MINUTE_MS / all
    return [
      { bucket: bucketOf(`all ${key}`, all), leave, returned: false, spacing_ms },
      { bucket: bucketOf(`${healthy ? 'healthy' : 'other'} ${key}`, unaccepted), leave: 0, returned: true, spacing_ms },
    ]
  }

  function hostDraws(url: string, sender: RateClass): Draw[] {
    const { host, hostname } = new URL(url)
    const of_host = drawsOf(`host ${host}`, RATE.host, sender)
    if (LOOPBACK.includes(hostname)) return of_host
    const registrable = ADDRESS.test(hostname) ? null : splitDomain(hostname, false).registrable
    return registrable === null ? of_host : [...of_host, ...drawsOf(`domain ${registrable}`, RATE.domain, sender)]
  }

  function take(draws: readonly Draw[]): RateTaken | null {
    if (!draws.every(isFree)) return null
    for (const { bucket } of draws) bucket.left -= 1
    return {
      accepted: () => {
        for (const { bucket, returned } of draws) if (returned) bucket.left = Math.min(bucket.most, bucket.left + 1)
      },
    }
  }

  return {
    wait_ms(url, sender) {
      const now_ms = clock.steady_ms()
      return Math.max(0, ...hostDraws(url, sender).map((draw) => waitMs(draw, now_ms)))
    },
    takeHost: (url, sender) => take(hostDraws(url, sender)),
    takeAddress: (address, sender) => take(drawsOf(`address ${address}`, RATE.address, sender)),
  }
}

function isFree({ bucket, leave }: Draw): boolean {
  return bucket.left >= 1 + leave
}

function waitMs(draw: Draw, now_ms: number): number {
  if (isFree(draw)) return 0
  const { bucket, leave, spacing_ms } = draw
  const earliest_ms = now_ms + ((1 + leave - bucket.left) * MINUTE_MS) / bucket.most
  bucket.promised_ms = Math.min(now_ms + RATE.wait_max_ms, Math.max(earliest_ms, bucket.promised_ms + spacing_ms))
  return Math.ceil(bucket.promised_ms - now_ms)
}
