import parsePhoneNumber from 'libphonenumber-js/max'

/**
 * What the national numbering plans say of a number in E.164 form: libphonenumber-js 1.13.16 with its full metadata (Google's
 * libphonenumber, November 2026). Plans change monthly, so a range opened since then is missing: errs towards `valid: false`.
 */
export interface PhonePlan {
  /** As it is dialled from abroad: without a prefix that is dialled inside the country only. All else tells of this number. */
  e164: string
  calling_code: string
  /** Alpha-2 code; null for numbers of no country (satellite, freephone) and where several share the calling code and none claims it. */
  region: string | null
  national_number: string
  /** Fits the lengths of the plan. */
  possible: boolean
  /** Lies in a range that the plan assigns. */
  valid: boolean
  type: string | null
  international: string
  national: string
  rfc3966: string
}

/** Date of the metadata. */
export const PHONE_PLANS_DATE = '2026-11-10'
export const PHONE_PLANS_AS_OF = `libphonenumber-js 1.13.16, ${PHONE_PLANS_DATE}`

/** `e164` is a plus sign and 8 to 15 digits; null when no plan has the calling code. */
export function phonePlan(e164: string): PhonePlan | null {
  const number = parsePhoneNumber(e164)
  if (number === undefined) return null
  return {
    e164: number.number,
    calling_code: number.countryCallingCode,
    region: number.country ?? null,
    national_number: number.nationalNumber,
    possible: number.isPossible(),
    valid: number.isValid(),
    type: number.getType()?.toLowerCase() ?? null,
    international: number.formatInternational(),
    national: number.formatNational(),
    rfc3966: number.getURI(),
  }
}
