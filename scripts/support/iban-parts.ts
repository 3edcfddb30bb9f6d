/** A labelled half-open range of the BBAN, counted from 0. */
export type Part = [label: string, start: number, end: number]

/**
 * Reviewed layouts for countries whose registry row names fewer parts than the BBAN has: national check digits, account types
 * and currencies are in the structure or in the publications of the national bank, not in the registry's position fields.
 * Sources: the registry's own structure column and examples (release 102, June 2026), ECBS TR201 v3.23 (February 2007), and
 * the position fixes of mdomke/schwifty (MIT, 2026-07-23). Everything that is not here is bank, branch, then account.
 */
export const LAYOUTS: Readonly<Record<string, readonly Part[]>> = {
  BA: [['bank', 0, 3], ['branch', 3, 6], ['account', 6, 14], ['national_check', 14, 16]],
  BE: [['bank', 0, 3], ['account', 3, 10], ['national_check', 10, 12]],
  BG: [['bank', 0, 4], ['branch', 4, 8], ['account_type', 8, 10], ['account', 10, 18]],
  BI: [['bank', 0, 5], ['branch', 5, 10], ['account', 10, 21], ['national_check', 21, 23]],
  BR: [['bank', 0, 8], ['branch', 8, 13], ['account', 13, 23], ['account_type', 23, 24], ['owner', 24, 25]],
  CZ: [['bank', 0, 4], ['account_prefix', 4, 10], ['account', 10, 20]],
  DJ: [['bank', 0, 5], ['branch', 5, 10], ['account', 10, 21], ['national_check', 21, 23]],
  EE: [['bank', 0, 2], ['account', 2, 15], ['national_check', 15, 16]],
  ES: [['bank', 0, 4], ['branch', 4, 8], ['national_check', 8, 10], ['account', 10, 20]],
  FI: [['bank', 0, 3], ['account', 3, 13], ['national_check', 13, 14]],
  FR: [['bank', 0, 5], ['branch', 5, 10], ['account', 10, 21], ['national_check', 21, 23]],
  GT: [['bank', 0, 4], ['currency', 4, 6], ['account_type', 6, 8], ['account', 8, 24]],
  HU: [['bank', 0, 3], ['branch', 3, 7], ['national_check', 7, 8], ['account', 8, 23], ['national_check', 23, 24]],
  IS: [['bank', 0, 2], ['branch', 2, 4], ['account_type', 4, 6], ['account', 6, 12], ['owner', 12, 22]],
  IT: [['national_check', 0, 1], ['bank', 1, 6], ['branch', 6, 11], ['account', 11, 23]],
  MC: [['bank', 0, 5], ['branch', 5, 10], ['account', 10, 21], ['national_check', 21, 23]],
  ME: [['bank', 0, 3], ['account', 3, 16], ['national_check', 16, 18]],
  MK: [['bank', 0, 3], ['account', 3, 13], ['national_check', 13, 15]],
  MR: [['bank', 0, 5], ['branch', 5, 10], ['account', 10, 21], ['national_check', 21, 23]],
  MU: [['bank', 0, 6], ['branch', 6, 8], ['account', 8, 20], ['reserved', 20, 23], ['currency', 23, 26]],
  NO: [['bank', 0, 4], ['account', 4, 10], ['national_check', 10, 11]],
  PT: [['bank', 0, 4], ['branch', 4, 8], ['account', 8, 19], ['national_check', 19, 21]],
  RS: [['bank', 0, 3], ['account', 3, 16], ['national_check', 16, 18]],
  SC: [['bank', 0, 6], ['branch', 6, 8], ['account', 8, 24], ['currency', 24, 27]],
  SI: [['bank', 0, 5], ['account', 5, 13], ['national_check', 13, 15]],
  SK: [['bank', 0, 4], ['account_prefix', 4, 10], ['account', 10, 20]],
  SM: [['national_check', 0, 1], ['bank', 1, 6], ['branch', 6, 11], ['account', 11, 23]],
  ST: [['bank', 0, 4], ['branch', 4, 8], ['account', 8, 19], ['national_check', 19, 21]],
  TL: [['bank', 0, 3], ['account', 3, 17], ['national_check', 17, 19]],
  TN: [['bank', 0, 2], ['branch', 2, 5], ['account', 5, 18], ['national_check', 18, 20]],
  TR: [['bank', 0, 5], ['reserved', 5, 6], ['account', 6, 22]],
  XK: [['bank', 0, 2], ['branch', 2, 4], ['account', 4, 14], ['national_check', 14, 16]],
}
