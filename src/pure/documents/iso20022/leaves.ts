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
  /** Digits in all, and behind the point. */
  | { kind: 'decimal'; total: number; behind_point: number }
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
  BalanceType: 'OPBD CLBD PRCD ITBD OPAV CLAV ITAV FWAV XPCD INFO',
}

const CODE_LEAVES: ReadonlyMap<string, Leaf> = new Map(
  Object.entries(CODES).map(([name, codes]) => [name, { kind: 'codes', codes: new Set(codes.split(' ')) }]),
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
  year: { kind: 'pattern', pattern: /^-?\d{4,6}(?:Z|[+-]\d\d:\d\d)?$/, form: 'a year' },
  time: { kind: 'pattern', pattern: /^\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:\d\d)?$/, form: 'a time of day' },
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
