import type { Ledger } from './ledger.ts'

/**
 * Whether the entry can be about the instruction, by the account that its statement is of. Only two IBANs can contradict one another;
 * transfers between banks settle over accounts that the message does not name.
 */
export function accountFits({ instructions, entries }: Ledger, instruction: number, entry: number): boolean {
  const account = entries.account.get(entry)
  if (account <= 0 || instructions.sourceOf(instruction) === 'pacs.008') return true
  const debtor = instructions.debtor.get(instruction)
  const creditor = instructions.creditor.get(instruction)
  return debtor <= 0 || account === debtor || account === creditor
}

/** Which way money moves on the account of the statement when the instruction is carried out; null when the account does not tell. */
export function paysAsCredit({ instructions, entries }: Ledger, instruction: number, entry: number): boolean | null {
  const account = entries.account.get(entry)
  const debtor = instructions.debtor.get(instruction)
  const creditor = instructions.creditor.get(instruction)
  if (account !== 0 && debtor !== creditor) {
    if (account === debtor) return false
    if (account === creditor) return true
  }
  if (account !== 0 && account === debtor) return null
  return instructions.sourceOf(instruction) === 'pain.001' ? false : null
}

/** Whether the bank names another counterparty than the instruction: both are IBANs, and they differ. */
export function otherCounterparty({ instructions, entries }: Ledger, instruction: number, entry: number, credit: boolean): boolean {
  const named = entries.counterparty.get(entry)
  const meant = credit ? instructions.debtor.get(instruction) : instructions.creditor.get(instruction)
  return named > 0 && meant > 0 && named !== meant
}

/** Whether the bank names another UETR than the instruction: it may be another payment under the same id. */
export function otherUetr({ instructions, entries }: Ledger, instruction: number, entry: number): boolean {
  const named = entries.ids.uetr.get(entry)
  const meant = instructions.ids.uetr.get(instruction)
  return named !== 0 && meant !== 0 && named !== meant
}
