/**
 * The rules that all messages share. Sources: XML 1.0, the message definitions of ISO 20022, ISO 4217, 7064, 9362, 13616, 17442 and 3166,
 * the CBPR+ and EPC address cut-over of 14 and 15 November 2026, read in November 2026.
 */
import { ERROR, INFO, MESSAGE_KINDS, only, type Rule, rule, WARNING } from './rule.ts'

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
