/** The rules of ISO 20022 messages: severity by profile, message, and the findings that they produce. */

import messages from '../../../../data/iso20022/messages.json' with { type: 'json' }

type MessageSeverity = 'error' | 'warning' | 'info'

export type MessageProfile = 'base' | 'SEPA' | 'CBPR' | 'SPS'

export const MESSAGE_PROFILES = ['base', 'SEPA', 'CBPR', 'SPS'] as const satisfies readonly MessageProfile[]

/** Changes whenever a rule, its severity or a structure table changes. */
export const RULES_VERSION = '2026-11-28'

export const NAMESPACE_PREFIX = 'urn:iso:std:iso:20022:tech:xsd:'

const CUSTOMER_KINDS = ['pain.001', 'pain.002', 'pain.007', 'pain.008', 'pain.013', 'pain.014'] as const
const BANK_KINDS = ['pacs.002', 'pacs.003', 'pacs.004', 'pacs.007', 'pacs.008', 'pacs.009', 'pacs.010', 'pacs.028'] as const
const INQUIRY_KINDS = ['camt.026', 'camt.027', 'camt.028', 'camt.029', 'camt.055', 'camt.056', 'camt.057', 'camt.058'] as const
const REPORT_KINDS = ['camt.052', 'camt.053', 'camt.054', 'camt.060'] as const

/** Types of messages whose structure is known. */
export const MESSAGE_KINDS = [...INQUIRY_KINDS, ...REPORT_KINDS, 'head.001', ...BANK_KINDS, ...CUSTOMER_KINDS] as const

export type MessageKind = (typeof MESSAGE_KINDS)[number]

/** Known messages, for example pain.001.001.03; those of communities have another number, or an ending such as `.ch.02`. */
export const KNOWN_MESSAGES: readonly string[] = messages.messages

/** Known types with their versions, for example "pain.002 (01 to 15)". */
export const KNOWN_TYPES: string = MESSAGE_KINDS.map((kind) => {
  const versions = versionsOf(kind)
  return `${kind} (${versions.length < 3 ? versions.join(', ') : `${versions[0]} to ${versions.at(-1)}`})`
}).join(', ')

/** Known versions of a type of message in two digits, without those of communities. */
export function versionsOf(kind: string): readonly string[] {
  return KNOWN_MESSAGES.flatMap((message) => (message.startsWith(`${kind}.001.`) && message.length === 15 ? [message.slice(13)] : []))
}

/** Null where a rule does not apply. */
type SeverityByProfile = Readonly<Record<MessageProfile, MessageSeverity | null>>

interface MessageRule {
  readonly severity: SeverityByProfile
  readonly message: string
  /** The code of its findings, where several rules share one. */
  readonly code?: string
}

function rule(severity: SeverityByProfile, message: string, code?: string): MessageRule {
  return code === undefined ? { severity, message } : { severity, message, code }
}

/** One severity in these profiles, another in all other profiles. */
function only(profiles: readonly MessageProfile[], severity: MessageSeverity, others: MessageSeverity | null = null): SeverityByProfile {
  const of = (profile: MessageProfile) => (profiles.includes(profile) ? severity : others)
  return { base: of('base'), SEPA: of('SEPA'), CBPR: of('CBPR'), SPS: of('SPS') }
}

const ERROR = only(MESSAGE_PROFILES, 'error')
const WARNING = only(MESSAGE_PROFILES, 'warning')
const INFO = only(MESSAGE_PROFILES, 'info')
const CBPR_ERROR = only(['CBPR'], 'error')
const SEPA_ERROR = only(['SEPA'], 'error')

/**
 * camt.053. Sources: message definition reports of ISO 20022, CGI-MP and Swiss guidelines for statements, external code sets; November
 * 2026.
 */
export const CAMT_RULES = {
  S_BAL_OPEN: rule(
    only(['CBPR', 'SPS'], 'error', 'warning'),
    'The opening balance (OPBD or PRCD) is missing, so the statement cannot be checked.',
  ),
  S_BAL_CLOSE: rule(
    only(['CBPR', 'SPS'], 'error', 'warning'),
    'The closing balance (CLBD) is missing, so the statement cannot be checked.',
  ),
  S_BAL_EQ: rule(ERROR, 'Opening balance plus booked entries differ from the closing balance.'),
  S_BAL_SIGN: rule(WARNING, 'A balance of zero should be marked as a credit (CRDT).'),
  S_BAL_CCY: rule(ERROR, 'The balance is not in the currency of the account.'),
  S_BAL_DUP: rule(WARNING, 'Duplicate balance: readers may use the first, the last or both.'),
  S_BAL_CHAIN: rule(ERROR, 'The opening balance differs from the closing balance of the previous statement; a statement may be missing.'),
  S_STS_SHAPE: rule(ERROR, 'Wrong form of the entry status: a bare code up to version 04, Cd or Prtry from version 08 on.'),
  S_STS_PENDING: rule(WARNING, 'The entry is not booked; it does not count as settled.'),
  S_STS_PRTRY: rule(WARNING, 'The entry status is proprietary, so it is unknown whether the entry is booked.'),
  S_ENTRY_CCY: rule(ERROR, 'The entry is not in the currency of the account.'),
  S_ENTRY_ZERO: rule(WARNING, 'The amount of the entry is zero.'),
  S_ENTRY_SUM: rule(ERROR, 'The transactions of the entry do not add up to its amount.'),
  S_BTCH_COUNT: rule(WARNING, 'The batch states another number of transactions than it lists.'),
  S_BTCH_TOTAL: rule(WARNING, 'The total of the batch differs from the amount of the entry.'),
  S_BATCH_NO_DETAILS: rule(INFO, 'The batch lists no transactions; reconcile it by PmtInfId or MsgId.'),
  S_BOOKDT_MISSING: rule(WARNING, 'The booked entry has no booking date.'),
  S_BOOKDT_RANGE: rule(WARNING, 'The booking date is outside the period of the statement.'),
  S_ACCTSVCRREF_DUP: rule(WARNING, 'Duplicate bank reference: the same booking may be listed twice.'),
  S_ENTRY_DUP: rule(WARNING, 'Two entries are identical: the same booking may be listed twice.'),
  S_RVSL: rule(INFO, 'Reversal: CdtDbtInd is read as the direction in which money moves; some banks state the opposite.'),
  S_RTR_REASON: rule(WARNING, 'The return has no reason, or an unknown reason code.'),
  S_BKTXCD_MISSING: rule(ERROR, 'The bank transaction code is missing, so the kind of entry is unknown.'),
  S_BKTXCD_DIR: rule(WARNING, 'The bank transaction code contradicts the direction of the entry.'),
  S_E2E_NOTPROVIDED: rule(INFO, 'The payer gave no end-to-end ID, so the transaction cannot be matched by it.'),
  S_CHRG_INCLUDED: rule(INFO, 'Charges are included in the amount, so the booked amount differs from the paid amount.'),
  S_SUM_TTL: rule(ERROR, 'The stated number or sum of entries differs from the entries.'),
  S_SUM_CDT: rule(ERROR, 'The stated number or sum of credit entries differs from the entries.'),
  S_SUM_DBT: rule(ERROR, 'The stated number or sum of debit entries differs from the entries.'),
  S_SUM_NET: rule(ERROR, 'The stated net amount or its direction differs from credits less debits.'),
  S_SUM_BKTXCD: rule(WARNING, 'The stated totals of a bank transaction code differ from its entries.'),
  S_STMT_ID_DUP: rule(ERROR, 'Duplicate statement ID: readers may take the second statement for a copy of the first.'),
  S_SEQ_GAP: rule(WARNING, 'The statement numbers of the account are not consecutive: a statement is missing or repeated.'),
  S_PAGINATION: rule(ERROR, 'The pages are not consecutive, or the last page is not where it should be.'),
  S_COPY_DUPL: rule(WARNING, 'The statement is marked as a duplicate: do not count its entries twice.'),
  S_ACCT_ID: rule(ERROR, 'The statement has no account ID.'),
} as const satisfies Record<string, MessageRule>

/** pacs.008. Sources: message definition reports of ISO 20022, EPC rulebooks and CBPR+; November 2026. */
export const PACS_RULES = {
  C_NBTX: rule(ERROR, 'NbOfTxs differs from the number of transactions.'),
  C_CTRLSUM: rule(ERROR, 'CtrlSum differs from the exact sum of the settlement amounts.'),
  C_TTLAMT: rule(ERROR, 'TtlIntrBkSttlmAmt differs from the sum of the settlement amounts.'),
  C_TTLAMT_CCY: rule(ERROR, 'The settlement amount is not in the currency of TtlIntrBkSttlmAmt.'),
  C_STTLMDT_LEVEL: rule(ERROR, 'IntrBkSttlmDt must be stated either in the group header or in each transaction.'),
  C_AMT_ZERO: rule(ERROR, 'The settlement amount is zero.'),
  C_TXID_MISSING: rule(ERROR, 'Version 02 requires a transaction ID.'),
  C_TXID_DUPLICATE: rule(ERROR, 'Duplicate transaction ID: returns and recalls identify the transaction by it.'),
  C_INSTRID_DUPLICATE: rule(ERROR, 'Duplicate instruction ID: the instructed agent may drop the second as a repetition.'),
  C_UETR_MISSING: rule(CBPR_ERROR, 'The UETR is missing; banks track the payment by it.'),
  C_E2E_EMPTY: rule(ERROR, 'The end-to-end ID is empty; write NOTPROVIDED when there is none.'),
  C_E2E_DUPLICATE: rule(WARNING, 'Duplicate end-to-end ID: allowed, but the payments cannot be matched by it.'),
  C_SINGLE_TX: rule(CBPR_ERROR, 'CBPR+ allows one transaction per message.'),
  C_STTLMMTD_CLRG: rule(ERROR, 'Settlement method CLRG requires the clearing system.'),
  C_STTLMMTD_COVE: rule(ERROR, 'Settlement method COVE requires a reimbursement agent.'),
  C_STTLMMTD_REIMB: rule(ERROR, 'Settlement methods INDA and INGA do not allow reimbursement agents.'),
  C_XPRY: rule(ERROR, 'The message expired before it was created.'),
  C_INSTGAGT: rule(CBPR_ERROR, 'CBPR+ requires the BICs of instructing and instructed agent.'),
  C_AGENT_LEVEL: rule(ERROR, 'The agent is stated both in the group header and in the transaction.'),
  C_HDR_BIC: rule(CBPR_ERROR, 'Sender or recipient of the header differs from the instructing or instructed agent.'),
  C_HDR_MSGDEF: rule(ERROR, 'The header announces another message definition than the document has.'),
  C_HDR_BIZMSG: rule(ERROR, 'BizMsgIdr of the header differs from MsgId.'),
  C_HDR_PRTY: rule(CBPR_ERROR, 'The priority of the header differs from that of the payment.'),
  C_HDR_BIZSVC: rule(CBPR_ERROR, 'CBPR+ requires the business service swift.cbprplus or swift.cbprplus.stp.'),
  C_PREV_AGENT_ORDER: rule(ERROR, 'An agent of a chain is stated without the one before it.'),
  C_AGENT_NAME_ADDR: rule(CBPR_ERROR, 'An agent needs both name and address, or neither.'),
  C_DBTR_ID: rule(ERROR, 'The debtor has no name, account or ID.'),
  C_XCHGRATE_SAMECCY: rule(ERROR, 'An exchange rate is stated between equal currencies.'),
  C_XCHGRATE_MISSING: rule(WARNING, 'The currencies differ, but the exchange rate is missing.'),
  C_XCHG_INCONSISTENT: rule(WARNING, 'Instructed amount and exchange rate do not give the settlement amount, in either quotation.'),
  C_CHRG_CRED: rule(ERROR, 'Charge bearer CRED requires ChrgsInf, even for zero charges.'),
  C_CHRG_DEBT: rule(ERROR, 'Charge bearer DEBT allows at most one ChrgsInf.'),
  C_CHRG_DIFF: rule(ERROR, 'The settlement amount differs from the instructed amount, but no charges are stated.'),
  C_CHRG_SUM: rule(WARNING, 'The charges do not explain the difference between instructed and settlement amount.'),
  C_SLEV: rule(SEPA_ERROR, 'SEPA requires the charge bearer SLEV.'),
  C_INSTR_CODES: rule(ERROR, 'Instructions to the creditor agent contradict each other.'),
  C_GPI_SVCLVL: rule(CBPR_ERROR, 'The only tracked service level of a customer credit transfer is G001.'),
  C_RMT_BOTH: rule(only(['SEPA', 'CBPR'], 'error'), 'Remittance information must be either structured or unstructured.'),
  C_RMT_RLTD: rule(ERROR, 'RmtInf and RltdRmtInf exclude each other.'),
  C_STRD_9000: rule(ERROR, 'Structured remittance information is longer than 9,000 characters.'),
} as const satisfies Record<string, MessageRule>

/** pain.001. Sources: message definition reports of ISO 20022, EPC rulebooks, CBPR+ and Swiss guidelines; November 2026. */
export const PAIN_RULES = {
  P_NBTX_GROUP: rule(ERROR, 'NbOfTxs of the group header differs from the number of transactions.'),
  P_CTRLSUM_GROUP: rule(ERROR, 'CtrlSum of the group header differs from the exact sum of all amounts.'),
  P_NBTX_PMT: rule(ERROR, 'NbOfTxs of the payment differs from its number of transactions.'),
  P_CTRLSUM_PMT: rule(ERROR, 'CtrlSum of the payment differs from the exact sum of its amounts.'),
  P_CTRLSUM_MISSING: rule(WARNING, 'CtrlSum is missing, so that a lost digit of an amount goes unnoticed.'),
  P_MSGID_EMPTY: rule(ERROR, 'The message ID is empty.'),
  P_PMTINFID_DUPLICATE: rule(ERROR, 'Duplicate payment ID: status reports and batch bookings identify the payment by it.'),
  P_E2E_EMPTY: rule(ERROR, 'The end-to-end ID is empty; write NOTPROVIDED when there is none.'),
  P_E2E_DUPLICATE: rule(WARNING, 'Duplicate end-to-end ID: allowed, but the payments cannot be matched by it.'),
  P_E2E_NOTPROVIDED: rule(INFO, 'The payment has no end-to-end ID, so it cannot be matched by it.'),
  P_E2E_CASE_COLLISION: rule(WARNING, 'Two end-to-end IDs differ only in case or spaces; many ledgers treat them as equal.'),
  P_INSTRID_DUPLICATE: rule(WARNING, 'Duplicate instruction ID: the bank may drop the second as a repetition.'),
  P_TX_DUPLICATE_CONTENT: rule(WARNING, 'Same account, amount, currency and remittance as another transaction: it may be paid twice.'),
  P_AMT_ZERO: rule(ERROR, 'The amount is zero.'),
  P_AMT_RANGE: rule(SEPA_ERROR, 'The amount of a SEPA transfer must be from 0.01 to 999,999,999.99.'),
  P_CCY_EUR: rule(SEPA_ERROR, 'A SEPA transfer must be in EUR.'),
  P_CCY_MIXED: rule(WARNING, 'CtrlSum adds amounts of several currencies.'),
  P_EXEC_PAST: rule(WARNING, 'The requested execution date is before the creation date of the message.'),
  P_EXEC_FAR: rule(WARNING, 'The requested execution date is more than 365 days ahead; check the year.'),
  P_DBTR_ACCT: rule(ERROR, 'The debtor account is missing.'),
  P_DBTR_AGENT: rule(ERROR, 'The debtor agent is neither identified nor marked as NOTPROVIDED.'),
  P_CDTR_ACCT: rule(ERROR, 'The creditor account is missing.'),
  P_CDTR_NAME: rule(ERROR, 'The creditor has no name.'),
  P_CHRGBR_LEVEL: rule(ERROR, 'ChrgBr is stated both for the payment and for the transaction.'),
  P_CHRGBR_SLEV: rule(SEPA_ERROR, 'SEPA requires the charge bearer SLEV.'),
  P_PMTTP_LEVEL: rule(ERROR, 'PmtTpInf is stated both for the payment and for the transaction.'),
  P_ULTMTDBTR_LEVEL: rule(ERROR, 'UltmtDbtr is stated both for the payment and for the transaction.'),
  P_SVCLVL: rule(only(['SEPA'], 'warning'), 'The service level should be SEPA, URGP or INST.'),
  P_BTCHBOOKG: rule(INFO, 'Batch booking decides how statement entries are matched.'),
  P_RMT_BOTH: rule(only(['SEPA', 'CBPR'], 'error'), 'Remittance information must be either structured or unstructured.'),
  P_RMT_LEN: rule(SEPA_ERROR, 'SEPA allows one line of 140 characters of unstructured remittance information.'),
  P_SCOR_CHECK: rule(ERROR, 'Invalid creditor reference (ISO 11649): wrong form or check digits.'),
  P_QRR_CHECK: rule(only(['SPS'], 'error', 'warning'), 'Invalid Swiss QR reference: it must be 27 digits with a valid check digit.'),
  P_QR_IBAN: rule(only(['SPS'], 'error', 'warning'), 'A Swiss QR-IBAN requires a QR reference, and a QR reference requires a QR-IBAN.'),
  P_PMTMTD: rule(ERROR, 'The payment method must be TRF, TRA or CHK.'),
  P_CHK_AGENT: rule(WARNING, 'A cheque payment should not have a creditor account.'),
  P_SELF_PAYMENT: rule(WARNING, 'Debtor and creditor account are the same.'),
  P_CBPR_SINGLE: rule(CBPR_ERROR, 'CBPR+ allows one transaction per message.'),
  P_HDR_MSGDEF: rule(ERROR, 'The header announces another message definition than the document has.'),
  P_HDR_BIZMSG: rule(only(['CBPR'], 'error', 'warning'), 'BizMsgIdr of the header differs from MsgId; CBPR+ requires them to be equal.'),
  P_HDR_BIZSVC: rule(CBPR_ERROR, 'CBPR+ requires the business service swift.cbprplus with two digits.'),
  P_PMTINFID_MSGID: rule(CBPR_ERROR, 'CBPR+ requires PmtInfId to be equal to MsgId.'),
  P_INSTR_CODES: rule(ERROR, 'Instructions to the creditor agent contradict each other.'),
  P_AGENT_NAME_ADDR: rule(CBPR_ERROR, 'An agent needs both name and address, or neither.'),
  P_UETR_MISSING: rule(CBPR_ERROR, 'CBPR+ requires a UETR for each payment.'),
} as const satisfies Record<string, MessageRule>

/**
 * Other messages of payments and direct debits. Sources: message definition reports of ISO 20022, EPC rulebooks and CBPR+; November 2026.
 */
const FAMILY_RULES = {
  M_NBTX: rule(ERROR, 'NbOfTxs of the group header differs from the number of transactions.'),
  M_CTRLSUM: rule(ERROR, 'CtrlSum of the group header differs from the exact sum of all amounts.'),
  M_NBTX_PART: rule(ERROR, 'NbOfTxs of the payment differs from its number of transactions.'),
  M_CTRLSUM_PART: rule(ERROR, 'CtrlSum of the payment differs from the exact sum of its amounts.'),
  M_TTLAMT: rule(ERROR, 'The total amount of the group header differs from the sum of the amounts.'),
  M_CCY: rule(ERROR, 'The amount is not in the currency of the total of the group header.'),
  M_AMT_ZERO: rule(ERROR, 'The amount is zero.'),
  M_ID_DUPLICATE: rule(ERROR, 'Duplicate ID: reports and returns identify the payment by it.'),
  M_REASON: rule(only(['SEPA', 'CBPR'], 'error', 'warning'), 'The reason of the return, reversal or cancellation is missing.'),
  M_REFERENCE: rule(only(['SEPA', 'CBPR'], 'error', 'warning'), 'No ID says which payment is returned, reversed or cancelled.'),
  M_COVER_AMT: rule(WARNING, 'The covered transfer is smaller than the cover payment.'),
  M_MNDT_ID: rule(SEPA_ERROR, 'The mandate has no ID.'),
  M_MNDT_SIGNED: rule(SEPA_ERROR, 'The mandate has no date of signature.'),
  M_MNDT_DATE: rule(WARNING, 'The mandate was signed after the collection date.'),
  M_MNDT_AMENDED: rule(
    ERROR,
    'AmdmntInd and AmdmntInfDtls contradict each other: details are stated if and only if the indicator is true.',
  ),
} as const satisfies Record<string, MessageRule>

/** Orders of SEPA customers. Sources: EPC implementation guidelines and the schemas of Deutsche Kreditwirtschaft; November 2026. */
export const SEPA_RULES = {
  SEPA_NAME: rule(SEPA_ERROR, 'SEPA allows names of at most 70 characters; banks reject the whole file.'),
  SEPA_NAME_MISSING: rule(SEPA_ERROR, 'SEPA requires the name of debtor and creditor.'),
  SEPA_ADDR_LINES: rule(SEPA_ERROR, 'SEPA allows at most two address lines.'),
  SEPA_AGENT: rule(SEPA_ERROR, 'SEPA identifies a bank by its BIC alone; NOTPROVIDED is only for the bank that receives the order.'),
  SEPA_ACCT: rule(SEPA_ERROR, 'SEPA identifies accounts by IBAN alone.'),
  SEPA_PMTMTD: rule(SEPA_ERROR, 'SEPA does not know this payment method.'),
  SEPA_UNUSED: rule(SEPA_ERROR, 'SEPA does not use this element; banks reject the file.'),
  SEPA_CODE: rule(SEPA_ERROR, 'SEPA requires a code of the external list here.'),
  SEPA_DEBIT: rule(SEPA_ERROR, 'SEPA direct debits do not allow this value.'),
  SEPA_CREDITOR_ID: rule(SEPA_ERROR, 'SEPA requires the creditor identifier, for the payment or for each transaction.'),
} as const satisfies Record<string, MessageRule>

const CUT_OVER = ['SEPA', 'CBPR', 'SPS'] as const
const CUT_OVER_RULE = only(CUT_OVER, 'error', 'warning')
const CUT_OVER_ON_14 = only(['CBPR'], 'error', 'warning')
const UNSTRUCTURED = 'Unstructured address: since the cut-over of November 2026 town and country need separate elements.'
const UNSTRUCTURED_ON_14 = 'Unstructured address: CBPR+ requires TwnNm and Ctry since 14 November 2026, other practices since 15 November.'
const UNSTRUCTURED_BEFORE = 'Unstructured address: valid only before the cut-over of November 2026.'
const HYBRID = 'Since the cut-over of November 2026 an address with town and country allows at most two lines of 70 characters.'
const MINIMUM = 'Since the cut-over of November 2026 a structured address requires at least town and country.'

/**
 * Rules of all messages. Sources: XML 1.0, message definitions of ISO 20022, ISO 4217, 7064, 9362, 13616, 17442 and 3166, address cut-over
 * of CBPR+ and EPC on 14 and 15 November 2026; read in November 2026.
 */
export const SHARED_RULES = {
  STRUCT_UNEXPECTED: rule(ERROR, 'This version of the message does not allow this element here.'),
  STRUCT_MISSING: rule(ERROR, 'A required element is missing.'),
  STRUCT_ORDER: rule(ERROR, 'The element is out of order; schema validation rejects the message.'),
  STRUCT_CHOICE: rule(ERROR, 'Two alternatives of a choice are both present.'),
  STRUCT_LEXICAL: rule(ERROR, 'The value does not have the form of its type.'),
  STRUCT_ATTRIBUTE: rule(ERROR, 'An attribute is missing or not allowed here.'),
  STRUCT_TEXT: rule(ERROR, 'Text next to elements, or elements inside a value.'),
  ELEMENT_REPEATED: rule(ERROR, 'The element is repeated: readers may use the first, the last or both.'),
  XML_DOCTYPE: rule(ERROR, 'A document type declaration (DOCTYPE) is not allowed.'),
  XML_ENCODING: rule(ERROR, 'The document is not UTF-8.'),
  XML_ENCODING_IGNORED: rule(
    INFO,
    'The text was already decoded, so the encoding that its XML declaration names is ignored.',
    'XML_ENCODING',
  ),
  XML_NOT_WELLFORMED: rule(ERROR, 'The document is not well-formed XML.'),
  XML_LIMIT: rule(ERROR, 'The document exceeds the limit for depth, attributes, text length or size.'),
  XML_PI_OR_COMMENT: rule(WARNING, 'A comment inside a value, or a processing instruction: readers differ in the value that they see.'),
  JSON_NOT_WELLFORMED: rule(ERROR, 'The document is not valid JSON.'),
  JSON_LIMIT: rule(ERROR, 'The document exceeds the limit for depth or number of values.'),
  JSON_DUP_KEY: rule(ERROR, 'Duplicate key: readers may use the first or the last value.'),
  JSON_AMOUNT_NOT_STRING: rule(INFO, 'The amount is a JSON number, which other readers may round; write it as a string.'),
  NS_UNKNOWN: rule(WARNING, 'No message of a known type and version was found, so nothing was checked.'),
  FORMAT_OTHER: rule(WARNING, 'The payload is in another format, so nothing was checked.'),
  NS_VARIANT: rule(WARNING, 'The namespace is a local variant; banks elsewhere may reject it.'),
  NS_MISMATCH: rule(ERROR, 'The document has another namespace than expected.'),
  ROOT_MISMATCH: rule(ERROR, 'Document does not contain the message that its namespace names.'),
  TEXT_CHARSET: rule(
    { base: 'warning', SEPA: 'warning', CBPR: 'error', SPS: null },
    'The text has a character outside the basic Latin set; some banks replace or reject it (EPC217-08 allows more by agreement).',
  ),
  TEXT_CHARSET_ID: rule(
    { base: 'warning', SEPA: 'error', CBPR: 'error', SPS: null },
    'The ID has a character outside the basic Latin set (EPC217-08); banks replace or reject it.',
    'TEXT_CHARSET',
  ),
  TEXT_CHARSET_EUROPEAN: rule(
    { base: 'warning', SEPA: 'warning', CBPR: 'error', SPS: 'error' },
    'The text has Greek or Cyrillic characters; banks abroad convert or reject them (EPC217-08 allows them by agreement).',
    'TEXT_CHARSET',
  ),
  TEXT_CHARSET_FOREIGN: rule(
    { base: 'warning', SEPA: 'error', CBPR: 'error', SPS: 'error' },
    'The text has a character outside the European alphabets; banks reject it.',
    'TEXT_CHARSET',
  ),
  ID_SLASH: rule(only(['SEPA', 'CBPR'], 'error'), 'The ID starts or ends with a slash, or has two slashes in a row.'),
  ID_WHITESPACE: rule(WARNING, 'The ID has leading, trailing or double spaces.'),
  DATE_INVALID: rule(ERROR, 'The date does not exist.'),
  DATETIME_NO_OFFSET: rule(CBPR_ERROR, 'The time has no offset from UTC.'),
  AMT_LEXICAL: rule(ERROR, 'Invalid amount: write digits and a decimal point, without exponent, separator or sign, for example 604.00.'),
  AMT_DIGITS: rule(ERROR, 'The amount has more than 18 digits, or more than 5 decimals.'),
  AMT_FRACTION: rule(ERROR, 'The amount has more decimals than its currency.'),
  AMT_FRACTION_ZEROS: rule(
    WARNING,
    'The amount has more trailing zeros than its currency has decimals; some banks reject it.',
    'AMT_FRACTION',
  ),
  CCY_UNKNOWN: rule(ERROR, 'Unknown ISO 4217 currency code.'),
  CCY_METAL: rule(CBPR_ERROR, 'A precious metal cannot be the currency of a payment.'),
  CCY_HISTORIC: rule(WARNING, 'The currency has been withdrawn.'),
  // The three IBAN rules apply to payments only: banks mask accounts in statements.
  IBAN_LENGTH: rule(ERROR, 'The IBAN has the wrong length for its country.'),
  IBAN_FORMAT: rule(ERROR, 'The IBAN does not have the form that the IBAN registry requires for its country.'),
  IBAN_CHECK: rule(ERROR, 'The IBAN has wrong check digits (ISO 7064 MOD 97-10).'),
  S_IBAN_MASKED: rule(WARNING, 'Invalid IBAN, probably masked by the bank.'),
  BIC_FORMAT: rule(ERROR, 'The BIC does not have the form that this version of the message requires.'),
  BIC_COUNTRY: rule(ERROR, 'Characters 5 and 6 of the BIC are not a country code.'),
  BIC_TEST: rule(WARNING, 'Test BIC: character 8 is 0.'),
  LEI_CHECK: rule(ERROR, 'Invalid LEI (ISO 17442): wrong form or check digits.'),
  UETR_FORMAT: rule(ERROR, 'The UETR is not a version 4 UUID in lower case.'),
  UETR_DUPLICATE: rule(ERROR, 'Duplicate UETR: it must identify one transaction worldwide.'),
  IBAN_BIC_COUNTRY: rule(WARNING, 'Account and bank are in different countries; this is valid only for some territories.'),
  // Address rules apply to payments only. The severity depends on the creation date of the message: before, on or after 14 November 2026.
  ADDR_UNSTRUCTURED: rule(CUT_OVER_RULE, UNSTRUCTURED),
  ADDR_UNSTRUCTURED_ON_14: rule(CUT_OVER_ON_14, UNSTRUCTURED_ON_14, 'ADDR_UNSTRUCTURED'),
  ADDR_UNSTRUCTURED_BEFORE: rule(WARNING, UNSTRUCTURED_BEFORE, 'ADDR_UNSTRUCTURED'),
  ADDR_HYBRID_LINES: rule(CUT_OVER_RULE, HYBRID),
  ADDR_HYBRID_LINES_ON_14: rule(CUT_OVER_ON_14, HYBRID, 'ADDR_HYBRID_LINES'),
  ADDR_HYBRID_LINES_BEFORE: rule(WARNING, HYBRID, 'ADDR_HYBRID_LINES'),
  ADDR_MIN: rule(CUT_OVER_RULE, MINIMUM),
  ADDR_MIN_ON_14: rule(CUT_OVER_ON_14, MINIMUM, 'ADDR_MIN'),
  ADDR_MIN_BEFORE: rule(WARNING, MINIMUM, 'ADDR_MIN'),
  ADDR_DUPLICATED: rule(only(['CBPR'], 'error', 'warning'), 'An address line repeats the street, postcode or town.'),
  ADDR_COUNTRY: rule(ERROR, 'Unknown ISO 3166 country code.'),
  PARTY_NAME_WITH_ADDR: rule(CBPR_ERROR, 'The party has an address but no name.'),
  PARTY_BIC_EXCLUSIVE: rule(WARNING, 'Identify the party by BIC, or by name and address, not by both.'),
  PARTY_BIC_EXCLUSIVE_CBPR: rule(
    only(['CBPR'], 'error', 'warning'),
    'A debtor or creditor with a BIC must not have name and address too.',
    'PARTY_BIC_EXCLUSIVE',
  ),
  T_COUNT: rule(ERROR, 'The list has another number of transactions than the payload states.'),
  T_CTRLSUM: rule(ERROR, 'The amounts of the list do not add up to the sum that the payload states.'),
  T_EMPTY: rule(ERROR, 'Nothing to check: the list or the transaction is empty.'),
  T_E2E_DUPLICATE: rule(WARNING, 'Duplicate end-to-end ID in the list.'),
} as const satisfies Record<string, MessageRule>

const ALL_RULES = { ...SHARED_RULES, ...PAIN_RULES, ...PACS_RULES, ...CAMT_RULES, ...FAMILY_RULES, ...SEPA_RULES } as const

export type RuleCode = keyof typeof ALL_RULES

export const RULES: Readonly<Record<RuleCode, MessageRule>> = ALL_RULES

export interface MessageFinding {
  code: string
  severity: MessageSeverity
  /** Element path with positions of repeated elements, from 1; a JSON pointer in the list of transactions. */
  path: string
  /** From 1; null where the input has no lines. */
  line: number | null
  /** The value of the message: at most 64 printable characters; null when there is none. */
  found: string | null
  expected: string | null
  message: string
}

export interface MessagePosition {
  path: string
  line: number | null
}

export interface FindingDetails {
  found?: string | null
  expected?: string | null
  message?: string
}

export interface ProfileFindings {
  findings: MessageFinding[]
  finding_counts: Record<MessageSeverity, number>
  truncated: boolean
}

const MAX_LISTED = 200
const MAX_FOUND_CHARS = 64

interface StoredFinding extends Omit<MessageFinding, 'code' | 'severity'> {
  rule: RuleCode
}

/** Stores the first findings of each rule, and counts all. Severities are assigned at the end, when the profile is known. */
export class MessageFindings {
  private readonly stored: StoredFinding[] = []
  private readonly counts = new Map<RuleCode, number>()

  /** Counts a finding. Returns whether it is to be stored, which saves the work of describing it. */
  count(code: RuleCode): boolean {
    const before = this.counts.get(code) ?? 0
    this.counts.set(code, before + 1)
    return before < MAX_LISTED
  }

  add(code: RuleCode, position: MessagePosition, details: FindingDetails = {}): void {
    if (this.count(code)) this.store(code, position, details)
  }

  /** Stores a finding for which `count` returned true. */
  store(code: RuleCode, { path, line }: MessagePosition, { found = null, expected = null, message }: FindingDetails): void {
    const printable = found === null ? null : printableValue(found)
    this.stored.push({ rule: code, path, line, found: printable, expected, message: message ?? RULES[code].message })
  }

  forProfile(profile: MessageProfile): ProfileFindings {
    const finding_counts = { error: 0, warning: 0, info: 0 }
    for (const [code, count] of this.counts) {
      const severity = RULES[code].severity[profile]
      if (severity !== null) finding_counts[severity] += count
    }
    const findings = this.stored.flatMap(({ rule: code, ...rest }): MessageFinding[] => {
      const severity = RULES[code].severity[profile]
      return severity === null ? [] : [{ code: RULES[code].code ?? code, severity, ...rest }]
    })
    const total = finding_counts.error + finding_counts.warning + finding_counts.info
    return { findings: limitFindings(findings), finding_counts, truncated: total > MAX_LISTED }
  }
}

/** Lists errors first when there are too many findings; each severity in document order. */
function limitFindings(findings: MessageFinding[]): MessageFinding[] {
  if (findings.length <= MAX_LISTED) return findings
  const order: Readonly<Record<MessageSeverity, number>> = { error: 0, warning: 1, info: 2 }
  return findings.toSorted((one, other) => order[one.severity] - order[other.severity]).slice(0, MAX_LISTED)
}

/** Text of a message made safe for an answer: short, without control, format and direction characters. */
export function printableValue(text: string): string {
  const short = text.slice(0, MAX_FOUND_CHARS * 2).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD')
  const characters = Array.from(short)
  return characters.length <= MAX_FOUND_CHARS ? short : `${characters.slice(0, MAX_FOUND_CHARS - 1).join('')}…`
}
