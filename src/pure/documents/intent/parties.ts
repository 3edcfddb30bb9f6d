import { checkIban } from '../../checks/iban.ts'
import { readEvmAddress } from '../../checks/evm-address.ts'
import type { IntentFinding } from './finding.ts'

const ZERO = `0x${'0'.repeat(40)}`

export interface Parties {
  debtor_iban: string
  creditor_iban: string
  /** EIP-55 form; null where the directory does not name the debtor's wallet. */
  from: string | null
  to: string
  recipient_source: 'directory' | 'seller_pay_to_address'
  /** The directory and seller_pay_to_address name different wallets; the directory wins. */
  recipients_differ: boolean
}

interface Given {
  debtor_iban: string
  creditor_iban: string
  directory: Readonly<Record<string, string>>
  seller_pay_to_address?: string | undefined
}

/**
 * Who pays whom. Accounts are compared without spaces and in capitals, after their check digits; wallets with capitals must bear those of
 * EIP-55, since a mistyped one would take the money. The creditor's wallet in the directory goes before the seller's address.
 */
export function readParties(given: Given, findings: IntentFinding[]): Parties | null {
  const debtor_iban = account(given.debtor_iban, 'instruction.debtor.iban', findings)
  const creditor_iban = account(given.creditor_iban, 'instruction.creditor.iban', findings)
  const wallets = walletsOf(given.directory, [debtor_iban, creditor_iban], findings)
  const seller = given.seller_pay_to_address === undefined ? null : wallet(given.seller_pay_to_address, 'seller_pay_to_address', findings)
  if (debtor_iban === null || creditor_iban === null || findings.length > 0) return null
  const listed = wallets.get(creditor_iban) ?? null
  const to = listed ?? seller
  const from = wallets.get(debtor_iban) ?? null
  if (to === null) {
    findings.push({ code: 'recipient_missing', field: 'counterparty_wallet_directory', message: 'No wallet of the creditor is named.' })
    return null
  }
  if (from === to) {
    findings.push({ code: 'payer_is_recipient', field: 'counterparty_wallet_directory', message: 'Payer and recipient are one wallet.' })
    return null
  }
  const recipient_source = listed === null ? ('seller_pay_to_address' as const) : ('directory' as const)
  return {
    debtor_iban,
    creditor_iban,
    from,
    to,
    recipient_source,
    recipients_differ: listed !== null && seller !== null && listed !== seller,
  }
}

function account(text: string, field: string, findings: IntentFinding[]): string | null {
  const { valid, normalized } = checkIban(text)
  if (valid) return normalized
  findings.push({ code: 'iban_invalid', field, message: 'The IBAN fails its own rules; iban-check says where.' })
  return null
}

/** The wallets of these accounts. Other entries are nobody's business here, whatever they hold. */
function walletsOf(directory: Readonly<Record<string, string>>, accounts: readonly (string | null)[], findings: IntentFinding[]) {
  const wallets = new Map<string, string>()
  for (const [key, value] of Object.entries(directory)) {
    const { normalized } = checkIban(key)
    if (!accounts.includes(normalized)) continue
    const found = wallet(value, 'counterparty_wallet_directory', findings)
    const known = wallets.get(normalized) ?? found
    if (found !== null) wallets.set(normalized, found)
    if (known === found) continue
    const message = 'One IBAN is listed twice with different wallets.'
    findings.push({ code: 'directory_ambiguous', field: 'counterparty_wallet_directory', message })
  }
  return wallets
}

function wallet(text: string, field: string, findings: IntentFinding[]): string | null {
  const read = text.startsWith('0x') ? readEvmAddress(text) : null
  const fault = (code: IntentFinding['code'], message: string) => {
    findings.push({ code, field, message })
    return null
  }
  if (read === null) return fault('wallet_invalid', 'A wallet is 0x and 40 hexadecimal digits.')
  if (read.checksum === 'broken') return fault('wallet_checksum', 'The capitals of a wallet are not those of EIP-55: it may be mistyped.')
  if (read.address === ZERO) return fault('wallet_zero', 'The zero address is nobody’s wallet.')
  return read.checksummed
}
