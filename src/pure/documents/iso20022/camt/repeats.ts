/**
 * Entries that stand twice: by the bank's reference within an account; where there is none, by their content within a statement. An entry
 * with a reference of its own is another entry, however alike the rest is.
 */
import type { RuleContext, Watcher } from '../rule-engine.ts'
import { TextSet } from '../text-set.ts'
import type { Entry } from './entry.ts'
import type { Statement } from './statement.ts'

/** References that name nothing. */
const NO_REFERENCE = new Set(['NOTPROVIDED', 'NONREF'])
/** Transactions of an entry whose details are compared; of longer ones their number and sum must do. */
const COMPARED = 8

/** Of the entry, and of the transactions in it, what tells one from another. */
const OWN = ['NtryRef', 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm', 'AddtlNtryInf'].concat(
  ['Domn/Cd', 'Domn/Fmly/Cd', 'Domn/Fmly/SubFmlyCd', 'Prtry/Cd'].map((name) => `BkTxCd/${name}`),
)
const REFERENCES = ['MsgId', 'AcctSvcrRef', 'PmtInfId', 'InstrId', 'EndToEndId', 'UETR', 'TxId', 'MndtId', 'ChqNb', 'ClrSysRef']
const PARTIES = ['Nm', 'Pty/Nm'].flatMap((name) => [`Dbtr/${name}`, `Cdtr/${name}`])
const ACCOUNTS = ['IBAN', 'Othr/Id'].flatMap((name) => [`DbtrAcct/Id/${name}`, `CdtrAcct/Id/${name}`])
const REMITTANCE = ['RmtInf/Ustrd', 'RmtInf/Strd/CdtrRefInf/Ref', 'RmtInf/Strd/RfrdDocInf/Nb', 'AddtlTxInf']
const INNER = [...REFERENCES.map((name) => `Refs/${name}`), ...PARTIES.concat(ACCOUNTS).map((name) => `RltdPties/${name}`), ...REMITTANCE]

export function repeatWatcher(context: RuleContext, statement: Statement, entry: Entry): Watcher {
  const references = new TextSet()
  const contents = new TextSet()
  /** Of the open entry, unless the bank's reference names it. */
  const parts: string[] = []
  let referenced = false
  const text: Record<string, (text: string) => void> = {}
  const keep = (path: string, mark: string) => {
    text[path] = (value) => {
      if (!referenced && entry.transactions <= COMPARED) parts.push(mark, value)
    }
  }
  OWN.forEach((name, index) => keep(`Stmt/Ntry/${name}`, `o${index}`))
  INNER.forEach((name, index) => keep(`Stmt/Ntry/NtryDtls/TxDtls/${name}`, `i${index}`))
  return {
    open: {
      'Stmt/Ntry': () => {
        parts.length = 0
        referenced = false
      },
    },
    text: {
      ...text,
      'Stmt/Ntry/AcctSvcrRef': (value) => {
        if (NO_REFERENCE.has(value)) return
        referenced = true
        const { account, ordinal } = statement
        const owner = account === '' ? `#${ordinal}` : account
        if (references.push(owner).push(value).add() === 'same') context.report('S_ACCTSVCRREF_DUP', { found: value })
      },
    },
    close: {
      'Stmt/Ntry': () => {
        const { amount, currency, direction, status, transactions, sum } = entry
        if (referenced || amount === null) return
        for (const part of parts) contents.push(part)
        contents.pushNumber(statement.ordinal).pushNumber(transactions).push(`${amount} ${sum}`).push(currency).push(direction).push(status)
        if (contents.add() === 'same') context.report('S_ENTRY_DUP')
      },
    },
  }
}
