/** The rules of pacs.008. Sources: the message definition reports of ISO 20022, the EPC rulebooks and CBPR+, read in November 2026. */
import { ERROR, only, type Rule, rule, WARNING } from '../rule.ts'

const PACS = ['pacs.008'] as const
const CBPR = only(['CBPR'], 'error')

/** Totals, settlement and identifications. */
const GROUP_RULES = {
  C_NBTX: rule(ERROR, PACS, 'The receiver counts the transactions.'),
  C_CTRLSUM: rule(ERROR, PACS, 'The receiver adds the settlement amounts exactly, whatever their currency.'),
  C_TTLAMT: rule(ERROR, PACS, 'The total that is settled is the sum of the settlement amounts.'),
  C_TTLAMT_CCY: rule(ERROR, PACS, 'One total is settled in one currency.'),
  C_STTLMDT_LEVEL: rule(ERROR, PACS, 'The settlement date is said once: for the message, or for each transaction.'),
  C_AMT_ZERO: rule(ERROR, PACS, 'Nothing would be settled.'),
  C_TXID_MISSING: rule(ERROR, PACS, 'Version 02 demands a transaction identification.'),
  C_TXID_DUPLICATE: rule(ERROR, PACS, 'Returns and recalls refer to one transaction by it.'),
  C_INSTRID_DUPLICATE: rule(ERROR, PACS, 'The instructed agent takes the second for a repetition.'),
  C_UETR_MISSING: rule(only(['CBPR', 'SEPA'], 'error'), PACS, 'The payment is followed across banks by its UETR.'),
  C_E2E_EMPTY: rule(ERROR, PACS, 'The payment cannot be reconciled; NOTPROVIDED says that there is none.'),
  C_E2E_DUPLICATE: rule(WARNING, PACS, 'Legal, but the payments cannot be told apart at their end.'),
  C_SINGLE_TX: rule(CBPR, PACS, 'CBPR+ carries one transaction a message.'),
  C_STTLMMTD_CLRG: rule(ERROR, PACS, 'Settlement through clearing needs the clearing system.'),
  C_STTLMMTD_COVE: rule(ERROR, PACS, 'A cover payment moves over reimbursement agents; none is named.'),
  C_STTLMMTD_REIMB: rule(ERROR, PACS, 'Settlement on accounts between the two agents has no reimbursement agents.'),
  C_XPRY: rule(ERROR, PACS, 'The message had expired before it was made.'),
} as const satisfies Record<string, Rule>

/** Agents, parties and the header around the message. */
const AGENT_RULES = {
  C_INSTGAGT: rule(CBPR, PACS, 'CBPR+ names instructing and instructed agent by BIC.'),
  C_AGENT_LEVEL: rule(ERROR, PACS, 'The agent is named for the message or for each transaction, not both.'),
  C_HDR_BIC: rule(CBPR, PACS, 'The header comes from the instructing agent and goes to the instructed one.'),
  C_HDR_MSGDEF: rule(ERROR, PACS, 'The header announces another message than the document is.'),
  C_HDR_BIZMSG: rule(ERROR, PACS, 'Header and message carry one identification.'),
  C_HDR_PRTY: rule(CBPR, PACS, 'Header and payment state one priority.'),
  C_HDR_BIZSVC: rule(CBPR, PACS, 'CBPR+ carries a customer credit transfer under swift.cbprplus or swift.cbprplus.stp.'),
  C_PREV_AGENT_ORDER: rule(ERROR, PACS, 'Agents in a row are filled from the first.'),
  C_AGENT_NAME_ADDR: rule(CBPR, PACS, 'Name and address of an agent stand together or not at all.'),
  C_DBTR_ID: rule(ERROR, PACS, 'Nobody can tell who pays: no name, account or identification.'),
} as const satisfies Record<string, Rule>

/** Conversion, charges, instructions and remittance. */
const TRANSFER_RULES = {
  C_XCHGRATE_SAMECCY: rule(ERROR, PACS, 'A rate between equal currencies means nothing.'),
  C_XCHGRATE_MISSING: rule(WARNING, PACS, 'The currencies differ and no rate says how one became the other.'),
  C_XCHG_INCONSISTENT: rule(WARNING, PACS, 'Instructed amount and rate give another settlement amount, in either way of quoting.'),
  C_CHRG_CRED: rule(ERROR, PACS, 'When the creditor bears the charges they are told, be they zero.'),
  C_CHRG_DEBT: rule(ERROR, PACS, 'When the debtor bears the charges they are told at most once.'),
  C_CHRG_DIFF: rule(ERROR, PACS, 'Money is missing between instructed and settled amount, and no charges say why.'),
  C_CHRG_SUM: rule(WARNING, PACS, 'The charges do not make up what lies between instructed and settled amount.'),
  C_SLEV: rule(only(['SEPA'], 'error'), PACS, 'SEPA knows SLEV only.'),
  C_INSTR_CODES: rule(ERROR, PACS, 'Instructions to the creditor agent contradict or repeat each other.'),
  C_GPI_SVCLVL: rule(CBPR, PACS, 'Of the tracked services only G001 is that of a customer credit transfer.'),
  C_RMT_BOTH: rule(only(['SEPA', 'CBPR'], 'error'), PACS, 'Remittance is structured or unstructured.'),
  C_RMT_RLTD: rule(ERROR, PACS, 'Remittance travels in the message or on its own, not both.'),
  C_STRD_9000: rule(ERROR, PACS, 'Networks carry at most 9,000 characters of structured remittance.'),
} as const satisfies Record<string, Rule>

export const PACS_RULES = { ...GROUP_RULES, ...AGENT_RULES, ...TRANSFER_RULES } as const
