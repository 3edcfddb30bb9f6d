import type { MessageDefinition } from '../rule-engine.ts'
import { MESSAGE_VERSIONS } from '../versions.ts'
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
  versions: MESSAGE_VERSIONS['pacs.008'],
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
