import type { MarketRefusal } from './usd-prices.ts'

const WORDS: Readonly<Record<MarketRefusal['reason'], string>> = {
  sequencer_unreadable: 'cannot be read',
  sequencer_down: 'is down, so that its prices stand still',
  sequencer_recovering: 'came back less than an hour ago, so that prices may be from before',
  feed_unreadable: 'cannot be read',
  feed_mismatch: 'does not call itself what it should',
  round_invalid: 'has no valid round',
  feed_stale: 'was not updated in time',
  pool_mismatch: 'does not hold the tokens that it should',
  twap_window_unavailable: 'does not remember the whole window',
  pool_too_shallow: 'holds too little to be relied on',
  sources_disagree: 'are too far apart',
}

/** What a caller is told of a price that cannot be given. */
export function refusalWords({ reason, about }: MarketRefusal): string {
  return `No rate can be given now: ${about} ${WORDS[reason]}. Nothing was charged; ask again later.`
}
