/** Identifications of the transactions of pacs.008, and the levels and codes that go with them. */
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { TextSet } from '../text-set.ts'
import type { Group } from './group.ts'

const TX = 'CdtTrfTxInf'
/** UETRs came with this version. */
const UETR_SINCE = 8

export function identificationWatcher(context: RuleContext, group: Group): Watcher {
  const end_to_end = new TextSet()
  const instructions = new TextSet()
  const transactions = new TextSet()
  const serviceLevel = (text: string) => {
    if (/^G0\d\d$/.test(text) && text !== 'G001') context.report('C_GPI_SVCLVL', { found: text, expected: 'G001' })
  }
  return {
    text: {
      [`${TX}/PmtId/EndToEndId`]: (text) => {
        if (text !== 'NOTPROVIDED' && end_to_end.push(text).add() === 'same') context.report('C_E2E_DUPLICATE', { found: text })
      },
      [`${TX}/PmtId/InstrId`]: (text) => {
        if (instructions.push(text).add() === 'same') context.report('C_INSTRID_DUPLICATE', { found: text })
      },
      [`${TX}/PmtId/TxId`]: (text) => {
        if (transactions.push(text).add() === 'same') context.report('C_TXID_DUPLICATE', { found: text })
      },
      '**/PmtTpInf/SvcLvl/Cd': serviceLevel,
      '**/PmtTpInf/SvcLvl/Prtry': serviceLevel,
    },
    close: {
      [`${TX}/PmtId`]: () => {
        if (context.version < UETR_SINCE) {
          if (!context.has('TxId')) context.report('C_TXID_MISSING', { expected: 'TxId' })
        } else if (!context.has('UETR')) context.report('C_UETR_MISSING', { expected: 'UETR' })
      },
      [TX]: () => {
        const has_own = context.has('IntrBkSttlmDt')
        if (has_own !== group.has_settlement_date) return
        context.report('C_STTLMDT_LEVEL', {
          found: has_own ? 'on both levels' : 'on neither level',
          expected: 'IntrBkSttlmDt on one level',
        })
      },
    },
  }
}
