import { ERROR, INFO, MESSAGE_KINDS, only, type Rule, rule, WARNING } from './rule.ts'

/**
 * The rules of camt.053. A masked IBAN has its row among the shared rules. Sources: the message definition reports of ISO 20022, the CGI-MP
 * and Swiss guidelines for statements, the external code sets; read in November 2026.
 */

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

/** The rules of pacs.008. Sources: the message definition reports of ISO 20022, the EPC rulebooks and CBPR+, read in November 2026. */

const PACS = ['pacs.008'] as const
const CBPR = only(['CBPR'], 'error')

/** Totals, settlement and identifications. */
const GROUP_RULES = {
  C_NBTX: rule(ERROR, PACS, 'The receiver counts the transactions.'),
  C_CTRLSUM: rule(ERROR, PACS, 'The receiver adds the settlement amounts exactly, whatever their currency.'),
  C_TTLAMT: rule(ERROR, PACS, 'The total that is settled is the sum of the settlement amounts.'),
  C_TTLAMT_CCY: rule(ERROR, PACS, 'One total is settled in one currency.'),
  C_STTLMDT_LEVEL: rule(ERROR, PACS, 'The settlement date is said once: for the message, or for each transaction.'),
  C_AMT_ZERO: rule(ERROR, PACS, 'Nothing would be settled.'),
  C_TXID_MISSING: rule(ERROR, PACS, 'Version 02 demands a transaction identification.'),
  C_TXID_DUPLICATE: rule(ERROR, PACS, 'Returns and recalls refer to one transaction by it.'),
  C_INSTRID_DUPLICATE: rule(ERROR, PACS, 'The instructed agent takes the second for a repetition.'),
  C_UETR_MISSING: rule(only(['CBPR', 'SEPA'], 'error'), PACS, 'The payment is followed across banks by its UETR.'),
  C_E2E_EMPTY: rule(ERROR, PACS, 'The payment cannot be reconciled; NOTPROVIDED says that there is none.'),
  C_E2E_DUPLICATE: rule(WARNING, PACS, 'Legal, but the payments cannot be told apart at their end.'),
  C_SINGLE_TX: rule(CBPR, PACS, 'CBPR+ carries one transaction a message.'),
  C_STTLMMTD_CLRG: rule(ERROR, PACS, 'Settlement through clearing needs the clearing system.'),
  C_STTLMMTD_COVE: rule(ERROR, PACS, 'A cover payment moves over reimbursement agents; none is named.'),
  C_STTLMMTD_REIMB: rule(ERROR, PACS, 'Settlement on accounts between the two agents has no reimbursement agents.'),
  C_XPRY: rule(ERROR, PACS, 'The message had expired before it was made.'),
} as const satisfies Record<string, Rule>

/** Agents, parties and the header around the message. */
const AGENT_RULES = {
  C_INSTGAGT: rule(CBPR, PACS, 'CBPR+ names instructing and instructed agent by BIC.'),
  C_AGENT_LEVEL: rule(ERROR, PACS, 'The agent is named for the message or for each transaction, not both.'),
  C_HDR_BIC: rule(CBPR, PACS, 'The header comes from the instructing agent and goes to the instructed one.'),
  C_HDR_MSGDEF: rule(ERROR, PACS, 'The header announces another message than the document is.'),
  C_HDR_BIZMSG: rule(ERROR, PACS, 'Header and message carry one identification.'),
  C_HDR_PRTY: rule(CBPR, PACS, 'Header and payment state one priority.'),
  C_HDR_BIZSVC: rule(CBPR, PACS, 'CBPR+ carries a customer credit transfer under swift.cbprplus or swift.cbprplus.stp.'),
  C_PREV_AGENT_ORDER: rule(ERROR, PACS, 'Agents in a row are filled from the first.'),
  C_AGENT_NAME_ADDR: rule(CBPR, PACS, 'Name and address of an agent stand together or not at all.'),
  C_DBTR_ID: rule(ERROR, PACS, 'Nobody can tell who pays: no name, account or identification.'),
} as const satisfies Record<string, Rule>

/** Conversion, charges, instructions and remittance. */
const TRANSFER_RULES = {
  C_XCHGRATE_SAMECCY: rule(ERROR, PACS, 'A rate between equal currencies means nothing.'),
  C_XCHGRATE_MISSING: rule(WARNING, PACS, 'The currencies differ and no rate says how one became the other.'),
  C_XCHG_INCONSISTENT: rule(WARNING, PACS, 'Instructed amount and rate give another settlement amount, in either way of quoting.'),
  C_CHRG_CRED: rule(ERROR, PACS, 'When the creditor bears the charges they are told, be they zero.'),
  C_CHRG_DEBT: rule(ERROR, PACS, 'When the debtor bears the charges they are told at most once.'),
  C_CHRG_DIFF: rule(ERROR, PACS, 'Money is missing between instructed and settled amount, and no charges say why.'),
  C_CHRG_SUM: rule(WARNING, PACS, 'The charges do not make up what lies between instructed and settled amount.'),
  C_SLEV: rule(only(['SEPA'], 'error'), PACS, 'SEPA knows SLEV only.'),
  C_INSTR_CODES: rule(ERROR, PACS, 'Instructions to the creditor agent contradict or repeat each other.'),
  C_GPI_SVCLVL: rule(CBPR, PACS, 'Of the tracked services only G001 is that of a customer credit transfer.'),
  C_RMT_BOTH: rule(only(['SEPA', 'CBPR'], 'error'), PACS, 'Remittance is structured or unstructured.'),
  C_RMT_RLTD: rule(ERROR, PACS, 'Remittance travels in the message or on its own, not both.'),
  C_STRD_9000: rule(ERROR, PACS, 'Networks carry at most 9,000 characters of structured remittance.'),
} as const satisfies Record<string, Rule>

export const PACS_RULES = { ...GROUP_RULES, ...AGENT_RULES, ...TRANSFER_RULES } as const

/** The rules of pain.001. Sources: the message definition reports of ISO 20022, the EPC rulebooks, CBPR+ and the Swiss guidelines. */

const PAIN = ['pain.001'] as const

export const PAIN_RULES = {
  P_NBTX_GROUP: rule(ERROR, PAIN, 'The bank counts the transactions of the whole message.'),
  P_CTRLSUM_GROUP: rule(ERROR, PAIN, 'The bank adds all amounts, whatever their currency, exactly.'),
  P_NBTX_PMT: rule(ERROR, PAIN, 'The bank counts the transactions of the payment.'),
  P_CTRLSUM_PMT: rule(ERROR, PAIN, 'The bank adds the amounts of the payment.'),
  P_CTRLSUM_MISSING: rule(only(['SEPA'], 'error', 'warning'), PAIN, 'Without a control sum nobody notices a lost digit.'),
  P_MSGID_EMPTY: rule(ERROR, PAIN, 'The message cannot be referred to.'),
  P_PMTINFID_DUPLICATE: rule(ERROR, PAIN, 'Status reports and batch bookings refer to the payment by it.'),
  P_E2E_EMPTY: rule(ERROR, PAIN, 'The payment cannot be reconciled.'),
  P_E2E_DUPLICATE: rule(WARNING, PAIN, 'Legal, but entries cannot be told apart.'),
  P_E2E_NOTPROVIDED: rule(INFO, PAIN, 'The payment has no end-to-end identification of its own.'),
  P_E2E_CASE_COLLISION: rule(WARNING, PAIN, 'Equal once case and spaces are folded, as many ledgers do.'),
  P_INSTRID_DUPLICATE: rule(WARNING, PAIN, 'The bank may take the second for a repetition.'),
  P_TX_DUPLICATE_CONTENT: rule(WARNING, PAIN, 'Same account, amount, currency and remittance: perhaps paid twice.'),
  P_AMT_ZERO: rule(ERROR, PAIN, 'Nothing would be paid.'),
  P_AMT_RANGE: rule(only(['SEPA'], 'error'), PAIN, 'A SEPA transfer lies between 0.01 and 999,999,999.99.'),
  P_CCY_EUR: rule(only(['SEPA'], 'error'), PAIN, 'SEPA transfers are in euro.'),
  P_CCY_MIXED: rule(WARNING, PAIN, 'One control sum over several currencies shows little.'),
  P_EXEC_PAST: rule(WARNING, PAIN, 'The day of execution lies before the message was made.'),
  P_EXEC_FAR: rule(WARNING, PAIN, 'More than 365 days ahead: banks refuse, or the year is wrong.'),
  P_DBTR_ACCT: rule(ERROR, PAIN, 'No account to debit.'),
  P_DBTR_AGENT: rule(ERROR, PAIN, 'The bank of the debtor is neither named nor marked NOTPROVIDED.'),
  P_CDTR_ACCT: rule(ERROR, PAIN, 'A transfer needs an account to credit.'),
  P_CDTR_NAME: rule(ERROR, PAIN, 'The payee has no name.'),
  P_CHRGBR_LEVEL: rule(ERROR, PAIN, 'Who bears charges is said for the payment or for each transaction, not both.'),
  P_CHRGBR_SLEV: rule(only(['SEPA'], 'error'), PAIN, 'SEPA knows SLEV only.'),
  P_PMTTP_LEVEL: rule(ERROR, PAIN, 'The type is said for the payment or for each transaction, not both.'),
  P_ULTMTDBTR_LEVEL: rule(ERROR, PAIN, 'The ultimate debtor is said for the payment or for each transaction, not both.'),
  P_SVCLVL: rule(only(['SEPA'], 'warning'), PAIN, 'Service levels of SEPA are SEPA, URGP and INST.'),
  P_BTCHBOOKG: rule(INFO, PAIN, 'How the bank books decides how statements must be matched.'),
  P_RMT_BOTH: rule(only(['SEPA', 'CBPR'], 'error'), PAIN, 'Remittance is structured or unstructured.'),
  P_RMT_LEN: rule(only(['SEPA'], 'error'), PAIN, 'SEPA carries one line of 140 characters.'),
  P_SCOR_CHECK: rule(ERROR, PAIN, 'ISO 11649 reference: ISO 7064 MOD 97-10.'),
  P_QRR_CHECK: rule(only(['SPS'], 'error', 'warning'), PAIN, 'Swiss QR reference: 27 digits, modulo 10 recursive.'),
  P_QR_IBAN: rule(only(['SPS'], 'error', 'warning'), PAIN, 'A Swiss QR-IBAN takes QR references, and no other account does.'),
  P_PMTMTD: rule(ERROR, PAIN, 'The method is TRF, TRA or CHK.'),
  P_CHK_AGENT: rule(WARNING, PAIN, 'A cheque needs no account of the creditor.'),
  P_SELF_PAYMENT: rule(WARNING, PAIN, 'Debtor and creditor account are the same.'),
  P_CBPR_SINGLE: rule(only(['CBPR'], 'error'), PAIN, 'CBPR+ carries one transaction a message.'),
  P_HDR_MSGDEF: rule(ERROR, PAIN, 'The header announces another message than the document is.'),
  P_HDR_BIZMSG: rule(only(['CBPR'], 'error', 'warning'), PAIN, 'Under CBPR+ header and message carry one identification.'),
  P_HDR_BIZSVC: rule(only(['CBPR'], 'error'), PAIN, 'CBPR+ carries a credit transfer initiation under swift.cbprplus and two digits.'),
  P_PMTINFID_MSGID: rule(only(['CBPR'], 'error'), PAIN, 'CBPR+ carries one payment a message, under the identification of the message.'),
  P_INSTR_CODES: rule(ERROR, PAIN, 'Instructions to the creditor agent contradict or repeat each other.'),
  P_AGENT_NAME_ADDR: rule(only(['CBPR'], 'error'), PAIN, 'Name and address of an agent stand together or not at all.'),
  P_UETR_MISSING: rule(only(['CBPR'], 'error'), PAIN, 'CBPR+ follows each payment by its UETR.'),
} as const satisfies Record<string, Rule>

/**
 * The rules that all messages share. Sources: XML 1.0, the message definitions of ISO 20022, ISO 4217, 7064, 9362, 13616, 17442 and 3166,
 * the CBPR+ and EPC address cut-over of 14 and 15 November 2026, read in November 2026.
 */

const ALL = MESSAGE_KINDS
/** CBPR+ leaves statements out of the address rule. */
const PAYMENTS = ['pain.001', 'pacs.008'] as const
const CUT_OVER = ['SEPA', 'CBPR', 'SPS'] as const

/** Structure: what the schema of the version demands. */
const STRUCTURE_RULES = {
  STRUCT_UNEXPECTED: rule(ERROR, ALL, 'An element that this place of this version does not have is dropped by readers.'),
  STRUCT_MISSING: rule(ERROR, ALL, 'A required element is not there.'),
  STRUCT_ORDER: rule(ERROR, ALL, 'Elements have a fixed order; schema validation at the bank refuses another.'),
  STRUCT_CHOICE: rule(ERROR, ALL, 'Two alternatives of a choice stand side by side.'),
  STRUCT_LEXICAL: rule(ERROR, ALL, 'A value does not have the form of its type.'),
  STRUCT_ATTRIBUTE: rule(ERROR, ALL, 'An attribute is missing or does not belong here.'),
  STRUCT_TEXT: rule(ERROR, ALL, 'Text stands beside elements, or elements inside a value.'),
  ELEMENT_REPEATED: rule(ERROR, ALL, 'A single element stands twice: readers keep the first, the last or both.'),
} as const satisfies Record<string, Rule>

/** The document before any message is read. */
const DOCUMENT_RULES = {
  XML_DOCTYPE: rule(ERROR, ALL, 'A document type declaration opens the door to outside entities and to expansion.'),
  XML_ENCODING: rule(ERROR, ALL, 'Anything but UTF-8 defeats checks that look at bytes.'),
  XML_NOT_WELLFORMED: rule(ERROR, ALL, 'It is not XML.'),
  XML_LIMIT: rule(ERROR, ALL, 'It goes beyond depth, attributes, text or size that any message has.'),
  XML_PI_OR_COMMENT: rule(WARNING, ALL, 'Readers differ in what they make of a value that a comment splits.'),
  JSON_NOT_WELLFORMED: rule(ERROR, ALL, 'It is not JSON.'),
  JSON_LIMIT: rule(ERROR, ALL, 'It goes beyond the depth or number of values that any message has.'),
  JSON_DUP_KEY: rule(ERROR, ALL, 'Readers keep the first or the last of two equal keys.'),
  JSON_AMOUNT_NOT_STRING: rule(INFO, ALL, 'Other readers round a bare number; its literal was kept here.'),
  NS_UNKNOWN: rule(WARNING, ALL, 'No message of a type and version known here was found, so nothing of it was checked.'),
  NS_VARIANT: rule(WARNING, ALL, 'A local variant of the namespace: banks elsewhere will not know it.'),
  NS_MISMATCH: rule(ERROR, ALL, 'The document has another namespace than was expected.'),
  ROOT_MISMATCH: rule(ERROR, ALL, 'What stands in Document is not the message that its namespace names.'),
} as const satisfies Record<string, Rule>

/** Texts, dates and amounts. */
const VALUE_RULES = {
  TEXT_CHARSET: rule(
    { base: 'warning', SEPA: 'warning', CBPR: 'error', SPS: null },
    ALL,
    'A character outside the basic Latin set is replaced or refused by some banks; EPC217-08 permits more by agreement.',
  ),
  TEXT_CHARSET_ID: rule(
    { base: 'warning', SEPA: 'error', CBPR: 'error', SPS: null },
    ALL,
    'An identification has characters of the basic Latin set only (EPC217-08); others are replaced or refused on the way.',
    'TEXT_CHARSET',
  ),
  TEXT_CHARSET_EUROPEAN: rule(
    { base: 'warning', SEPA: 'warning', CBPR: 'error', SPS: 'error' },
    ALL,
    'Greek and Cyrillic are converted or refused outside their countries; EPC217-08 permits them by agreement.',
    'TEXT_CHARSET',
  ),
  TEXT_CHARSET_FOREIGN: rule(
    { base: 'warning', SEPA: 'error', CBPR: 'error', SPS: 'error' },
    ALL,
    'A character outside the alphabets of Europe is refused even where accents pass.',
    'TEXT_CHARSET',
  ),
  ID_SLASH: rule(only(['SEPA', 'CBPR'], 'error'), ALL, 'Slashes at the ends of an identification, or two in a row, break its conversion.'),
  ID_WHITESPACE: rule(WARNING, ALL, 'Identifications that differ only in spaces are different to a schema and equal to people.'),
  DATE_INVALID: rule(ERROR, ALL, 'The day is not in the calendar.'),
  DATETIME_NO_OFFSET: rule(only(['CBPR'], 'error'), ALL, 'A time without offset means another moment to each reader.'),
  AMT_LEXICAL: rule(ERROR, ALL, 'An amount is a decimal without exponent, separator or sign.'),
  AMT_DIGITS: rule(ERROR, ALL, 'An amount has at most 18 digits, 5 of them behind the point.'),
  AMT_FRACTION: rule(ERROR, ALL, 'The currency has no such small unit.'),
  AMT_FRACTION_ZEROS: rule(WARNING, ALL, 'More zeros than the currency has digits: valid, refused by some.', 'AMT_FRACTION'),
  CCY_UNKNOWN: rule(ERROR, ALL, 'ISO 4217 has no such code.'),
  CCY_METAL: rule(only(['CBPR'], 'error'), ALL, 'Precious metals are no currency of a payment.'),
  CCY_HISTORIC: rule(WARNING, ALL, 'The currency has been withdrawn.'),
} as const satisfies Record<string, Rule>

/** Both came with the cut-over of each market practice; before it, and outside of them, such addresses pass. */
const HYBRID = 'Since the cut-over at most two lines of 70 stand beside town and country.'
const LEAST_ADDRESS = 'Since the cut-over a structured address has at least town and country.'

/** Accounts, banks, parties. */
const PARTY_RULES = {
  IBAN_LENGTH: rule(ERROR, PAYMENTS, 'Each country has one length of IBAN.'),
  IBAN_FORMAT: rule(ERROR, PAYMENTS, 'Country and kinds of characters follow the IBAN registry.'),
  IBAN_CHECK: rule(ERROR, PAYMENTS, 'ISO 7064 MOD 97-10 with check digits 02-98.'),
  S_IBAN_MASKED: rule(WARNING, ['camt.053'], 'Banks mask accounts in statements, so that their check digits fail.'),
  BIC_FORMAT: rule(ERROR, ALL, 'The form of a BIC differs by version of the message.'),
  BIC_COUNTRY: rule(ERROR, ALL, 'Characters 5 and 6 are a country.'),
  BIC_TEST: rule(WARNING, ALL, 'The second character of the location is 0: a code for tests.'),
  LEI_CHECK: rule(ERROR, ALL, '20 characters by ISO 17442, ISO 7064 MOD 97-10.'),
  UETR_FORMAT: rule(ERROR, ALL, 'A UUID of version 4 in lower case.'),
  UETR_DUPLICATE: rule(ERROR, ALL, 'A UETR names one transaction in the world.'),
  IBAN_BIC_COUNTRY: rule(WARNING, ALL, 'Account and its bank lie in different countries; some territories do so.'),
  ADDR_UNSTRUCTURED: rule(only(CUT_OVER, 'error', 'warning'), PAYMENTS, 'Since the cut-over addresses name town and country apart.'),
  ADDR_UNSTRUCTURED_ON_14: rule(
    only(['CBPR'], 'error', 'warning'),
    PAYMENTS,
    'CBPR+ cut over one day before the rest.',
    'ADDR_UNSTRUCTURED',
  ),
  ADDR_UNSTRUCTURED_BEFORE: rule(WARNING, PAYMENTS, 'Before the cut-over such addresses still passed.', 'ADDR_UNSTRUCTURED'),
  ADDR_HYBRID_LINES: rule(only(CUT_OVER, 'error', 'warning'), PAYMENTS, HYBRID),
  ADDR_HYBRID_LINES_ON_14: rule(only(['CBPR'], 'error', 'warning'), PAYMENTS, HYBRID, 'ADDR_HYBRID_LINES'),
  ADDR_HYBRID_LINES_BEFORE: rule(WARNING, PAYMENTS, HYBRID, 'ADDR_HYBRID_LINES'),
  ADDR_MIN: rule(only(CUT_OVER, 'error', 'warning'), PAYMENTS, LEAST_ADDRESS),
  ADDR_MIN_ON_14: rule(only(['CBPR'], 'error', 'warning'), PAYMENTS, LEAST_ADDRESS, 'ADDR_MIN'),
  ADDR_MIN_BEFORE: rule(WARNING, PAYMENTS, LEAST_ADDRESS, 'ADDR_MIN'),
  ADDR_DUPLICATED: rule(WARNING, PAYMENTS, 'What stands in its own element does not belong into a line again.'),
  ADDR_COUNTRY: rule(ERROR, ALL, 'ISO 3166 has no such country.'),
  PARTY_NAME_WITH_ADDR: rule(only(['CBPR'], 'error'), PAYMENTS, 'An address says nothing without the name of who lives there.'),
  PARTY_BIC_EXCLUSIVE: rule(WARNING, PAYMENTS, 'A party is named by BIC, or by name and address, not by both.'),
} as const satisfies Record<string, Rule>

/** The array of transactions beside, or instead of, a message. */
const LIST_RULES = {
  T_COUNT: rule(ERROR, ALL, 'The list has another number of transactions than the payload states.'),
  T_CTRLSUM: rule(ERROR, ALL, 'The amounts of the list add up to something else than the payload states.'),
  T_EMPTY: rule(ERROR, ALL, 'There is nothing here that could be checked.'),
  T_E2E_DUPLICATE: rule(WARNING, ALL, 'Two transactions of the list share their end-to-end identification.'),
} as const satisfies Record<string, Rule>

export const SHARED_RULES = { ...DOCUMENT_RULES, ...STRUCTURE_RULES, ...VALUE_RULES, ...PARTY_RULES, ...LIST_RULES } as const

/** All rules in one table: what the tests go through, and what weighs a finding. */

const TABLE = { ...SHARED_RULES, ...PAIN_RULES, ...PACS_RULES, ...CAMT_RULES } as const

export type RuleCode = keyof typeof TABLE

export const RULES: Readonly<Record<RuleCode, Rule>> = TABLE
