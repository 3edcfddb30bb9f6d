/**
 * The rules of camt.053. A masked IBAN has its row among the shared rules. Sources: the message definition reports of ISO 20022, the CGI-MP
 * and Swiss guidelines for statements, the external code sets; read in November 2026.
 */
import { ERROR, INFO, type Rule, rule, WARNING } from '../rule.ts'

const CAMT = ['camt.053'] as const

const BALANCE_RULES = {
  S_BAL_OPEN: rule(ERROR, CAMT, 'Without an opening balance the statement cannot be checked or chained.'),
  S_BAL_CLOSE: rule(ERROR, CAMT, 'Without a closing balance the statement cannot be checked or chained.'),
  S_BAL_EQ: rule(ERROR, CAMT, 'Opening balance and booked entries make the closing balance.'),
  S_BAL_SIGN: rule(WARNING, CAMT, 'A balance of zero is written as a credit.'),
  S_BAL_CCY: rule(ERROR, CAMT, 'Balances are in the currency of the account.'),
  S_BAL_DUP: rule(WARNING, CAMT, 'Readers keep the first, the last or both.'),
  S_BAL_CHAIN: rule(ERROR, CAMT, 'A statement opens with what the one before closed with: one may be missing.'),
} as const satisfies Record<string, Rule>

const ENTRY_RULES = {
  S_STS_SHAPE: rule(ERROR, CAMT, 'Up to version 04 the status is a bare code, from 08 on it is Cd or Prtry: readers drop such entries.'),
  S_STS_PENDING: rule(WARNING, CAMT, 'The entry is not booked: it is not counted, and nothing is settled by it.'),
  S_STS_PRTRY: rule(WARNING, CAMT, 'Whether the entry is booked is said in words of the bank only.'),
  S_ENTRY_CCY: rule(ERROR, CAMT, 'Entries are in the currency of the account.'),
  S_ENTRY_ZERO: rule(WARNING, CAMT, 'An entry of zero moves nothing.'),
  S_ENTRY_SUM: rule(ERROR, CAMT, 'The transactions of an entry add up to it.'),
  S_BTCH_COUNT: rule(WARNING, CAMT, 'The batch states another number of transactions than it details.'),
  S_BTCH_TOTAL: rule(WARNING, CAMT, 'The batch states another total than the entry.'),
  S_BATCH_NO_DETAILS: rule(INFO, CAMT, 'A batch without details is reconciled through PmtInfId or MsgId.'),
  S_BOOKDT_MISSING: rule(WARNING, CAMT, 'A booked entry has a booking date.'),
  S_BOOKDT_RANGE: rule(WARNING, CAMT, 'Booked outside the period of the statement.'),
  S_ACCTSVCRREF_DUP: rule(WARNING, CAMT, 'The bank’s reference stands twice: perhaps one booking, told twice.'),
  S_ENTRY_DUP: rule(WARNING, CAMT, 'Two entries of the statement say the same: perhaps one booking, told twice.'),
  S_RVSL: rule(INFO, CAMT, 'A reversal: its indicator is taken as the direction in which money moves; some banks write the opposite.'),
  S_RTR_REASON: rule(WARNING, CAMT, 'Why the payment came back is not said, or not in a known code.'),
  S_BKTXCD_MISSING: rule(ERROR, CAMT, 'Without a bank transaction code nobody knows what kind of entry it is.'),
  S_BKTXCD_DIR: rule(WARNING, CAMT, 'The bank transaction code says the other direction than the entry.'),
  S_E2E_NOTPROVIDED: rule(INFO, CAMT, 'The payer gave no end-to-end identification: it cannot serve for matching.'),
  S_CHRG_INCLUDED: rule(INFO, CAMT, 'Charges are included: what was paid and what was booked differ.'),
} as const satisfies Record<string, Rule>

const STATEMENT_RULES = {
  S_SUM_TTL: rule(ERROR, CAMT, 'Number or sum of all entries is not what the statement states.'),
  S_SUM_CDT: rule(ERROR, CAMT, 'Number or sum of credits is not what the statement states.'),
  S_SUM_DBT: rule(ERROR, CAMT, 'Number or sum of debits is not what the statement states.'),
  S_SUM_NET: rule(ERROR, CAMT, 'Credits less debits are not what the statement states, in amount or direction.'),
  S_SUM_BKTXCD: rule(WARNING, CAMT, 'Totals of a bank transaction code are not what the statement states.'),
  S_STMT_ID_DUP: rule(ERROR, CAMT, 'The identification names one statement: the second may be taken for a resend.'),
  S_SEQ_GAP: rule(WARNING, CAMT, 'Statements of an account are numbered one after the other: one is missing or came twice.'),
  S_PAGINATION: rule(ERROR, CAMT, 'Pages do not follow each other, or do not end where they say.'),
  S_COPY_DUPL: rule(WARNING, CAMT, 'The statement may be a resend: its entries must not be counted twice.'),
  S_ACCT_ID: rule(ERROR, CAMT, 'The account of the statement is not named.'),
} as const satisfies Record<string, Rule>

export const CAMT_RULES = { ...BALANCE_RULES, ...ENTRY_RULES, ...STATEMENT_RULES } as const
