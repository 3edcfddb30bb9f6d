import { readEvmAddress } from '../checks/evm-address.ts'
import { formatMinorUnits, currencyDigits, parseAmount } from '../documents/reconcile/values.ts'
import { compare, readDecimal } from '../market/fraction.ts'
import { unpayableAddress, unpayableText } from '../contracts/unpayable.ts'
import { type BankTerms, bankFault, readCreditorReference, plainIban } from './links.ts'

const BANK_FAULTS = {
  bank_iban: 'bank.iban must be an IBAN with valid check digits, such as DE89 3704 0044 0532 0130 00.',
  bank_bic: 'bank.bic must be a BIC of 8 or 11 characters in capitals, such as COBADEFFXXX; leave it out if you do not know it.',
  bank_name: 'bank.name must name the holder of the account in 1 to 70 characters of one line, without control or invisible characters.',
  bank_currency: 'bank.currency must be a current currency of ISO 4217 in three capital letters, such as EUR.',
  bank_amount:
    'bank.amount must be the amount that is due at the bank, above zero and at most 999999999.99, with no more decimals than the currency has, ' +
    'such as 45.00.',
  bank_reference:
    'bank.reference must be a creditor reference (ISO 11649: RF, two check digits, up to 21 letters and digits), such as RF18 5390 0754 7034; ' +
    'leave it out, and the invoice gets its own.',
} as const

type BankFault = keyof typeof BANK_FAULTS

/** Bank details as the creator of an invoice sends them. */
interface BankAsked {
  name: string
  iban: string
  bic?: string | undefined
  currency: string
  amount: number | string
  reference?: string | undefined
}

const BANK_AMOUNT_MOST = 999_999_999

/** Reads bank details, each part by the check of its identifier. */
function readBank(asked: BankAsked): { ok: true; bank: BankTerms } | { ok: false; fault: BankFault; field: keyof BankAsked } {
  const { bic = null, currency } = asked
  const name = asked.name.normalize('NFC').trim()
  const bank_fault = bankFault({ account_name: name, iban: asked.iban, bic, bank_name: null, country: '', currency })
  if (bank_fault !== null) {
    const field = BANK_FIELDS[bank_fault.field]
    return { ok: false, fault: `bank_${field}`, field }
  }
  const amount_minor = bankAmountOf(asked.amount, currency)
  if (amount_minor === null) return { ok: false, fault: 'bank_amount', field: 'amount' }
  const reference = asked.reference === undefined ? null : readCreditorReference(asked.reference)
  if (asked.reference !== undefined && reference === null) return { ok: false, fault: 'bank_reference', field: 'reference' }
  const amount = formatMinorUnits(amount_minor, currencyDigits(currency))
  return { ok: true, bank: { name, iban: plainIban(asked.iban), bic, currency, amount, reference } }
}

const BANK_FIELDS = { IBAN: 'iban', NAME: 'name', BIC: 'bic', CURRENCY: 'currency' } as const

function bankAmountOf(given: number | string, currency: string): bigint | null {
  const text = String(given)
  const read = /^[0-9]{1,12}(?:\.[0-9]{1,18})?$/.test(text) ? parseAmount(text, currency) : null
  if (read === null || !read.ok || read.amount_minor <= 0n) return null
  return read.amount_minor < BigInt(BANK_AMOUNT_MOST + 1) * 10n ** BigInt(currencyDigits(currency)) ? read.amount_minor : null
}

/** Requested invoice, under one name for each field. */
export interface InvoiceAsked {
  amount: number | string
  merchant: string
  client_name?: string | undefined
  memo?: string | undefined
  referrer?: string | undefined
  order_number?: string | undefined
  return_url?: string | undefined
  due_days?: number | undefined
  bank?: BankAsked | undefined
}

export const INVOICE_FAULTS = {
  amount_not_positive: 'The amount must be above zero.',
  amount_precision: 'USDC has six decimals; the amount has more.',
  amount_above_ceiling: 'The amount is above what one invoice may ask for here.',
  merchant_checksum: 'The checksum of merchant (EIP-55) is broken, so a digit or a capital is wrong: copy the address again.',
  merchant_zero: 'The merchant is the zero address, which has no known key: money sent there is lost.',
  merchant_is_token: 'The merchant is a token contract; money sent there is lost.',
  merchant_unpayable: 'The merchant is not an account or a wallet; money sent there is lost.',
  merchant_is_deposit:
    'merchant is the deposit address of an invoice here, whose contract forwards only to the merchant of that invoice. Expected the address of an ' +
    'account or a wallet of the merchant.',
  referrer_checksum: 'The checksum of referrer (EIP-55) is broken, so a digit or a capital is wrong: copy the address again.',
  self_referral: 'The merchant cannot be the referrer.',
  referrer_zero: 'The referrer is the zero address, which has no known key: leave the referrer out.',
  referrer_unpayable: 'The referrer is not an account or a wallet: leave the referrer out.',
  text_unprintable: 'client_name, memo and order_number must not hold control, direction or other invisible format characters.',
  return_url_form:
    'return_url must be an https address on port 443 of a host with a domain name, such as https://shop.example/thanks, without user, password ' +
    'or fragment.',
  ...BANK_FAULTS,
} as const

type InvoiceFault = keyof typeof INVOICE_FAULTS

export interface InvoiceContent {
  amount_minor: bigint
  merchant: string
  client_name: string | null
  memo: string | null
  referrer: string | null
  /** Number of the order in the shop; one line. */
  order_number: string | null
  /** Page of the shop, to which the payment page links after the payment. As a browser writes it, with the host in ASCII. */
  return_url: string | null
  /** Days for which it can be paid in time; null for as long as an invoice can be open. */
  due_days: number | null
  /** Account of the merchant at a bank, which the payer may pay instead. */
  bank: BankTerms | null
}

export type InvoiceReading = { ok: true; content: InvoiceContent } | ({ ok: false } & InvoiceRefusal)

/** Why an invoice is not made: the field of the request, and a sentence that says what is wrong with it. */
export interface InvoiceRefusal {
  fault: InvoiceFault
  field: string
  message: string
}

const DECIMALS = 6

/** Reads what was asked; forms and lengths have been checked before. A number is taken by its shortest decimal text. */
export function readInvoice(asked: InvoiceAsked, { ceiling_minor, token }: { ceiling_minor: bigint; token: string }): InvoiceReading {
  const amount = amountOf(asked.amount)
  if (amount === null) return fault('amount_precision', 'amount_usdc')
  if (amount <= 0n) return fault('amount_not_positive', 'amount_usdc')
  if (amount > ceiling_minor) return fault('amount_above_ceiling', 'amount_usdc')
  if (isMistyped(asked.merchant)) return fault('merchant_checksum', 'merchant')
  const merchant = lower(asked.merchant)
  const unpayable = recipientFault('merchant', merchant, token)
  if (unpayable !== null) return unpayable
  if (asked.referrer !== undefined && isMistyped(asked.referrer)) return fault('referrer_checksum', 'referrer')
  const referrer = asked.referrer === undefined ? null : lower(asked.referrer)
  const lost = referrer === null ? null : recipientFault('referrer', referrer, token)
  if (lost !== null) return lost
  if (referrer === merchant) return fault('self_referral', 'referrer')
  const client_name = textOf(asked.client_name)
  const memo = textOf(asked.memo)
  if (client_name === undefined) return fault('text_unprintable', 'client_name')
  if (memo === undefined) return fault('text_unprintable', 'memo')
  const order_number = textOf(asked.order_number)
  if (order_number === undefined || order_number?.includes('\n') === true) return fault('text_unprintable', 'order_number')
  const return_url = returnUrl(asked.return_url ?? '')
  if (return_url === undefined) return fault('return_url_form', 'return_url')
  const due_days = asked.due_days ?? null
  const account = asked.bank === undefined ? null : readBank(asked.bank)
  if (account?.ok === false) return fault(account.fault, `bank/${account.field}`)
  const bank = account?.bank ?? null
  return { ok: true, content: { amount_minor: amount, merchant, client_name, memo, referrer, order_number, return_url, due_days, bank } }
}

/** Null for more than six decimals that are not zero. */
function amountOf(given: number | string): bigint | null {
  const match = /^([0-9]+)(?:\.([0-9]+))?$/.exec(typeof given === 'number' ? String(given) : given)
  if (match?.[1] === undefined) return null
  const part = (match[2] ?? '').replace(/0+$/, '')
  return part.length > DECIMALS ? null : BigInt(match[1] + part.padEnd(DECIMALS, '0'))
}

/** Compares two amounts by value: 10 equals "10.00". A value that is not an amount equals only itself. */
export function sameAmount(one: unknown, other: unknown): boolean {
  const [left, right] = [readDecimal(String(one)), readDecimal(String(other))]
  return left === null || right === null ? String(one) === String(other) : compare(left, right) === 0
}

/**
 * Empty text says nothing; undefined for text that could deceive. Line ends are kept in a memo, as a page shows them, each as one line feed; a
 * tab is a space.
 */
function textOf(given: string | undefined): string | null | undefined {
  const text = given?.replace(/\r\n?/g, '\n').replaceAll('\t', ' ').trim() ?? ''
  if (text === '') return null
  return /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', '').replace(JOINERS, '')) ? undefined : text
}

/**
 * Empty text says nothing; undefined for an address that people cannot judge by its host, or that no shop has in public. The rules of webhooks, and
 * a host with a name, since nothing resolves it.
 */
function returnUrl(given: string): string | null | undefined {
  if (given === '') return null
  const url = /^https:\/\/[!-~]+$/i.test(given) && URL.canParse(given) ? new URL(given) : null
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '' || url.port !== '') return undefined
  return /^[^.]+(?:\.[^.]+)*\.[a-z][a-z0-9-]*$/.test(url.hostname) ? url.href : undefined
}

/** Scripts with joining letters or a virama, in which RFC 5892, appendix A, permits joiners. */
const SHAPING = [
  'Arab',
  'Syrc',
  'Mong',
  'Nkoo',
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
  'Knda',
  'Mlym',
  'Sinh',
  'Khmr',
  'Mymr',
]
const LETTER = `[[\\p{L}\\p{M}]&&[${SHAPING.map((script) => `\\p{scx=${script}}`).join('')}]]`
/**
 * Joiners that shape what is seen: between letters of those scripts, as in Persian, and within one emoji. Elsewhere they only make texts differ
 * that look the same.
 */
const JOINERS = new RegExp(`(?<=${LETTER})[\\u200C\\u200D](?=${LETTER})|(?<=[\\p{ExtPict}\\p{EMod}\\uFE0F])\\u200D(?=\\p{ExtPict})`, 'gv')

/** Mixed capitals and small letters are a checksum (EIP-55); when it is wrong, the address was mistyped. */
function isMistyped(address: string): boolean {
  return readEvmAddress(address)?.checksum === 'broken'
}

function lower(address: string): string {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Refuses an address that no payment may go to, with its name; null for an account or a wallet. */
function recipientFault(field: 'merchant' | 'referrer', address: string, token: string): InvoiceReading | null {
  const found = unpayableAddress(address, token)
  if (found === null) return null
  const is_token = found.kind === 'token' && field === 'merchant'
  const code = found.kind === 'zero' ? (`${field}_zero` as const) : is_token ? 'merchant_is_token' : (`${field}_unpayable` as const)
  return fault(code, field, unpayableText(field, address, found))
}

function fault(code: InvoiceFault, field: string, message: string = INVOICE_FAULTS[code]): InvoiceReading {
  return { ok: false, fault: code, field, message }
}
