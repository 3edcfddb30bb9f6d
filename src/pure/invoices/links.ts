import { checkBic } from '../checks/bic.ts'
import { checkCurrency } from '../checks/currency.ts'
import { checkIban, isIban } from '../checks/iban.ts'
import { checkDigits97, remainder97, checkCharacters } from '../checks/check-digits.ts'
import { parseAmount } from '../documents/reconcile/values.ts'

/** Links and references with which a wallet or a bank pays an invoice. */

/**
 * EIP-681 (final since 2017): a transfer of the token on a chain, amount in minor units. Many mobile wallets ignore it, so address and
 * amount are always shown next to it.
 */
export function tokenTransferUri(token: string, chain_id: number, merchant: string, amount_minor: bigint): string {
  return `ethereum:${token}@${chain_id}/transfer?address=${merchant}&uint256=${amount_minor}`
}

const REFERENCE_CHARS = 21

/** ISO 11649 creditor reference: RF, check digits by ISO 7064 MOD 97-10, and the last characters of the invoice's id in capitals. */
export function creditorReference(invoice_id: string): string {
  const body = invoice_id
    .slice('inv_'.length)
    .slice(-REFERENCE_CHARS)
    .replace(/[a-z]/g, (letter) => letter.toUpperCase())
  const values = Uint8Array.from(`${body}RF`, (character) => Number.parseInt(character, 36))
  return `RF${checkCharacters(checkDigits97(remainder97(values, 0, values.length)), 2)}${body}`
}

/** The operator's account, as the settings name it. */
export interface BankAccount {
  account_name: string
  iban: string
  bic: string | null
  bank_name: string | null
  country: string
  currency: string
}

/** Why an account cannot be shown; the words complete "ASSAY_BANK_X …". */
export function bankFault({
  account_name,
  iban,
  bic,
  currency,
}: BankAccount): { field: 'IBAN' | 'NAME' | 'BIC' | 'CURRENCY'; words: string } | null {
  if (!isIban(iban)) return { field: 'IBAN', words: 'must be an IBAN whose check digits hold' }
  if (account_name === '' || account_name.length > EPC_NAME_CHARS || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(account_name)) {
    return { field: 'NAME', words: `must name the holder of the account in 1 to ${EPC_NAME_CHARS} characters` }
  }
  if (bic !== null && !isPlainBic(bic))
    return { field: 'BIC', words: 'must be a BIC of 8 or 11 characters, in capitals and without spaces' }
  return isMoney(currency)
    ? null
    : { field: 'CURRENCY', words: 'must be a current currency of ISO 4217, in three capital letters such as EUR' }
}

/** It is shown as it is written. */
function isPlainBic(bic: string): boolean {
  const { valid, normalized } = checkBic(bic)
  return valid && normalized === bic
}

/** A current currency or fund: neither withdrawn, nor for tests, nor a metal. */
function isMoney(currency: string): boolean {
  const { valid, facts } = checkCurrency(currency)
  return valid && facts?.alpha === currency && (facts.kind === 'currency' || facts.kind === 'fund')
}

const EPC_NAME_CHARS = 70
const EPC_BYTES = 331

/**
 * The payload of a SEPA credit transfer QR code (EPC069-12, UTF-8): twelve lines, of which the empty last ones are left out. Without an amount
 * for the operator's account, since no exchange rate is promised. With an amount, version 001 if there is a BIC, which every reader knows, and 002 if
 * there is none. Null for an account in another currency, outside SEPA, or outside the EEA without a BIC, for an amount above 999,999,999.99, and
 * when it would exceed 331 bytes.
 */
export function epcPayload(account: Omit<BankAccount, 'country' | 'bank_name'>, reference: string, amount = ''): string | null {
  const { normalized: iban, facts } = checkIban(account.iban)
  if (account.currency !== 'EUR' || facts?.sepa_scope !== true) return null
  if (account.bic === null && !EEA.has(facts.country)) return null
  if (amount !== '' && amount.length > EPC_AMOUNT_CHARS) return null
  const version = amount === '' || account.bic === null ? '002' : '001'
  const lines = ['BCD', version, '1', 'SCT', account.bic ?? '', account.account_name, iban, amount && `EUR${amount}`, '', reference]
  const payload = lines.join('\n')
  return new TextEncoder().encode(payload).length <= EPC_BYTES ? payload : null
}

/** 999999999.99 */
const EPC_AMOUNT_CHARS = 12
/** Countries of the European Economic Area: within it a transfer needs no BIC (EPC069-12, version 002). */
const EEA = new Set('AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(' '))

/** Account of the merchant and what is due there. Part of the terms of an invoice, which never change, and of what the merchant signs. */
export interface BankTerms {
  /** Holder of the account. */
  name: string
  /** Without spaces. */
  iban: string
  bic: string | null
  /** ISO 4217. */
  currency: string
  /** Decimal text with all digits of the currency, such as 45.00; the merchant states it, no rate is promised. */
  amount: string
  /** Creditor reference (ISO 11649) of the merchant; null for the one that is derived from the id of the invoice. */
  reference: string | null
}

/** Amount due at the bank in minor units of its currency. */
export function bankDueMinor({ amount, currency }: Pick<BankTerms, 'amount' | 'currency'>): bigint {
  const read = parseAmount(amount, currency)
  return read.ok ? read.amount_minor : 0n
}

/** Reference by which a statement names the invoice. */
export function bankReference({ reference }: Pick<BankTerms, 'reference'>, invoice_id: string): string {
  return reference ?? creditorReference(invoice_id)
}

/** Text of the bank details in what the merchant signs, so that a wallet shows them. The name is last because it is free text. */
export function bankSignedText({ amount, currency, iban, bic, reference, name }: BankTerms): string {
  const parts = [bic === null ? '' : `, BIC ${bic}`, reference === null ? '' : `, reference ${reference}`]
  return `${amount} ${currency} to IBAN ${iban}${parts.join('')}, account of ${name}`
}

/** Normalises an IBAN as `checkIban` reads it: without spaces and without the word IBAN. */
export function plainIban(iban: string): string {
  return checkIban(iban).normalized
}

/** ISO 11649:2009: RF, two check digits, at most 21 letters and digits; the check is ISO 7064 MOD 97-10 with the first four moved to the end. */
const REFERENCE = /^RF[0-9]{2}[0-9A-Z]{1,21}$/
const HEAD_CHARS = 4
const BODY_CHARS = 21
/** Maximum length of the remittance text of one entry that is searched; banks pass on 140 characters, or a few lines of them. */
const TEXT_CHARS = 10_000

/** The reference in its one spelling, or null for what is none: wrong form, or check digits that do not hold. Spaces and small letters are tolerated. */
export function readCreditorReference(text: string): string | null {
  if (text.length > TEXT_CHARS) return null
  const folded = fold(text)
  return REFERENCE.test(folded) && holds(folded) ? folded : null
}

/**
 * Finds every creditor reference of full length in free text, each once, ignoring spaces that the payer or a bank inserted. Searches only
 * for references of 25 characters, as invoices have them: a shorter one cannot be separated from the words after it.
 */
export function creditorReferencesIn(lines: readonly string[]): string[] {
  const text = fold(lines.join('').slice(0, TEXT_CHARS))
  const found = new Set<string>()
  for (let at = text.indexOf('RF'); at !== -1; at = text.indexOf('RF', at + 1)) {
    const candidate = text.slice(at, at + HEAD_CHARS + BODY_CHARS)
    if (candidate.length === HEAD_CHARS + BODY_CHARS && REFERENCE.test(candidate) && holds(candidate)) found.add(candidate)
  }
  return [...found]
}

/** Ids of invoices, whose alphabet has no I, L, O and U, in free text, in capitals or not. Banks drop or exchange the low line, which is not in the character set of SEPA. */
export function invoiceIdsIn(lines: readonly string[]): string[] {
  const found = fold(lines.join('').slice(0, TEXT_CHARS)).matchAll(/INV[_.-]?([0-9A-HJKMNP-TV-Z]{26})/g)
  return [...new Set([...found].map(([, id = '']) => `inv_${id.toLowerCase()}`))]
}

function fold(text: string): string {
  return text.replace(/\s+/gu, '').replace(/[a-z]/g, (letter) => letter.toUpperCase())
}

function holds(reference: string): boolean {
  const moved = reference.slice(HEAD_CHARS) + reference.slice(0, HEAD_CHARS)
  const values = Uint8Array.from(moved, (character) => Number.parseInt(character, 36))
  return remainder97(values, 0, values.length) === 1
}
