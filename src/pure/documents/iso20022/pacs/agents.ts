/** Agents and debtor of pacs.008: on one level, in their order, by BIC, and as the header around the message names them. */
import type { RuleContext, Watcher } from '../rule-engine.ts'

const TX = 'CdtTrfTxInf'

/** One of the two agents that hand the message on. */
interface Side {
  readonly element: 'InstgAgt' | 'InstdAgt'
  /** That of the header which must be the same bank. */
  readonly header: 'from_bic' | 'to_bic'
  in_group: boolean
  bic_in_group: boolean
  bic_in_transaction: boolean
}

function side(element: Side['element'], header: Side['header']): Side {
  return { element, header, in_group: false, bic_in_group: false, bic_in_transaction: false }
}

/** BIC stands in version 02, BICFI in the later ones. */
const BIC_ELEMENTS = ['BIC', 'BICFI'] as const

export function agentWatcher(context: RuleContext): Watcher {
  const sides = [side('InstgAgt', 'from_bic'), side('InstdAgt', 'to_bic')]
  const open: Record<string, () => void> = {
    [TX]: () => {
      for (const one of sides) one.bic_in_transaction = false
    },
  }
  const text: Record<string, (text: string) => void> = {}
  for (const one of sides) {
    for (const bic of BIC_ELEMENTS) {
      const path = `${one.element}/FinInstnId/${bic}`
      open[`GrpHdr/${path}`] = () => void (one.bic_in_group = true)
      open[`${TX}/${path}`] = () => void (one.bic_in_transaction = true)
      text[`GrpHdr/${path}`] = text[`${TX}/${path}`] = (code) => checkHeader(context, one, code)
    }
  }
  return {
    open,
    text,
    close: {
      GrpHdr: () => {
        for (const one of sides) one.in_group = context.has(one.element)
      },
      [TX]: () => {
        for (const one of sides) checkSide(context, one)
        checkOrder(context)
      },
    },
  }
}

function checkSide(context: RuleContext, { element, in_group, bic_in_group, bic_in_transaction }: Side): void {
  if (in_group && context.has(element)) context.report('C_AGENT_LEVEL', { found: element })
  if (!bic_in_group && !bic_in_transaction) context.report('C_INSTGAGT', { expected: `${element} with its BIC` })
}

function checkHeader(context: RuleContext, { header: place }: Side, bic: string): void {
  const { header } = context
  const stated = header[place]
  if (header.copy || stated === null || whole(stated) === whole(bic)) return
  context.report('C_HDR_BIC', { found: bic, expected: stated })
}

/** What eight characters stand for. */
const HEAD_OFFICE = 'X'.repeat(3)

function whole(bic: string): string {
  return bic.length === 8 ? `${bic}${HEAD_OFFICE}` : bic
}

/** Each agent and the one that must come before it. */
const IN_ORDER = [
  ['PrvsInstgAgt2', 'PrvsInstgAgt1'],
  ['PrvsInstgAgt3', 'PrvsInstgAgt2'],
  ['IntrmyAgt2', 'IntrmyAgt1'],
  ['IntrmyAgt3', 'IntrmyAgt2'],
] as const

function checkOrder(context: RuleContext): void {
  for (const [later, earlier] of IN_ORDER) {
    if (context.has(later) && !context.has(earlier)) context.report('C_PREV_AGENT_ORDER', { found: later, expected: earlier })
  }
}

export function debtorWatcher(context: RuleContext): Watcher {
  let known = false
  const tell = () => void (known = true)
  return {
    open: {
      [TX]: () => void (known = false),
      [`${TX}/Dbtr/Nm`]: tell,
      [`${TX}/Dbtr/Id`]: tell,
      [`${TX}/DbtrAcct/Id`]: tell,
      [`${TX}/DbtrAcct/Prxy`]: tell,
    },
    close: {
      [TX]: () => {
        if (!known && context.has('Dbtr')) context.report('C_DBTR_ID', { expected: 'Dbtr/Nm, Dbtr/Id or DbtrAcct' })
      },
    },
  }
}

/** Priority of the header against that of the payment. */
export function priorityWatcher(context: RuleContext): Watcher {
  const { priority } = context.header
  const check = (text: string) => {
    if (priority !== null && priority !== text) context.report('C_HDR_PRTY', { found: text, expected: priority })
  }
  return { text: { 'GrpHdr/PmtTpInf/InstrPrty': check, [`${TX}/PmtTpInf/InstrPrty`]: check } }
}
