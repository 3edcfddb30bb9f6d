/** Date of a bank entry as the document writes it. */
export interface EntryDate {
  /** `BookgDt`: booking date. `ValDt`: value date, which counts where the entry has no booking date. */
  field: 'BookgDt' | 'ValDt'
  /** Date or date and time of ISO 8601. */
  text: string
}

/** Why the date of an entry does not fit an invoice. */
export interface EntryDateFault {
  field: 'BookgDt' | 'ValDt'
  found: string | null
  expected: string
  message: string
}

const DAY_MS = 86_400_000

/**
 * Null when the entry can be about the invoice: its date lies between one day before the creation of the invoice and one day from now. The days
 * are for time zones. A date without a time counts as a whole day; a time without a zone is read as UTC.
 */
export function entryDateFault(dated: EntryDate | null, created_ms: number, now_ms: number): EntryDateFault | null {
  const [first_ms, last_ms] = [created_ms - DAY_MS, now_ms + DAY_MS]
  const period = dated === null ? null : periodOf(dated.text)
  if (period !== null && period.to_ms > first_ms && period.from_ms <= last_ms) return null
  const { field, text: found } = dated ?? { field: 'BookgDt', text: null }
  const expected = `${dayText(first_ms)} to ${dayText(last_ms)}`
  return { field, found, expected, message: faultText(field, found, expected, period === null) }
}

function faultText(field: EntryDate['field'], found: string | null, expected: string, unreadable: boolean): string {
  const name = field === 'BookgDt' ? 'booking date (BookgDt)' : 'value date (ValDt), which counts where there is no booking date,'
  const range = `expected ${expected}, from a day before the invoice was created to a day from now`
  if (found === null) return `The entry has no booking date (BookgDt) and no value date (ValDt); ${range}. Send a statement with dates.`
  if (unreadable) return `The ${name} of the entry is not a valid date: found ${found}; ${range}.`
  return `The ${name} of the entry is ${found}; ${range}. A transfer of another time is not a payment of this invoice: check the reference.`
}

const DATE = /^(\d{4}-\d{2}-\d{2})(?:Z|[+-]\d{2}:\d{2})?$/
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:\d{2})?$/

/** Whole day of a date, moment of a time; null if it is neither. */
function periodOf(text: string): { from_ms: number; to_ms: number } | null {
  const [, day] = DATE.exec(text) ?? []
  if (day !== undefined) {
    const from_ms = dayStart(day)
    return from_ms === null ? null : { from_ms, to_ms: from_ms + DAY_MS }
  }
  const [, date = '', clock = '', zone = 'Z'] = TIME.exec(text) ?? []
  const at_ms = Date.parse(`${date}T${clock}${zone}`)
  return Number.isNaN(at_ms) || dayStart(date) === null ? null : { from_ms: at_ms, to_ms: at_ms + 1 }
}

/** Start of a day in UTC; null for a day that the calendar does not have. */
function dayStart(day: string): number | null {
  const start_ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(start_ms) || dayText(start_ms) !== day ? null : start_ms
}

function dayText(time_ms: number): string {
  return new Date(time_ms).toISOString().slice(0, 10)
}
