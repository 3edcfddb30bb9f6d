import type { MessageDefinition } from '../rule-engine.ts'
import { MESSAGE_VERSIONS } from '../versions.ts'
import { agentNameWatcher, type HeaderRules, headerWatcher, instructionWatcher } from '../shared-watchers.ts'
import { groupWatcher } from './group.ts'
import { newPayment, paymentWatcher, remittanceWatcher, transactionWatcher } from './payment.ts'
import { PAIN_TYPES } from './structure.ts'

const HEADER_RULES: HeaderRules = {
  kind: 'pain.001',
  definition: 'P_HDR_MSGDEF',
  message_id: 'P_HDR_BIZMSG',
  service: 'P_HDR_BIZSVC',
  services: /^swift\.cbprplus\.\d\d$/,
}

/** Customer credit transfer initiation. */
export const PAIN: MessageDefinition = {
  kind: 'pain.001',
  root: 'CstmrCdtTrfInitn',
  versions: MESSAGE_VERSIONS['pain.001'],
  types: PAIN_TYPES,
  overrides: {
    missing: { 'PmtInf/DbtrAcct': 'P_DBTR_ACCT', 'PmtInf/DbtrAcct/Id': 'P_DBTR_ACCT' },
    empty: { 'GrpHdr/MsgId': 'P_MSGID_EMPTY', 'PmtInf/CdtTrfTxInf/PmtId/EndToEndId': 'P_E2E_EMPTY' },
    lexical: { 'PmtInf/PmtMtd': 'P_PMTMTD' },
  },
  watch(context) {
    const payment = newPayment()
    return [
      headerWatcher(context, HEADER_RULES),
      instructionWatcher(context, 'PmtInf/CdtTrfTxInf', 'P_INSTR_CODES'),
      agentNameWatcher(context, 'P_AGENT_NAME_ADDR'),
      groupWatcher(context),
      paymentWatcher(context, payment),
      transactionWatcher(context, payment),
      remittanceWatcher(context, payment),
    ]
  },
}
