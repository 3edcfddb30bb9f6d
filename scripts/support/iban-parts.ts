/**
 * Reviewed layouts, as label:length from the first character of the BBAN, for countries whose registry row names fewer parts than
 * the BBAN has: national check digits, account types and currencies are in the structure or in the publications of the national
 * bank, not in the registry's position fields. Sources: the registry's own structures and examples (release 102, June 2026), ECBS
 * TR201 v3.23 (February 2007), and the position fixes of mdomke/schwifty (MIT, 2026-07-23). Every other country has bank, branch,
 * account.
 */
export const LAYOUTS: Readonly<Record<string, string>> = {
  BA: 'bank:3 branch:3 account:8 national_check:2',
  BE: 'bank:3 account:7 national_check:2',
  BG: 'bank:4 branch:4 account_type:2 account:8',
  BI: 'bank:5 branch:5 account:11 national_check:2',
  BR: 'bank:8 branch:5 account:10 account_type:1 owner:1',
  CZ: 'bank:4 account_prefix:6 account:10',
  DJ: 'bank:5 branch:5 account:11 national_check:2',
  EE: 'bank:2 account:13 national_check:1',
  ES: 'bank:4 branch:4 national_check:2 account:10',
  FI: 'bank:3 account:10 national_check:1',
  FR: 'bank:5 branch:5 account:11 national_check:2',
  GT: 'bank:4 currency:2 account_type:2 account:16',
  HU: 'bank:3 branch:4 national_check:1 account:15 national_check:1',
  IS: 'bank:2 branch:2 account_type:2 account:6 owner:10',
  IT: 'national_check:1 bank:5 branch:5 account:12',
  MC: 'bank:5 branch:5 account:11 national_check:2',
  ME: 'bank:3 account:13 national_check:2',
  MK: 'bank:3 account:10 national_check:2',
  MR: 'bank:5 branch:5 account:11 national_check:2',
  MU: 'bank:6 branch:2 account:12 reserved:3 currency:3',
  NO: 'bank:4 account:6 national_check:1',
  PT: 'bank:4 branch:4 account:11 national_check:2',
  RS: 'bank:3 account:13 national_check:2',
  SC: 'bank:6 branch:2 account:16 currency:3',
  SI: 'bank:5 account:8 national_check:2',
  SK: 'bank:4 account_prefix:6 account:10',
  SM: 'national_check:1 bank:5 branch:5 account:12',
  ST: 'bank:4 branch:4 account:11 national_check:2',
  TL: 'bank:3 account:14 national_check:2',
  TN: 'bank:2 branch:3 account:13 national_check:2',
  TR: 'bank:5 reserved:1 account:16',
  XK: 'bank:2 branch:2 account:10 national_check:2',
}
