const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** Duration in its two largest units, rounded down; a unit that is 0 is left out: "2 d 3 h", "20 h 11 min", "5 min", "0 s". */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const first = UNITS.findIndex(([, length]) => whole >= length)
  if (first === -1) return '0 s'
  const parts = UNITS.slice(first, first + 2).map(([name, length], index) => {
    const count = Math.floor((index === 0 ? whole : whole % (UNITS[first]?.[1] ?? 1)) / length)
    return count === 0 ? '' : `${count} ${name}`
  })
  return parts.filter((part) => part !== '').join(' ')
}

/** Duration of a wait, rounded up to the minute: "20 h 11 min". */
export function waitText(seconds: number): string {
  return durationText(Math.max(1, Math.ceil(seconds / 60)) * 60)
}
