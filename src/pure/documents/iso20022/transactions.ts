/** Checks a list of transactions that stands beside a payload, or in place of a message. */
import { cutText } from '../../cut-text.ts'
import { AmountText, decimalText, equalsSum, ExactSum, scaled } from './decimal.ts'
import type { Details, Findings } from './findings.ts'
import { bicFault, currencyInfo, ibanFault, isExactLei } from './identifiers.ts'
import type { JsonNode } from './json-tree.ts'
import type { RuleCode } from './rule-table.ts'
import { TextSet } from './text-set.ts'

interface ListedParty {
  iban?: string | undefined
  bic?: string | undefined
  lei?: string | undefined
}

export interface ListedTransaction extends ListedParty {
  end_to_end_id?: string | undefined
  /** Decimal text; a number has lost its literal, but not its value. */
  amount?: string | number | undefined
  currency?: string | undefined
  debtor?: ListedParty | undefined
  creditor?: ListedParty | undefined
}

/** Totals that somebody states; null where nobody does. */
export interface StatedTotals {
  count: string | null
  sum: string | null
}

export interface ListTotals {
  count: number
  /** In 10^-5; null when an amount is missing or unreadable. */
  sum: bigint | null
  currencies: string[]
}

const COUNT_KEYS = new Set(['NbOfTxs', 'nb_of_txs', 'number_of_transactions', 'tx_count'])
const SUM_KEYS = new Set(['CtrlSum', 'ctrl_sum', 'control_sum'])

/** The totals at the top of a JSON payload that is no message. */
export function statedTotals(payload: JsonNode | null): StatedTotals {
  const find = (keys: ReadonlySet<string>) => {
    const value = payload?.kind === 'object' ? payload.members.find(([key]) => keys.has(key))?.[1] : undefined
    return value?.kind === 'text' || value?.kind === 'number' ? value.text : null
  }
  return { count: find(COUNT_KEYS), sum: find(SUM_KEYS) }
}

export function checkTransactions(list: readonly ListedTransaction[], findings: Findings): ListTotals {
  const ids = new TextSet()
  const sum = new ExactSum()
  const currencies = new Set<string>()
  let readable = true
  if (list.length === 0) findings.add('T_EMPTY', { path: '/transactions', line: null }, { expected: 'at least one transaction' })
  list.forEach((transaction, index) => {
    const at = `/transactions/${index}`
    if (saysNothing(transaction)) findings.add('T_EMPTY', { path: at, line: null }, { expected: 'an identification, an amount or a party' })
    const report = (place: string, code: RuleCode, details: Details) => findings.add(code, { path: `${at}${place}`, line: null }, details)
    checkId(transaction.end_to_end_id, ids, report)
    checkParty(transaction, '', report)
    checkParty(transaction.debtor, '/debtor', report)
    checkParty(transaction.creditor, '/creditor', report)
    const amount = readAmount(transaction, report)
    if (amount === null) readable = false
    else sum.add(amount)
    if (transaction.currency !== undefined) currencies.add(transaction.currency)
  })
  return { count: list.length, sum: readable ? sum.total() : null, currencies: [...currencies] }
}

/** Neither it nor its parties have anything in them. */
function saysNothing({ debtor = {}, creditor = {}, ...own }: ListedTransaction): boolean {
  return [own, debtor, creditor].every((part) => Object.values(part).every((value) => value === undefined))
}

type Report = (place: string, code: RuleCode, details: Details) => void

function checkId(id: string | undefined, ids: TextSet, report: Report): void {
  if (id === undefined) return
  if (id.trim() !== id || id.includes('  ')) report('/end_to_end_id', 'ID_WHITESPACE', { found: id })
  if (id.startsWith('/') || id.endsWith('/') || id.includes('//')) report('/end_to_end_id', 'ID_SLASH', { found: id })
  if (id !== 'NOTPROVIDED' && ids.push(id).add() === 'same') report('/end_to_end_id', 'T_E2E_DUPLICATE', { found: id })
}

function checkParty(party: ListedParty | undefined, at: string, report: Report): void {
  if (party?.iban !== undefined) {
    const fault = ibanFault(party.iban)
    if (fault !== null) report(`${at}/iban`, fault.code, { found: party.iban, ...fault.says })
  }
  if (party?.bic !== undefined) {
    const fault = bicFault(party.bic, 2014)
    if (fault !== null) report(`${at}/bic`, fault, { found: party.bic })
  }
  if (party?.lei !== undefined && !isExactLei(party.lei)) report(`${at}/lei`, 'LEI_CHECK', { found: party.lei })
}

function readAmount({ amount, currency }: ListedTransaction, report: Report): AmountText | null {
  const info = currency === undefined ? null : currencyInfo(currency)
  if (info !== null && info.fault !== null) report('/currency', info.fault, { found: currency ?? null })
  if (amount === undefined) return null
  const text = String(amount)
  const read = new AmountText()
  const fault = read.read(text)
  if (fault === 'digits') report('/amount', 'AMT_DIGITS', { found: text })
  else if (fault !== null) report('/amount', 'AMT_LEXICAL', { found: text, expected: 'a decimal such as 1234.56' })
  if (fault !== null) return null
  const digits = info?.minor_units ?? null
  if (digits !== null && read.fraction > digits)
    report('/amount', 'AMT_FRACTION', { found: text, expected: `${digits} digits behind the point` })
  return read
}

/** Holds the list against totals that somebody states. */
export function compareTotals({ count, sum }: ListTotals, stated: StatedTotals, findings: Findings): void {
  const place = { path: '/transactions', line: null }
  if (stated.count !== null && scaled(stated.count, 0) !== BigInt(count)) {
    findings.add('T_COUNT', place, { found: String(count), expected: cutText(stated.count, 64) })
  }
  if (stated.sum !== null && sum !== null && !equalsSum(stated.sum, sum)) {
    findings.add('T_CTRLSUM', place, { found: decimalText(sum, 2), expected: cutText(stated.sum, 64) })
  }
}
