/**
 * What the codes of entries mean, as far as rules look at it. Sources: the bank transaction codes and the external code sets of ISO 20022,
 * read in November 2026. The lists move; they err towards known: reasons of reversals and cancellations are among those of returns.
 */

/** CRDT or DBIT; '' while unknown. */
export type Direction = 'CRDT' | 'DBIT' | ''

export function directionOf(text: string): Direction {
  return text === 'CRDT' || text === 'DBIT' ? text : ''
}

export function isTrue(text: string): boolean {
  const value = text.trim()
  return value === 'true' || value === '1'
}

export interface BankCode {
  domain: string
  family: string
  sub_family: string
  proprietary: string
  issuer: string
}

export function newBankCode(): BankCode {
  return { domain: '', family: '', sub_family: '', proprietary: '', issuer: '' }
}

export function clearBankCode(code: BankCode): void {
  code.domain = ''
  code.family = ''
  code.sub_family = ''
  code.proprietary = ''
  code.issuer = ''
}

/** What fills a code from the element at this path. */
export function bankCodeTexts(path: string, code: BankCode): Record<string, (text: string) => void> {
  return {
    [`${path}/Domn/Cd`]: (text) => void (code.domain = text),
    [`${path}/Domn/Fmly/Cd`]: (text) => void (code.family = text),
    [`${path}/Domn/Fmly/SubFmlyCd`]: (text) => void (code.sub_family = text),
    [`${path}/Prtry/Cd`]: (text) => void (code.proprietary = text),
    [`${path}/Prtry/Issr`]: (text) => void (code.issuer = text),
  }
}

/** The names under which totals by code may ask for an entry: by domain, by the bank's own code, by both. */
export function bankCodeKeys({ domain, family, sub_family, proprietary, issuer }: BankCode): readonly string[] {
  const by_domain = domain === '' ? '' : `${domain}/${family}/${sub_family}`
  const by_bank = proprietary === '' ? '' : `${proprietary} ${issuer}`
  if (by_domain === '') return [`|${by_bank}`]
  return by_bank === '' ? [`${by_domain}|`] : [`${by_domain}|${by_bank}`, `${by_domain}|`, `|${by_bank}`]
}

/** The direction that a family of the payments domain has by its meaning: issued or received transfers and debits. */
const DIRECTIONS: ReadonlyMap<string, Direction> = new Map([
  ['RCDT', 'CRDT'],
  ['RRCT', 'CRDT'],
  ['IDDT', 'CRDT'],
  ['ICDT', 'DBIT'],
  ['IRCT', 'DBIT'],
  ['RDDT', 'DBIT'],
])

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Payments that came back from the other side. */
const RETURNED = words('RRTN UPDD UPCQ UPCT')
/** Sub-families that go either way: what came back or was undone, charges, interest, taxes, adjustments. */
const EITHER_WAY = words('RRTN UPDD UPCQ UPCT RPCR PRDD RCDD CHRG COME COMI COMM COMT CAJT DAJT FEES INTR RIMB TAXE')

const RETURN_REASONS = words(
  'AC01 AC02 AC03 AC04 AC05 AC06 AC07 AC13 AC14 AC15 AC16 AC17 AG01 AG02 AG03 AG07 AGNT AM01 AM02 AM03 AM04 AM05 AM06 AM07 AM09 AM10 ARDT ' +
    'BE01 BE04 BE05 BE06 BE07 BE08 BE10 BE11 BE16 BE17 CN01 CNOR CNPC CURR CUST CUTA DN01 DNOR DS28 DT01 DT02 DT04 DUPL ED01 ED03 ED05 EMVL ' +
    'ERIN FF01 FF03 FF04 FF05 FF06 FF07 FOCR FR01 FRAD FRTR G004 INDM MD01 MD02 MD05 MD06 MD07 MS02 MS03 NARR NERI NOAS NOCM NOOR PINL ' +
    'RC01 RC03 RC04 RC07 RC08 RC11 RF01 RR01 RR02 RR03 RR04 RR05 RR06 RR07 RR08 RR09 RR10 RR11 RR12 RUTA SL01 SL02 SL03 SL11 SL12 SL13 SL14 ' +
    'SP01 SP02 SVNR TECH TM01 TRAC UPAY',
)

export function isReturned({ sub_family }: BankCode): boolean {
  return RETURNED.has(sub_family)
}

export function isReturnReason(code: string): boolean {
  return RETURN_REASONS.has(code)
}

/** The direction that an entry of this code should have; '' when the code does not say. */
export function directionByCode({ domain, family, sub_family }: BankCode): Direction {
  if (domain !== 'PMNT' || EITHER_WAY.has(sub_family)) return ''
  return DIRECTIONS.get(family) ?? ''
}
