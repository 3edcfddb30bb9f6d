const DIGITS = /^[0-9]+$/
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const
const ROUTING_WEIGHTS = [3, 7, 1, 3, 7, 1, 3, 7] as const

export function areDigits(text: string): boolean {
  return DIGITS.test(text)
}

/** The day of a YYMMDD field as YYYY-MM-DD, in this century; null when it is not in the calendar. */
export function dayOf(text: string): string | null {
  if (text.length !== 6 || !areDigits(text)) return null
  const [year, month, day] = [text.slice(0, 2), text.slice(2, 4), text.slice(4)]
  const days = DAYS[Number.parseInt(month, 10) - 1] ?? 0
  const number = Number.parseInt(day, 10)
  // Every fourth year of this century is a leap year, 2000 too.
  const leap = Number.parseInt(year, 10) % 4 === 0
  if (number < 1 || number > (month === '02' && !leap ? 28 : days)) return null
  return `20${year}-${month}-${day}`
}

export function isTimeOfDay(text: string): boolean {
  return /^([01][0-9]|2[0-3])[0-5][0-9]$/.test(text)
}

export function isDayOfYear(text: string): boolean {
  return areDigits(text) && text >= '001' && text <= '366'
}

/** The check digit of eight digits of a routing number, weights 3, 7, 1; null when they are not eight digits. */
export function routingCheckDigit(eight: string): string | null {
  if (eight.length !== 8 || !areDigits(eight)) return null
  const sum = ROUTING_WEIGHTS.reduce((total, weight, index) => total + weight * (eight.charCodeAt(index) - 48), 0)
  return `${(10 - (sum % 10)) % 10}`
}

export function isRouting(nine: string): boolean {
  return nine.length === 9 && nine !== '000000000' && routingCheckDigit(nine.slice(0, 8)) === nine.charAt(8)
}

/** What may go into an answer of a text that a stranger wrote: at most 64 characters, all printable. */
export function shown(text: string): string {
  const cut = Array.from(text.slice(0, 64), (one) => {
    const code = one.codePointAt(0) ?? 0
    return code >= 0x20 && code < 0x7f ? one : `\\u{${code.toString(16)}}`
  })
  const whole = cut.join('')
  return whole.length > 64 ? whole.slice(0, 64) : whole
}
