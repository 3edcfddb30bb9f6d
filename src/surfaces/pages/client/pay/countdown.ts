const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

/** What is left, for the eye: two units, the seconds only within the last hour. */
export function leftText(left_s: number): string {
  if (left_s <= 0) return 'over'
  const [days, hours] = [Math.floor(left_s / DAY_S), Math.floor((left_s % DAY_S) / HOUR_S)]
  const [minutes, seconds] = [Math.floor((left_s % HOUR_S) / MINUTE_S), Math.floor(left_s % MINUTE_S)]
  if (days > 0) return `${days} d ${hours} h left`
  if (hours > 0) return `${hours} h ${minutes} min left`
  return minutes > 0 ? `${minutes} min ${String(seconds).padStart(2, '0')} s left` : `${seconds} s left`
}

export interface CountdownParts {
  /** Seen, and hidden from screen readers: they have the date beside it. */
  shown: HTMLElement
  now_s(): number
  expires_s(): number
  /** Said aloud, once each: the last hour, the last five minutes. */
  say(words: string): void
  onOver(): void
}

const SPOKEN = [
  { at_s: 5 * MINUTE_S, words: 'Less than five minutes are left to pay.' },
  { at_s: HOUR_S, words: 'Less than an hour is left to pay.' },
]

/** Counts down to the end of the invoice; stops there. */
export function countDown({ shown, now_s, expires_s, say, onOver }: CountdownParts): void {
  // What lies behind when the page opens is not said: the date is on the page.
  let said = SPOKEN.filter(({ at_s }) => expires_s() - now_s() <= at_s).length
  const tick = () => {
    const left_s = expires_s() - now_s()
    const text = leftText(left_s)
    if (shown.textContent !== text) shown.textContent = text
    const due = SPOKEN.filter(({ at_s }) => left_s <= at_s).length
    if (due > said && left_s > 0) say(SPOKEN[SPOKEN.length - due]?.words ?? '')
    said = due
    if (left_s > 0) window.setTimeout(tick, 1_000)
    else onOver()
  }
  tick()
}
