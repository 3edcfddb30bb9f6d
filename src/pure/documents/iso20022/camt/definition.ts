import type { MessageDefinition } from '../rule-engine.ts'
import { MESSAGE_VERSIONS } from '../versions.ts'
import { balanceWatcher, statementWatcher } from './statement-watcher.ts'
import { chargeWatcher, entryWatcher, groupWatcher, newEntry, repeatWatcher, transactionWatcher } from './entry.ts'
import { newStatement } from './statement.ts'
import { CAMT_TYPES } from './structure.ts'
import { Summary } from './summary.ts'

const ACCOUNT = 'Stmt/Acct'
const STATUS = 'Stmt/Ntry/Sts'

/** Bank to customer statement. */
export const CAMT: MessageDefinition = {
  kind: 'camt.053',
  root: 'BkToCstmrStmt',
  versions: MESSAGE_VERSIONS['camt.053'],
  types: CAMT_TYPES,
  overrides: {
    missing: { [ACCOUNT]: 'S_ACCT_ID', [`${ACCOUNT}/Id`]: 'S_ACCT_ID', [`${ACCOUNT}/Id/Othr`]: 'S_ACCT_ID', [STATUS]: 'S_STS_SHAPE' },
    unexpected: { [STATUS]: 'S_STS_SHAPE' },
    empty: { [`${ACCOUNT}/Id/IBAN`]: 'S_ACCT_ID', [`${ACCOUNT}/Id/Othr/Id`]: 'S_ACCT_ID' },
  },
  watch(context) {
    const statement = newStatement()
    const entry = newEntry()
    const summary = new Summary()
    return [
      statementWatcher(context, statement),
      balanceWatcher(context, statement),
      summary.watcher(context, statement),
      chargeWatcher(context, entry),
      entryWatcher(context, statement, entry, summary),
      groupWatcher(context, entry),
      transactionWatcher(context, entry),
      repeatWatcher(context, statement, entry),
    ]
  },
}
