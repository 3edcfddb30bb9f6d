import type { MessageDefinition } from '../rule-engine.ts'
import { agentWatcher, debtorWatcher, headerWatcher } from './agents.ts'
import { groupWatcher, newGroup, settlementWatcher } from './group.ts'
import { identificationWatcher, instructionWatcher } from './identification.ts'
import { moneyWatcher } from './money.ts'
import { remittanceWatcher } from './remittance.ts'
import { PACS_TYPES } from './structure.ts'

/** FI to FI customer credit transfer. */
export const PACS: MessageDefinition = {
  kind: 'pacs.008',
  root: 'FIToFICstmrCdtTrf',
  versions: new Map([
    [2, 9],
    [8, 19],
    [10, 19],
    [12, 23],
    [13, 23],
  ]),
  types: PACS_TYPES,
  overrides: { empty: { 'CdtTrfTxInf/PmtId/EndToEndId': 'C_E2E_EMPTY' } },
  watch(context) {
    const group = newGroup()
    return [
      headerWatcher(context),
      groupWatcher(context, group),
      settlementWatcher(context),
      identificationWatcher(context, group),
      moneyWatcher(context, group),
      agentWatcher(context),
      debtorWatcher(context),
      instructionWatcher(context),
      remittanceWatcher(context),
    ]
  },
}
