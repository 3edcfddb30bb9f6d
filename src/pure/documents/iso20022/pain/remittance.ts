/** Rules on the remittance information of pain.001: structured or not, creditor references and their check digits. */
import type { RuleContext, Watcher } from '../rule-engine.ts'
import type { Payment } from './payment.ts'

const TX = 'PmtInf/CdtTrfTxInf'
const RMT = `${TX}/RmtInf`
const REF = `${RMT}/Strd/CdtrRefInf`

export function remittanceWatcher(context: RuleContext, payment: Payment): Watcher {
  let lines = 0
  let type = ''
  let qr_reference = false
  return {
    open: {
      [TX]: () => void (qr_reference = false),
      [RMT]: () => void (lines = 0),
      [REF]: () => void (type = ''),
      [`${RMT}/Ustrd`]: () => void lines++,
    },
    text: {
      [`${RMT}/Ustrd`]: (text) => void (payment.remittance = joined(payment.remittance, text)),
      [`${REF}/Tp/CdOrPrtry/Cd`]: (text) => void (type = text),
      [`${REF}/Tp/CdOrPrtry/Prtry`]: (text) => void (type = text),
      [`${REF}/Ref`]: (text) => {
        payment.remittance = joined(payment.remittance, text)
        qr_reference ||= type === 'QRR'
        checkReference(context, type, text)
      },
      [`${RMT}/Strd/RfrdDocInf/Nb`]: (text) => void (payment.remittance = joined(payment.remittance, text)),
    },
    close: {
      [RMT]: () => {
        if (context.has('Strd') && context.has('Ustrd')) context.report('P_RMT_BOTH', { found: 'Ustrd and Strd' })
        if (lines > 1) context.report('P_RMT_LEN', { found: `${lines} lines`, expected: 'one of 140 characters' })
      },
      [TX]: () => checkAccount(context, payment.creditor_account, qr_reference),
    },
  }
}

/** The bank of a QR-IBAN has a number from 30000 to 31999 (Swiss implementation guidelines for the QR-bill, 2.3). */
const QR_IBAN = /^(?:CH|LI)\d\d3[01]\d{3}/

function checkAccount(context: RuleContext, account: string, qr_reference: boolean): void {
  if (QR_IBAN.test(account) === qr_reference) return
  const expected = qr_reference ? 'a QR-IBAN for the QR reference' : 'a QR reference for the QR-IBAN'
  context.report('P_QR_IBAN', { found: account, expected })
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n${text}`
}

function checkReference(context: RuleContext, type: string, reference: string): void {
  if (type === 'QRR') {
    if (!isQrReference(reference))
      context.report('P_QRR_CHECK', { found: reference, expected: '27 digits, the last one their check digit' })
  } else if ((type === 'SCOR' || type === '') && /^RF\d\d/i.test(reference) && !isCreditorReference(reference)) {
    context.report('P_SCOR_CHECK', { found: reference, expected: 'RF, check digits, at most 21 letters or digits' })
  }
}

/** ISO 11649: RF, two check digits, up to 21 characters; spaces are for people. */
function isCreditorReference(reference: string): boolean {
  const value = reference.replaceAll(' ', '').toUpperCase()
  if (!/^RF\d\d[A-Z0-9]{1,21}$/.test(value)) return false
  let remainder = 0
  for (const character of value.slice(4) + value.slice(0, 4)) {
    const place = Number.parseInt(character, 36)
    remainder = (remainder * (place > 9 ? 100 : 10) + place) % 97
  }
  return remainder === 1
}

/** Each row is the one before, rotated. */
const CARRY = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5] as const

/** Modulo 10 recursive over the first 26 digits gives the 27th. */
function isQrReference(reference: string): boolean {
  if (!/^\d{27}$/.test(reference)) return false
  let carry = 0
  for (const digit of reference.slice(0, 26)) carry = CARRY[(carry + Number.parseInt(digit, 10)) % 10] ?? 0
  return (10 - carry) % 10 === Number.parseInt(reference.slice(26), 10)
}
