/** An ACH file as a test writes it: texts by column. Its totals are summed here, from the specification, not by the code under test. */
export interface EntrySpec {
  code: string
  /** Eight digits. */
  rdfi: string
  cents: number
  account?: string
  id?: string
  name?: string
  sequence: number
  /** Columns 4-83 of addenda 05, or whole addenda from column 2 on, 93 characters, when the line starts with `@`. */
  addenda?: string[]
  /** Columns 13-79 instead of account to flag. */
  middle?: string
}

export interface BatchSpec {
  sec: string
  service?: string
  description?: string
  effective?: string
  julian?: string
  number?: number
  odfi?: string
  /** Columns 5-40. */
  company?: string
  /** Columns 64-69. */
  dated?: string
  entries: EntrySpec[]
}

const ODFI = '07640125'
const COMPANY_ID = '1987654321'

export function left(text: string, width: number): string {
  if (text.length > width) throw new Error(`${text} is wider than ${width}`)
  return text + ' '.repeat(width - text.length)
}

export function zeros(number: number | bigint, width: number): string {
  return `${number}`.padStart(width, '0').slice(-width)
}

/** The digit that makes 3(a+d+g) + 7(b+e+h) + (c+f+i) a multiple of ten. */
function checkDigit(eight: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = Array.from(eight, Number)
  const sum = 3 * (a + d + g) + 7 * (b + e + h) + c + f
  for (let digit = 0; digit < 10; digit++) if ((sum + digit) % 10 === 0) return `${digit}`
  throw new Error('no digit')
}

function entryLines(entry: EntrySpec, batch: Required<Pick<BatchSpec, 'sec' | 'odfi'>>): string[] {
  const { code, rdfi, cents, sequence, addenda = [] } = entry
  const trace = batch.odfi + zeros(sequence, 7)
  const flag = addenda.length > 0 ? '1' : '0'
  const names = left(entry.id ?? '', 15) + left(entry.name ?? 'JANE DOE', 22)
  const middle = entry.middle ?? `${left(entry.account ?? '123456789', 17)}${zeros(cents, 10)}${names}  ${flag}`
  const lines = addenda.map((text, index) => {
    if (text.startsWith('@')) return `7${left(text.slice(1), 93)}`
    return `705${left(text, 80)}${zeros(index + 1, 4)}${zeros(sequence, 7)}`
  })
  return [`6${code}${rdfi}${checkDigit(rdfi)}${middle}${trace}`, ...lines]
}

function isCredit(code: string): boolean {
  return '01234'.includes(code.charAt(1))
}

function batchLines(batch: BatchSpec, index: number): string[] {
  const { sec, service = '200', description = 'PAYMENTS', effective = '261123', julian = '   ', odfi = ODFI, dated = '' } = batch
  const number = zeros(batch.number ?? index + 1, 7)
  const company = batch.company ?? left('ACME CORP', 36)
  const header = `5${service}${company}${COMPANY_ID}${sec}${left(description, 10)}${left(dated, 6)}${effective}${julian}1${odfi}${number}`
  const lines = batch.entries.flatMap((entry) => entryLines(entry, { sec, odfi }))
  const { hash, debit, credit } = totals([batch])
  const sums = `${zeros(lines.length, 6)}${zeros(hash, 10)}${zeros(debit, 12)}${zeros(credit, 12)}`
  return [header, ...lines, `8${service}${sums}${COMPANY_ID}${' '.repeat(25)}${odfi}${number}`]
}

function totals(batches: BatchSpec[]): { hash: bigint; debit: bigint; credit: bigint } {
  const entries = batches.flatMap((batch) => batch.entries)
  const cents = (credit: boolean) =>
    entries.filter(({ code }) => isCredit(code) === credit).reduce((sum, entry) => sum + BigInt(entry.cents), 0n)
  return { hash: entries.reduce((sum, { rdfi }) => sum + BigInt(rdfi), 0n), debit: cents(false), credit: cents(true) }
}

export const FILLER = '9'.repeat(94)

/** The lines of a file, filled to a multiple of ten. */
export function fileLines(batches: BatchSpec[]): string[] {
  const header = `101 076401251 0764012512611201200A094101${left('SOME BANK', 23)}${left('ACME CORP', 23)}${' '.repeat(8)}`
  const body = batches.flatMap(batchLines)
  const inside = body.filter((line) => line.startsWith('6') || line.startsWith('7')).length
  const { hash, debit, credit } = totals(batches)
  const records = body.length + 2
  const blocks = Math.floor((records + 9) / 10)
  const sums = `${zeros(inside, 8)}${zeros(hash, 10)}${zeros(debit, 12)}${zeros(credit, 12)}`
  const control = `9${zeros(batches.length, 6)}${zeros(blocks, 6)}${sums}${' '.repeat(39)}`
  const fillers = Array.from({ length: blocks * 10 - records }, () => FILLER)
  return [header, ...body, control, ...fillers]
}

/** The text with `columns` written over it from column `from` on, counted from 1. */
function over(line: string, from: number, columns: string): string {
  return line.slice(0, from - 1) + columns + line.slice(from - 1 + columns.length)
}

/** The same lines with columns of one of them written over; `which` is the number of the line, from 1. */
export function edit(lines: string[], which: number, from: number, columns: string): string[] {
  return lines.map((line, index) => (index === which - 1 ? over(line, from, columns) : line))
}

export function original(type: '98' | '99', code: string, sequence: number, rest = ''): string {
  return `@${type}${code}${ODFI}0000042${' '.repeat(6)}09100001${left(rest, 44)}${ODFI}${zeros(sequence, 7)}`
}

const A = '09100001'
const B = '12104288'

const seven = (sequence: number) => {
  const end = zeros(sequence, 7)
  const rest = (type: string, text: string) => `@${type}${left(text, 84)}${end}`
  return [
    `@10BUS${zeros(12_345, 18)}${left('', 22)}${left('NORTH WIND LTD', 35)}${' '.repeat(6)}${end}`,
    rest('11', 'ACME CORP'),
    rest('12', 'SPRINGFIELD*IL\\'),
    rest('13', 'SOME BANK'),
    rest('14', 'OTHER BANK'),
    rest('15', 'RECEIVER ID'),
    rest('16', 'TORONTO*ON\\'),
  ]
}

const iat = (sequence: number, code: string, cents: number, more: string[] = []): EntrySpec => {
  const addenda = [...seven(sequence), ...more]
  const middle = `${zeros(addenda.length, 4)}${' '.repeat(13)}${zeros(cents, 10)}${left('CA44001122', 35)}    1`
  return { code, rdfi: B, cents, sequence, addenda, middle }
}

export const PPD: BatchSpec = {
  sec: 'PPD',
  service: '220',
  description: 'PAYROLL',
  entries: [
    { code: '22', rdfi: A, cents: 250_000, id: 'E-1', name: 'JANE DOE', sequence: 1 },
    { code: '32', rdfi: B, cents: 199_999, id: 'E-2', name: 'JOHN ROE', sequence: 2, addenda: ['BONUS INCLUDED'] },
    { code: '23', rdfi: B, cents: 0, id: 'E-3', name: 'NEW HIRE', sequence: 3 },
  ],
}

export const CCD: BatchSpec = {
  sec: 'CCD',
  service: '225',
  entries: [{ code: '27', rdfi: B, cents: 5, id: 'INV 17', name: 'BUYER INC', sequence: 10, addenda: ['TRN*1*END-TO-END-7*1987654321\\'] }],
}

const RMR = 'RMR*IV*INV-0001**100.00*110.00*10.00\\RMR*IV*INV-0002**23.45\\REF*PO*4711\\'

const CTX: BatchSpec = {
  sec: 'CTX',
  service: '220',
  entries: [
    {
      code: '22',
      rdfi: A,
      cents: 12_345,
      sequence: 1,
      // The second reference is cut by the end of the first addenda.
      addenda: [left('BPR*C*123.45\\', 44) + RMR.slice(0, 36), RMR.slice(36)],
      middle: `${left('77', 17)}${zeros(12_345, 10)}${left('CTX-1', 15)}0002${left('SUPPLIER LLC', 16)}    1`,
    },
  ],
}

export const IAT: BatchSpec = {
  sec: 'IAT',
  service: '200',
  company: `${' '.repeat(16)}FF3${' '.repeat(15)}CA`,
  dated: 'USDCAD',
  entries: [
    iat(1, '22', 12_345),
    iat(2, '27', 700, [`@17${left('RMR*IV*EXPORT-9\\', 80)}00010000002`, `@18${left('BANK OF ELSEWHERE', 80)}00010000002`]),
  ],
}

export const RETURNS: BatchSpec = {
  sec: 'WEB',
  service: '225',
  effective: '261101',
  entries: [
    { code: '26', rdfi: A, cents: 999, sequence: 1, addenda: [original('99', 'R01', 1)] },
    { code: '36', rdfi: A, cents: 1_001, sequence: 2, addenda: [original('99', 'R10', 2)] },
  ],
}

export const NOTICES: BatchSpec = {
  sec: 'COR',
  service: '220',
  effective: '261101',
  entries: [{ code: '21', rdfi: A, cents: 0, sequence: 1, addenda: [original('98', 'C01', 1, '1918171614')] }],
}

export const WEB: BatchSpec = {
  sec: 'WEB',
  service: '225',
  description: 'PURCHASE',
  julian: '327',
  entries: [
    { code: '27', rdfi: A, cents: 4_200, sequence: 1 },
    { code: '37', rdfi: B, cents: 1, sequence: 5 },
  ],
}

export const POS: BatchSpec = {
  sec: 'POS',
  service: '225',
  entries: [{ code: '27', rdfi: A, cents: 100, sequence: 1, addenda: [`@02${left('REF1', 76)}${ODFI}0000001`] }],
}

export const CIE: BatchSpec = {
  sec: 'CIE',
  service: '220',
  entries: [{ code: '22', rdfi: A, cents: 100, id: 'SAM PAYER', name: 'ACCOUNT-NUMBER-OF-22-C', sequence: 1 }],
}

export const TEL: BatchSpec = { sec: 'TEL', service: '225', entries: [{ code: '27', rdfi: A, cents: 100, sequence: 1 }] }

/** Fresh trace numbers, so that batches can stand in one file. */
export function moved(batch: BatchSpec, by: number): BatchSpec {
  const entries = batch.entries.map((entry) => {
    const [now, then] = [zeros(entry.sequence, 7), zeros(entry.sequence + by, 7)]
    const addenda = entry.addenda?.map((text) => (text.startsWith('@') && text.endsWith(now) ? text.slice(0, -7) + then : text))
    return { ...entry, sequence: entry.sequence + by, ...(addenda === undefined ? {} : { addenda }) }
  })
  return { ...batch, entries }
}

export const CLEAN: Readonly<Record<string, string[]>> = {
  ppd: fileLines([PPD]),
  ccd: fileLines([CCD]),
  ctx: fileLines([CTX]),
  iat: fileLines([IAT]),
  returns: fileLines([RETURNS]),
  notices: fileLines([NOTICES]),
  web: fileLines([WEB]),
  pos: fileLines([POS]),
  cie: fileLines([CIE]),
  tel: fileLines([TEL]),
  mixed: fileLines([PPD, CCD, CTX, IAT, RETURNS, NOTICES, WEB].map((batch, index) => moved(batch, index * 100))),
}
