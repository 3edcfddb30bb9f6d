export type NachaSeverity = 'error' | 'warning' | 'info'

interface NachaRule {
  severity: NachaSeverity
  says: string
}

/**
 * Every code that the reader can answer, with its severity and what it says. The rules are those of the ACH file format (Nacha Operating
 * Rules, appendices one to four, as of 2026). `N_LEN` is a warning where a line merely lost the blanks at its right end.
 */
export const NACHA_RULES = {
  N_LEN: { severity: 'error', says: 'A record has 94 characters.' },
  N_CHARSET: { severity: 'error', says: 'Records hold printable ASCII only.' },
  N_EMPTY: { severity: 'error', says: 'A file holds batches, and a batch entries; only files of returns may be empty.' },
  N_ORDER: { severity: 'error', says: 'Records come as file header, batches of header, entries and control, then file control.' },
  N_HEADER_CONST: { severity: 'error', says: 'Record size, blocking factor and format code are fixed.' },
  N_PRIORITY: { severity: 'warning', says: 'The only priority code in use is 01.' },
  N_DATE: { severity: 'error', says: 'The creation date must be a day of the calendar, as YYMMDD.' },
  N_TIME: { severity: 'error', says: 'The creation time must be blank or a time of the day, as HHMM.' },
  N_MODIFIER: { severity: 'error', says: 'The file id modifier is one letter A-Z or digit.' },
  N_DEST_ROUTING: { severity: 'error', says: 'The destination is a blank and a routing number with its check digit.' },
  N_ORIGIN: { severity: 'warning', says: 'The origin is usually a routing number, or an id of ten characters.' },
  N_SERVICE_CLASS: { severity: 'error', says: 'The service class is 200, 220 or 225, and 280 for advices alone.' },
  N_CLASS_DIR: { severity: 'error', says: 'The direction of the entry does not fit its service class or entry class.' },
  N_SEC: { severity: 'error', says: 'The standard entry class is not known.' },
  N_BATCH_SEQ: { severity: 'error', says: 'Batch numbers ascend through the file.' },
  N_BATCH_PAIR: { severity: 'error', says: 'Batch header and control must name the same class, company, institution and number.' },
  N_EFFDATE: { severity: 'warning', says: 'The effective date should be a day of the calendar, not before the creation of the file.' },
  N_JULIAN: { severity: 'error', says: 'The settlement date is blank or a day of the year, 001-366.' },
  N_TXCODE: { severity: 'error', says: 'The transaction code is not one for this kind of entry.' },
  N_RDFI_CHECK: { severity: 'error', says: 'The check digit of the receiving institution does not fit its number.' },
  N_AMOUNT: { severity: 'error', says: 'The amount must be digits: cents, filled with zeros.' },
  N_AMOUNT_ZERO: { severity: 'error', says: 'An entry that moves money needs an amount.' },
  N_PRENOTE_NONZERO: { severity: 'error', says: 'A prenote, notice, acknowledgment or zero-dollar entry moves no money.' },
  N_NAME: { severity: 'error', says: 'The entry class demands the name of the receiver.' },
  N_ADDENDA_FLAG: { severity: 'error', says: 'The addenda indicator must say whether addenda follow.' },
  N_ADDENDA_COUNT: { severity: 'error', says: 'The number of addenda is not the one that the entry or its class states.' },
  N_ADDENDA_MAX: { severity: 'error', says: 'The entry has more addenda than its class allows.' },
  N_ADDENDA_TYPE: { severity: 'error', says: 'The entry class has no addenda of this type.' },
  N_ADDENDA_SEQ: { severity: 'error', says: 'Addenda of an entry are numbered 1, 2, 3.' },
  N_ADDENDA_TRACE: { severity: 'error', says: 'The last seven digits of the addenda must be those of the trace number of the entry.' },
  N_TRACE_ODFI: { severity: 'error', says: 'The trace number begins with the institution of the batch header.' },
  N_TRACE_ASC: { severity: 'error', says: 'Trace numbers are fifteen digits and ascend within a batch.' },
  N_TRACE_DUP: { severity: 'error', says: 'The trace number occurs twice in the file.' },
  N_TRACE_BOUND: { severity: 'info', says: 'Too many entries to compare all trace numbers; later ones were not compared.' },
  N_RETURN_CODE: { severity: 'error', says: 'The return reason code is not known.' },
  N_NOC_CODE: { severity: 'error', says: 'The change code is not known.' },
  N_RETURN_TRACE: { severity: 'warning', says: 'The original trace number should be fifteen digits.' },
  N_CATEGORY: {
    severity: 'error',
    says: 'A batch holds forward entries, returns or notices of change, not a mixture; notices come in COR.',
  },
  N_IAT_ADDENDA: { severity: 'error', says: 'An international entry has addenda 10 to 16, each once and in order, before 17 and 18.' },
  N_B_COUNT: { severity: 'error', says: 'The batch control counts other entries and addenda than the batch has.' },
  N_B_HASH: { severity: 'error', says: 'The entry hash of the batch is not the sum of its receiving institutions.' },
  N_B_DEBIT: { severity: 'error', says: 'The debit total of the batch is not the sum of its debits.' },
  N_B_CREDIT: { severity: 'error', says: 'The credit total of the batch is not the sum of its credits.' },
  N_F_BATCHES: { severity: 'error', says: 'The file control counts other batches than the file has.' },
  N_F_BLOCKS: { severity: 'error', says: 'The block count is not the number of records divided by ten, rounded up.' },
  N_F_COUNT: { severity: 'error', says: 'The file control counts other entries and addenda than the file has.' },
  N_F_HASH: { severity: 'error', says: 'The entry hash of the file is not the sum of its batches.' },
  N_F_DEBIT: { severity: 'error', says: 'The debit total of the file is not the sum of its debits.' },
  N_F_CREDIT: { severity: 'error', says: 'The credit total of the file is not the sum of its credits.' },
  N_PADDING: { severity: 'warning', says: 'A file is filled with lines of 94 nines to a multiple of ten records.' },
  N_AFTER_CONTROL: { severity: 'error', says: 'Only filler may follow the file control.' },
  N_DESC: { severity: 'warning', says: 'The entry description should be the word that the rules reserve for this use.' },
} as const satisfies Record<string, NachaRule>

export type NachaCode = keyof typeof NACHA_RULES
