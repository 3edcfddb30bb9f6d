import type { MessageDefinition } from '../rule-engine.ts'
import { MESSAGE_VERSIONS } from '../versions.ts'
import { agentNameWatcher, type HeaderRules, headerWatcher, instructionWatcher } from '../shared-watchers.ts'
import { agentWatcher, debtorWatcher, identificationWatcher, moneyWatcher, priorityWatcher, remittanceWatcher } from './transaction.ts'
import { groupWatcher, newGroup, settlementWatcher } from './group.ts'
import { PACS_TYPES } from './structure.ts'

const HEADER_RULES: HeaderRules = {
  kind: 'pacs.008',
  definition: 'C_HDR_MSGDEF',
  message_id: 'C_HDR_BIZMSG',
  service: 'C_HDR_BIZSVC',
  // Straight-through payments have a service of their own.
  services: /^swift\.cbprplus(?:\.stp)?\.\d\d$/,
}

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
      headerWatcher(context, HEADER_RULES),
      priorityWatcher(context),
      agentNameWatcher(context, 'C_AGENT_NAME_ADDR'),
      groupWatcher(context, group),
      settlementWatcher(context),
      identificationWatcher(context, group),
      moneyWatcher(context, group),
      agentWatcher(context),
      debtorWatcher(context),
      instructionWatcher(context, 'CdtTrfTxInf', 'C_INSTR_CODES'),
      remittanceWatcher(context),
    ]
  },
}
