/** Types of values: what a text must look like, and which rules look at it. Source: the simple types of the message definitions. */

export type Leaf =
  /** Text of people: length, and the character set of the networks. */
  | { kind: 'text'; most: number }
  /** An identification: as text, and slashes and spaces matter. */
  | { kind: 'id'; most: number }
  /** A code of an external list: its length only, since the lists move faster than the schemas. */
  | { kind: 'external'; most: number }
  | { kind: 'pattern'; pattern: RegExp; form: string }
  | { kind: 'codes'; codes: ReadonlySet<string> }
  | { kind: 'amount' }
  | { kind: 'sum' }
  /** Digits in all, and behind the point; `least` is 0 or 1 where less is refused, `priced` when it carries a currency. */
  | { kind: 'decimal'; total: number; behind_point: number; least?: 0 | 1; priced?: true }
  | { kind: 'date' }
  | { kind: 'date_time' }
  | { kind: 'currency' }
  | { kind: 'country' }
  | { kind: 'iban' }
  | { kind: 'bic'; grammar: 2009 | 2014 }
  | { kind: 'lei' }
  | { kind: 'uetr' }

const CODES: Readonly<Record<string, string>> = {
  AddressType: 'ADDR PBOX HOME BIZZ MLTO DLVY',
  AdviceKind: 'ADWD ADND',
  Authorisation: 'AUTH FDET FSUM ILEV',
  ChargeBearer: 'DEBT CRED SHAR SLEV',
  ChequeDelivery: 'MLDB MLCD MLFA CRDB CRCD CRFA PUDB PUCD PUFA RGDB RGCD RGFA',
  ChequeType: 'CCHQ CCCH BCHQ DRFT ELDR',
  ClearingChannel: 'RTGS RTNS MPNS BOOK',
  CopyDuplicate: 'CODU COPY DUPL',
  CreditDebit: 'CRDT DBIT',
  DebitCredit: 'CRED DEBT BOTH',
  EntryStatus: 'BOOK PDNG INFO',
  Instruction: 'CHQB HOLD PHOB TELB',
  InstructionNext: 'PHOA TELA',
  NamePrefix: 'DOCT MADM MISS MIST MIKS',
  PaymentMethod: 'CHK TRF TRA',
  PreferredContact: 'LETT MAIL PHON FAXX CELL ONLI',
  Priority: 'HIGH NORM',
  RateType: 'SPOT SALE AGRD',
  SettlementMethod: 'INDA INGA COVE CLRG',
  SettlementPriority: 'URGT HIGH NORM',
  CashAccount: 'CASH CHAR COMM TAXE CISH TRAS SACC CACC SVGS ONDP MGLD NREX MOMA LOAN SLRY ODFT',
  DocumentKind: 'MSIN CNFA DNFA CINV CREN DEBN HIRI SBIN CMCN SOAC DISP BOLD VCHR AROI TSUT PUOR',
  OldDocumentKind: 'MSIN CNFA DNFA CINV CREN DEBN HIRI SBIN CMCN SOAC DISP BOLD VCHR AROI TSUT',
  ReferenceKind: 'RADM RPIN FXDR DISP PUOR SCOR',
  OldNamePrefix: 'DOCT MADM MISS MIST',
  OldPreferredContact: 'LETT MAIL PHON FAXX CELL',
  BalanceType: 'OPBD CLBD PRCD ITBD OPAV CLAV ITAV FWAV XPCD INFO',
}

/** Codes of the detail types, named as there. */
const DETAIL_CODES: Readonly<Record<string, string>> = {
  AttendanceContext1Code: 'ATTD SATT UATT',
  AuthenticationEntity1Code: 'ICCD AGNT MERC',
  AuthenticationMethod1Code: 'UKNW BYPS NPIN FPIN CPSG PPSG MANU MERC SCRT SNCT SCNL',
  CSCManagement1Code: 'PRST BYPS UNRD NCSC',
  CardDataReading1Code: 'TAGC PHYS BRCD MGST CICC DFLE CTLS ECTL',
  CardPaymentServiceType2Code: 'AGGR DCCV GRTT INSP LOYT NRES PUCO RECP SOAF UNAF VCAU',
  CardholderVerificationCapability1Code: 'MNSG NPIN FCPN FEPN FDSG FBIO MNVR FBIG APKI PKIS CHDT SCEC',
  ChargeType1Code: 'BRKF COMM',
  Frequency6Code: 'YEAR MNTH QURT MIAN WEEK DAIL ADHO INDA FRTN',
  InterestType1Code: 'INDY OVRN',
  MandateClassification1Code: 'FIXE USGB VARI',
  OnLineCapability1Code: 'OFLN ONLN SMON',
  POIComponentType1Code: 'SOFT EMVK EMVO MRIT CHIT SECM PEDV',
  PartyType3Code: 'OPOI MERC ACCP ITAG ACQR CISS DLIS',
  PartyType4Code: 'MERC ACCP ITAG ACQR CISS TAXH',
  PriceValueType1Code: 'DISC PREM PARV',
  RemittanceLocationMethod2Code: 'FAXI EDIC URID EMAL POST SMSM',
  SequenceType3Code: 'FRST RCUR FNAL OOFF RPRE',
  TaxRecordPeriod1Code: 'MM01 MM02 MM03 MM04 MM05 MM06 MM07 MM08 MM09 MM10 MM11 MM12 QTR1 QTR2 QTR3 QTR4 HLF1 HLF2',
  TransactionChannel1Code: 'MAIL TLPH ECOM TVPY',
  TransactionEnvironment1Code: 'MERC PRIV PUBL',
  UnitOfMeasure1Code:
    'PIEC TONS FOOT GBGA USGA GRAM INCH KILO PUND METR CMET MMET LITR CELI MILI GBOU USOU GBQA USQA GBPI USPI MILE KMET YARD SQKI ' +
    'HECT ARES SMET SCMT SMIL SQMI SQYA SQFO SQIN ACRE',
  UserInterface2Code: 'MDSP CDSP',
}

const CODE_LEAVES: ReadonlyMap<string, Leaf> = new Map(
  Object.entries({ ...CODES, ...DETAIL_CODES }).map(([name, codes]) => [name, { kind: 'codes', codes: new Set(codes.split(' ')) }]),
)

/** Groups of four characters, white space between any two, at least one group and at most those of 10,240 bytes. */
const BASE64 = new RegExp(
  '^[ \\t\\r\\n]*(?:C{4}){0,3413}(?:C{4}|C{2}=[ \\t\\r\\n]*=[ \\t\\r\\n]*|C{3}=[ \\t\\r\\n]*)$'.replaceAll(
    'C',
    '(?:[A-Za-z0-9+/][ \\t\\r\\n]*)',
  ),
)

/** The leaves that have a name of their own; `bic` depends on the generation. */
const NAMED: Readonly<Record<string, Leaf>> = {
  amount: { kind: 'amount' },
  sum: { kind: 'sum' },
  date: { kind: 'date' },
  dateTime: { kind: 'date_time' },
  currency: { kind: 'currency' },
  country: { kind: 'country' },
  iban: { kind: 'iban' },
  lei: { kind: 'lei' },
  uetr: { kind: 'uetr' },
  boolean: { kind: 'pattern', pattern: /^[ \t\r\n]*(?:true|false|1|0)[ \t\r\n]*$/, form: 'true, false, 1 or 0' },
  rate: { kind: 'decimal', total: 11, behind_point: 10 },
  number: { kind: 'decimal', total: 18, behind_point: 0 },
  count: { kind: 'pattern', pattern: /^[0-9]{1,15}$/, form: '1 to 15 digits' },
  page: { kind: 'pattern', pattern: /^[0-9]{1,5}$/, form: '1 to 5 digits' },
  phone: { kind: 'pattern', pattern: /^\+[0-9]{1,3}-[0-9()+-]{1,30}$/, form: 'a number as +49-301234567' },
  four: { kind: 'pattern', pattern: /^[a-zA-Z0-9]{4}$/, form: '4 letters or digits' },
  uuid: {
    kind: 'pattern',
    pattern: /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/,
    form: 'a UUID of version 4 in lower case',
  },
  positiveNumber: { kind: 'decimal', total: 18, behind_point: 0, least: 1 },
  positiveSum: { kind: 'decimal', total: 18, behind_point: 17, least: 0 },
  bareAmount: { kind: 'decimal', total: 18, behind_point: 5, least: 0 },
  price: { kind: 'decimal', total: 18, behind_point: 13, least: 0, priced: true },
  longDecimal: { kind: 'decimal', total: 30, behind_point: 29 },
  base64: { kind: 'pattern', pattern: BASE64, form: 'base64 text of at most 10,240 bytes' },
  hex: { kind: 'pattern', pattern: /^[0-9a-fA-F]+$/, form: 'hexadecimal digits' },
  sha256: { kind: 'pattern', pattern: /^[0-9A-F]{64}$/, form: '64 hexadecimal digits in upper case' },
  isin: { kind: 'pattern', pattern: /^[A-Z0-9]{12}$/, form: '12 letters or digits' },
  isin2015: { kind: 'pattern', pattern: /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/, form: 'an ISIN such as DE0005140008' },
  language: { kind: 'pattern', pattern: /^[a-z]{2}$/, form: 'two letters in lower case' },
  signedCount: { kind: 'pattern', pattern: /^\+?[0-9]{1,15}$/, form: '1 to 15 digits' },
  digits1: { kind: 'pattern', pattern: /^[0-9]$/, form: 'one digit' },
  digits2: { kind: 'pattern', pattern: /^[0-9]{2}$/, form: '2 digits' },
  digits3: { kind: 'pattern', pattern: /^[0-9]{3}$/, form: '3 digits' },
  digits2to3: { kind: 'pattern', pattern: /^[0-9]{2,3}$/, form: '2 or 3 digits' },
  digits3to4: { kind: 'pattern', pattern: /^[0-9]{3,4}$/, form: '3 or 4 digits' },
  digits1to3: { kind: 'pattern', pattern: /^[0-9]{1,3}$/, form: '1 to 3 digits' },
  digits8to28: { kind: 'pattern', pattern: /^[0-9]{8,28}$/, form: '8 to 28 digits' },
  yearMonth: { kind: 'pattern', pattern: /^\s*\d{4}-(?:0[1-9]|1[0-2])(?:Z|[+-]\d\d:\d\d)?\s*$/, form: 'a month such as 2026-11' },
  year: { kind: 'pattern', pattern: /^-?\d{4,6}(?:Z|[+-]\d\d:\d\d)?$/, form: 'a year' },
  time: {
    kind: 'pattern',
    pattern: /^\s*(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?|24:00:00)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?\s*$/,
    form: 'a time of day such as 17:00:00Z',
  },
}

const SIZED = /^(id|t|e)(\d+)$/

/** The leaf of this name; null when there is none. */
export function leafOf(name: string, generation: number): Leaf | null {
  if (name === 'bic') return { kind: 'bic', grammar: generation < 19 ? 2009 : 2014 }
  const [, kind, size = ''] = SIZED.exec(name) ?? []
  if (kind === undefined) return NAMED[name] ?? CODE_LEAVES.get(name) ?? null
  const most = Number.parseInt(size, 10)
  return kind === 'id' ? { kind: 'id', most } : kind === 't' ? { kind: 'text', most } : { kind: 'external', most }
}

/** Whether a value carries its currency as an attribute. */
export function hasCurrency(leaf: Leaf | null): boolean {
  return leaf !== null && (leaf.kind === 'amount' || (leaf.kind === 'decimal' && leaf.priced === true))
}
