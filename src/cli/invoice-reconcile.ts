import { parseArgs } from 'node:util'
import { systemClock } from '../adapters/clock/system.ts'
import { bankOfSettings } from '../assembly/invoices.ts'
import { Findings } from '../pure/documents/reconcile/extract/findings.ts'
import { StatementBook } from '../pure/documents/reconcile/statements.ts'
import type { BankAccount } from '../pure/invoices/links.ts'
import { bankInvoices, BankRail, RailFull, type RailResult } from '../service/invoices/bank-rail.ts'
import type { Invocation } from './arguments.ts'
import { orConfig } from './deployment.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { resultJson, resultLines } from './invoice-report.ts'
import { withLedger, type LedgerDesk } from './ledger-store.ts'
import { readFiles, shownFinding, unreadable, type GivenFile } from './reconcile-read.ts'
import { markMode, settingsHere } from './settings.ts'
import { remark, say, wantsJson } from './terminal.ts'

/**
 * Streams statements past the invoices that show the operator's account and says what the bank reports of each; with --apply that is kept in the
 * store, each entry once. Nothing is claimed to be paid: the status of an invoice stays that of the chain.
 */
export async function reconcileInvoices(invocation: Invocation): Promise<Exit> {
  const files = statements()
  const settings = settingsHere()
  markMode(settings)
  return withLedger(settings, async (desk): Promise<Exit> => {
    const { account, owners } = orConfig(() => bankOfSettings(settings, desk.identity))
    if (account === null)
      throw new CliError('config', 'No bank account is configured: ASSAY_BANK_IBAN is not set, so no invoice shows one.')
    const findings = new Findings()
    const result = await judged(desk, { account, owners }, files, findings)
    const changed = invocation.flag('apply') ? await keep(desk, result) : null
    for (const finding of findings.list) remark(shownFinding(files, finding).trim())
    if (wantsJson(invocation)) say(JSON.stringify(resultJson(result, { account, files, changed })))
    else say(resultLines(result, { account, files, changed }).join('\n'))
    return 'ok'
  })
}

async function judged(
  { store }: LedgerDesk,
  { account, owners }: { account: BankAccount; owners: readonly string[] },
  files: readonly GivenFile[],
  findings: Findings,
): Promise<RailResult> {
  const now_ms = systemClock.now_ms()
  try {
    const rail = new BankRail(account, await bankInvoices(store.invoices, owners, Math.floor(now_ms / 1_000)), now_ms)
    const book = new StatementBook()
    const sink = {
      keep_remittance: true,
      instruction: () => undefined,
      entry: (entry: Parameters<BankRail['entry']>[0]) => rail.entry(entry),
    }
    if (!readFiles(files, findings, book, sink)) throw unreadable(files, findings)
    const { repeated, remarks } = book.judge()
    for (const { code, file } of remarks) findings.add(code, file, null)
    return await rail.finish(store.invoices, repeated)
  } catch (error) {
    if (error instanceof RailFull) throw new CliError('data', error.message)
    throw error
  }
}

/** Invoice by invoice, so that a run that ends early has kept whole invoices, and the next one goes on. */
async function keep({ store }: LedgerDesk, { invoices }: RailResult): Promise<number> {
  let changed = 0
  for (const { reports } of invoices) changed += await store.invoices.report_bank(reports, systemClock.now_ms())
  return changed
}

const FILES_MAX = 255

/** An option that may be given more than once is read here: an invocation keeps the last of each. */
function statements(): GivenFile[] {
  const options = { statement: { type: 'string', multiple: true } } as const
  const { values } = parseArgs({ args: process.argv.slice(3), options, strict: false, allowPositionals: true })
  const paths = Array.isArray(values.statement) ? values.statement.filter((one) => typeof one === 'string') : []
  if (paths.length === 0) throw new CliError('usage', 'Name what the bank says: --statement <camt.053>.')
  if (paths.includes('-')) throw new CliError('usage', 'invoice reconcile reads files only.')
  if (paths.length > FILES_MAX) throw new CliError('usage', `At most ${FILES_MAX} files go into one run.`)
  return paths.map((path) => ({ path, side: 'statement' }))
}
