/**
 * The grammar of structure tables. Each line of a table defines a type by its elements, in order, and may continue on lines with more
 * indent:
 *
 *   Type: word word …
 *
 *   Name        exactly once               Name?    at most once
 *   Name+       once or more               Name*    any number
 *   Name?=Type  with a type of the table or a leaf below; the default type is the element's name
 *   Name*7      at most seven, Name+2 one or two
 *   A=x|B=y     exactly one of them, ?A=x|B=y at most one
 *   word@19-    only from that generation of the shared types on; word@-13 only up to it; word@19 only in it
 *   word#11-    the same by version of the message
 *
 * A generation is the year of the release that introduced the shared types: 9, 13, 19 or 23. The tables are written by hand from the
 * message definitions; where two releases differ in rarely used elements, both get the wider form, so that valid messages are never
 * rejected.
 */
export type TypeTable = Readonly<Record<string, string>>

/** One element of a type. Alternatives of a choice share a slot. */
export interface Member {
  readonly name: string
  readonly type: string
  readonly slot: number
  readonly max: number
  /** The bit of its slot among those of its type, in two words of 31. */
  readonly low: number
  readonly high: number
}

export interface TypeDefinition {
  readonly members: ReadonlyMap<string, Member>
  /** Bits of the slots that are required. */
  readonly required_low: number
  readonly required_high: number
  /** By slot: its names for a finding. */
  readonly labels: readonly string[]
}

type Content = { kind: 'leaf'; leaf: Leaf } | { kind: 'complex'; type: TypeDefinition } | { kind: 'any' }

/** Types of one version of a message. Each is parsed when it is first needed and then kept for all messages. */
export class Schema {
  private readonly types: TypeTable
  private readonly version: number
  private readonly generation: number
  private readonly contents = new Map<string, Content>()

  constructor(types: TypeTable, version: number, generation: number) {
    this.types = types
    this.version = version
    this.generation = generation
  }

  contentOf(type: string): Content {
    const kept = this.contents.get(type)
    if (kept !== undefined) return kept
    const content = this.parseContent(type)
    this.contents.set(type, content)
    return content
  }

  private parseContent(type: string): Content {
    if (type === 'any') return { kind: 'any' }
    const line = this.types[type]
    if (line !== undefined) return { kind: 'complex', type: this.parseType(line) }
    const leaf = leafNamed(type, this.generation)
    if (leaf === null) throw new Error(`Unknown type in the structure tables: ${type}.`)
    return { kind: 'leaf', leaf }
  }

  private parseType(line: string): TypeDefinition {
    const members = new Map<string, Member>()
    const labels: string[] = []
    let required_low = 0
    let required_high = 0
    for (const word of line.split(' ')) {
      const [, optional, body = '', from = '', dash = '', to = '', version_from = '', version_dash = '', version_to = ''] =
        WORD.exec(word) ?? []
      if (!isInRange(this.generation, from, dash, to) || !isInRange(this.version, version_from, version_dash, version_to)) continue
      const alternatives = body.split('|').map(parseElement)
      const slot = labels.length
      const low = slot < 31 ? 1 << slot : 0
      const high = slot < 31 ? 0 : 1 << (slot - 31)
      for (const { name, max, type } of alternatives) members.set(name, { name, type, slot, max, low, high })
      if (optional === undefined && alternatives.every(({ min }) => min > 0)) {
        required_low |= low
        required_high |= high
      }
      labels.push(alternatives.map(({ name }) => name).join(' or '))
    }
    return { members, required_low, required_high, labels }
  }
}

const WORD = /^(\?)?([^@#]+)(?:@(\d*)(-?)(\d*))?(?:#(\d*)(-?)(\d*))?$/
const ELEMENT = /^([A-Za-z0-9]+)([?*+]?)(\d*)(?:=([A-Za-z0-9]+))?$/

function parseElement(text: string): { name: string; type: string; min: number; max: number } {
  const [, name = '', mark = '', most = '', type = name] = ELEMENT.exec(text) ?? []
  if (name === '') throw new Error(`Unreadable word in the structure tables: ${text}.`)
  const min = mark === '?' || mark === '*' ? 0 : 1
  const many = mark === '*' || mark === '+'
  return { name, type, min, max: !many ? 1 : most === '' ? Infinity : Number.parseInt(most, 10) }
}

/** Returns whether a number is in a range such as `19-`, `-13` or `8`; an empty range includes every number. */
function isInRange(value: number, from: string, dash: string, to: string): boolean {
  if (from === '' && to === '') return true
  if (dash === '') return value === Number.parseInt(from, 10)
  return (from === '' || value >= Number.parseInt(from, 10)) && (to === '' || value <= Number.parseInt(to, 10))
}

/** Types of values, which decide the form of a text and the rules for it. Source: the simple types of the message definitions. */

export type Leaf =
  /** Free text: length and character set. */
  | { kind: 'text'; most: number }
  /** An identification: like text, and slashes and spaces are checked. */
  | { kind: 'id'; most: number }
  /** A code of an external list: only its length is checked, since the lists change faster than the schemas. */
  | { kind: 'external'; most: number }
  | { kind: 'pattern'; pattern: RegExp; form: string }
  | { kind: 'codes'; codes: ReadonlySet<string> }
  | { kind: 'amount' }
  | { kind: 'sum' }
  /** Maximum digits in total and after the point; minimum value; `priced` when it has a currency. */
  | { kind: 'decimal'; total: number; fraction: number; least?: 0 | 1; priced?: true }
  | { kind: 'date' }
  | { kind: 'date_time' }
  | { kind: 'currency' }
  | { kind: 'country' }
  | { kind: 'iban' }
  | { kind: 'bic'; form: 2009 | 2014 }
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
  // Codes of the detail types, named as in the message definitions.
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
  Object.entries(CODES).map(([name, codes]) => [name, { kind: 'codes', codes: new Set(codes.split(' ')) }]),
)

/** Base64 of 1 to 10,240 bytes, with white space between any two characters. */
const BASE64 = new RegExp(
  '^[ \\t\\r\\n]*(?:C{4}){0,3413}(?:C{4}|C{2}=[ \\t\\r\\n]*=[ \\t\\r\\n]*|C{3}=[ \\t\\r\\n]*)$'.replaceAll(
    'C',
    '(?:[A-Za-z0-9+/][ \\t\\r\\n]*)',
  ),
)

/** Leaves by name, except `bic`, which depends on the generation. */
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
  rate: { kind: 'decimal', total: 11, fraction: 10 },
  number: { kind: 'decimal', total: 18, fraction: 0 },
  count: { kind: 'pattern', pattern: /^[0-9]{1,15}$/, form: '1 to 15 digits' },
  page: { kind: 'pattern', pattern: /^[0-9]{1,5}$/, form: '1 to 5 digits' },
  phone: { kind: 'pattern', pattern: /^\+[0-9]{1,3}-[0-9()+-]{1,30}$/, form: 'a phone number such as +49-301234567' },
  four: { kind: 'pattern', pattern: /^[a-zA-Z0-9]{4}$/, form: '4 letters or digits' },
  uuid: {
    kind: 'pattern',
    pattern: /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/,
    form: 'a version 4 UUID in lower case',
  },
  positiveNumber: { kind: 'decimal', total: 18, fraction: 0, least: 1 },
  positiveSum: { kind: 'decimal', total: 18, fraction: 17, least: 0 },
  bareAmount: { kind: 'decimal', total: 18, fraction: 5, least: 0 },
  price: { kind: 'decimal', total: 18, fraction: 13, least: 0, priced: true },
  longDecimal: { kind: 'decimal', total: 30, fraction: 29 },
  base64: { kind: 'pattern', pattern: BASE64, form: 'base64 text of at most 10,240 bytes' },
  hex: { kind: 'pattern', pattern: /^[0-9a-fA-F]+$/, form: 'hexadecimal digits' },
  sha256: { kind: 'pattern', pattern: /^[0-9A-F]{64}$/, form: '64 hexadecimal digits in upper case' },
  isin: { kind: 'pattern', pattern: /^[A-Z0-9]{12}$/, form: '12 letters or digits' },
  isin2015: { kind: 'pattern', pattern: /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/, form: 'an ISIN such as DE0005140008' },
  language: { kind: 'pattern', pattern: /^[a-z]{2}$/, form: 'two letters in lower case' },
  signedCount: { kind: 'pattern', pattern: /^\+?[0-9]{1,15}$/, form: '1 to 15 digits' },
  digits1: { kind: 'pattern', pattern: /^[0-9]$/, form: 'one digit' },
  yearMonth: { kind: 'pattern', pattern: /^\s*\d{4}-(?:0[1-9]|1[0-2])(?:Z|[+-]\d\d:\d\d)?\s*$/, form: 'a month such as 2026-11' },
  year: { kind: 'pattern', pattern: /^-?\d{4,6}(?:Z|[+-]\d\d:\d\d)?$/, form: 'a year such as 2026' },
  time: {
    kind: 'pattern',
    pattern: /^\s*(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?|24:00:00)(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?\s*$/,
    form: 'a time of day such as 17:00:00Z',
  },
}

/** Text, ID and external code of at most so many characters; digits of so many, or from so many to so many. */
const SIZED = /^(t|id|e|digits)(\d+)(?:to(\d+))?$/

function leafNamed(name: string, generation: number): Leaf | null {
  if (name === 'bic') return { kind: 'bic', form: generation < 19 ? 2009 : 2014 }
  const named = NAMED[name] ?? CODE_LEAVES.get(name)
  if (named !== undefined) return named
  const [, kind, size = '', to] = SIZED.exec(name) ?? []
  const most = Number.parseInt(size, 10)
  switch (kind) {
    case 't':
      return { kind: 'text', most }
    case 'id':
      return { kind: 'id', most }
    case 'e':
      return { kind: 'external', most }
    case 'digits':
      return {
        kind: 'pattern',
        pattern: new RegExp(`^[0-9]{${size},${to ?? size}}$`),
        form: to === undefined ? `${size} digits` : `${size} to ${to} digits`,
      }
    case undefined:
    default:
      return null
  }
}

/** Returns whether a value has its currency as an attribute. */
export function hasCurrency(leaf: Leaf | null): boolean {
  return leaf !== null && (leaf.kind === 'amount' || (leaf.kind === 'decimal' && leaf.priced === true))
}
