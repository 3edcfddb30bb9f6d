import { decodeString, decodeUint, splitAbiWords } from '../payments/token-calls.ts'
import { fraction, type Fraction } from './fraction.ts'

/** When foreign exchange rests: from Friday 17:00 to Sunday 18:00 in New York, which is the schedule of Chainlink's currency feeds. */

const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S
const WEEK_S = 7 * DAY_S
/** 1 January 1970 was a Thursday: Friday 21:00 UTC, the earlier of its two times of the year. */
const CLOSES_S = DAY_S + 21 * HOUR_S
/** Sunday 23:00 UTC, the later of its two times. */
const OPENS_S = 3 * DAY_S + 23 * HOUR_S

/** Errs towards closed: for an hour on either side, one half of the year each. */
export function isFxClosed(at_s: number): boolean {
  const of_week_s = at_s % WEEK_S
  return of_week_s >= CLOSES_S && of_week_s < OPENS_S
}

/** Seconds of the span in which the market is closed. Times are seconds since 1970; the span must not end before it begins. */
export function closedSeconds(from_s: number, to_s: number): number {
  return closedSince1970(to_s) - closedSince1970(from_s)
}

function closedSince1970(at_s: number): number {
  const of_week_s = at_s % WEEK_S
  const this_week_s = Math.min(Math.max(of_week_s - CLOSES_S, 0), OPENS_S - CLOSES_S)
  return Math.floor(at_s / WEEK_S) * (OPENS_S - CLOSES_S) + this_week_s
}

/** Answers of Chainlink price feeds (AggregatorV3Interface) and of the sequencer's uptime feed. */

export const LATEST_ROUND = '0xfeaf968c'
export const DECIMALS = '0x313ce567'
export const DESCRIPTION = '0x7284e416'

/** Data that a call returned; none when the contract refused. */
export type CallAnswer = { ok: true; data: string } | { ok: false }

export interface Feed {
  address: string
  description: string
  decimals: number
  /** Longest time between two updates. */
  heartbeat_s: number
  /** Pauses while foreign exchange is closed. */
  market_hours: boolean
}

interface Round {
  round_id: bigint
  answer: bigint
  started_at_s: bigint
  updated_at_s: bigint
  answered_in_round: bigint
}

export type FeedFault = 'feed_unreadable' | 'feed_mismatch' | 'round_invalid' | 'feed_stale'

type Reading =
  /** `market_closed`: foreign exchange is closed now, and the price is the last one before. */
  { ok: true; price: Fraction; updated_at_s: number; age_s: number; market_closed: boolean } | { ok: false; reason: FeedFault }

/** Values of `latestRoundData()`; null when the data are not five words of the right sizes. */
export function readRound(data: string): Round | null {
  const words = splitAbiWords(data)?.map((word) => BigInt(`0x${word}`))
  if (words?.length !== 5) return null
  const [round_id = 0n, answer = 0n, started_at_s = 0n, updated_at_s = 0n, answered_in_round = 0n] = words
  if (round_id >> 80n !== 0n || answered_in_round >> 80n !== 0n) return null
  return { round_id, answer: BigInt.asIntN(256, answer), started_at_s, updated_at_s, answered_in_round }
}

/**
 * Judges the answers to `latestRoundData`, `decimals` and `description` of one feed, read at a block of this time. A feed that does not
 * call itself what it should, an answer of zero or less, a round that was never answered or lies in the future, and an answer older than
 * the heartbeat and a tenth are refused; hours in which the market of the feed is closed do not count. Errs towards refusing.
 */
export function readFeed(feed: Feed, answers: readonly [CallAnswer, CallAnswer, CallAnswer], at_s: number): Reading {
  const [latest, decimals, description] = answers
  if (!latest.ok || !decimals.ok || !description.ok) return { ok: false, reason: 'feed_unreadable' }
  const round = readRound(latest.data)
  const name = decodeString(description.data)
  if (round === null || name === null) return { ok: false, reason: 'feed_unreadable' }
  if (plain(name) !== plain(feed.description) || decodeUint(decimals.data) !== BigInt(feed.decimals)) {
    return { ok: false, reason: 'feed_mismatch' }
  }
  const { answer, updated_at_s, answered_in_round, round_id } = round
  if (answer <= 0n || updated_at_s === 0n || updated_at_s > BigInt(at_s) || answered_in_round < round_id) {
    return { ok: false, reason: 'round_invalid' }
  }
  const updated = Number(updated_at_s)
  const age_s = at_s - updated
  const counted_s = feed.market_hours ? age_s - closedSeconds(updated, at_s) : age_s
  if (counted_s * 10 > feed.heartbeat_s * 11) return { ok: false, reason: 'feed_stale' }
  const price = fraction(answer, 10n ** BigInt(feed.decimals))
  return { ok: true, price, updated_at_s: updated, age_s, market_closed: feed.market_hours && isFxClosed(at_s) }
}

export type SequencerFault = 'sequencer_unreadable' | 'sequencer_down' | 'sequencer_recovering'

/** For so long after the sequencer came back, prices may be from before; Chainlink's own advice for L2 networks. */
const RECOVERY_S = 3_600n

/** Null when the sequencer is up, and has been for an hour. Its feed answers 0 for up and 1 for down. */
export function sequencerFault(latest: CallAnswer, at_s: number): SequencerFault | null {
  const round = latest.ok ? readRound(latest.data) : null
  if (round === null || round.started_at_s === 0n || (round.answer !== 0n && round.answer !== 1n)) return 'sequencer_unreadable'
  if (round.answer === 1n) return 'sequencer_down'
  return BigInt(at_s) - round.started_at_s <= RECOVERY_S ? 'sequencer_recovering' : null
}

/** Feeds differ in how they space and case their names. */
function plain(name: string): string {
  return name.replaceAll(' ', '').toUpperCase()
}
