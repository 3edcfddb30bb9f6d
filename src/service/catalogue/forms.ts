/**
 * What the patterns of the input schemas ask for, in words and with an example, by pattern: people are told the form, never the regular
 * expression. A test goes through the registry and fails on a pattern that has no words here.
 */
const DECIMAL = 'decimal text with a point and no separators, for example 1250.50'
const ADDRESS = '0x and 40 hexadecimal digits, for example 0x1000000000000000000000000000000000000001'
const BYTES_32 = '0x and 64 hexadecimal digits'
const WHOLE = 'a whole number in decimal digits, for example 1000000'

const FORMS: Readonly<Record<string, string>> = {
  '^0x[0-9a-fA-F]{40}$': ADDRESS,
  '^0x[0-9a-fA-F]{64}$': `${BYTES_32}, for example 0x${'0'.repeat(63)}1`,
  '^0x[0-9a-fA-F]{2}$': '0x and 2 hexadecimal digits, for example 0x7f',
  '^(?:0x[0-9a-fA-F]{40}|c402:[a-z0-9._-]{1,64})$': `${ADDRESS}; or c402: and a name, for example c402:acme.shop`,
  '^(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}|latest|earliest|pending|finalized|safe)$':
    'a block number, for example 19000000 or 0x121eac0, or one of latest, earliest, pending, finalized, safe',
  '^[1-9][0-9]{0,29}$': `${WHOLE}, without a leading 0`,
  '^(?:0|[1-9][0-9]{0,29})$': `${WHOLE}, without a leading 0`,
  '^[0-9]{1,15}$': 'seconds since 1970 in decimal digits, for example 1795300000',
  '^[0-9]{1,18}$': WHOLE,
  '^[0-9]{1,18}(\\.[0-9]{1,5})?$': `${DECIMAL}; at most 5 decimals`,
  '^[0-9]{1,12}(\\.[0-9]{1,18})?$': DECIMAL,
  '^[0-9]{1,15}(\\.[0-9]{1,18})?$': DECIMAL,
  '^(?=[0-9.]*[1-9])[0-9]{1,15}(\\.[0-9]{1,18})?$': `${DECIMAL}; more than 0`,
  '^(100(\\.0{1,12})?|[0-9]{1,2}(\\.[0-9]{1,12})?)$': 'a percentage from 0 to 100 as decimal text, for example 2.5',
  '^[A-Za-z0-9._:-]{1,128}$': '1 to 128 of the letters A-Z and a-z, digits and . _ : -, for example INV-2026-0042',
  '^inv_[0-9a-z]{12,26}$': 'inv_ and 12 to 26 small letters and digits, for example inv_01jd8z6k3q5w',
  '^[A-Za-z]{2}$': 'two letters of ISO 3166-1, for example DE',
  '^https?:\\/\\/[^\\s]+$': 'an address that begins with http:// or https://, for example https://example.com/page',
}

/** Words for a pattern as zod names it in an issue, between slashes; null for one that has none. */
export function formOf(pattern: string): string | null {
  return FORMS[pattern.replace(/^\/|\/[a-z]*$/g, '')] ?? null
}
