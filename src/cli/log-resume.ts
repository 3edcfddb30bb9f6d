import { systemClock } from '../adapters/clock/system.ts'
import { inspectLog, type LogInspection } from '../assembly/log.ts'
import { verifierKeyText } from '../pure/log/checkpoint.ts'
import {
  entriesText,
  lastStop,
  lostEntries,
  type LogFault,
  type LogResumption,
  type NoteStore,
  readHistory,
  recordResumption,
  recordStop,
  stopWords,
} from '../service/log/log-history.ts'
import { NO_ENTRIES, type TreeHead } from '../service/log/stored-tree.ts'
import type { Invocation } from './commands.ts'
import { readEnvironment, withLedger } from './deployment.ts'
import { CliError, type Exit } from './errors.ts'
import { say, wantsJson } from './terminal.ts'

/** Result of the command, in words and for programs. */
interface Report {
  state: 'running' | 'stopped' | 'resumed'
  lines: string[]
  facts: Record<string, unknown>
}

/**
 * `assay log resume`: decides how a stopped log continues. A store that has the published head after all resumes it on proof; otherwise the
 * operator must name the head of the store that he accepts, and a new log begins there.
 */
export async function resume(invocation: Invocation): Promise<Exit> {
  const settings = readEnvironment()
  const accept = acceptOf(invocation.text('accept'))
  const why = invocation.text('reason')?.trim() ?? ''
  if (accept !== null && why === '') throw new CliError('usage', 'Say why with --reason; the reason is published at /log/history.')
  const report = await withLedger(settings, async ({ store }) => {
    const found = await inspectLog(settings, store)
    if (found === null) throw new CliError('no_input', 'This deployment keeps no log: set ASSAY_LOG_KEY_FILE to the key of the log.')
    return decide(store, found, accept, why)
  })
  say(wantsJson(invocation) ? JSON.stringify({ state: report.state, ...report.facts }) : report.lines.join('\n'))
  return report.state === 'stopped' ? 'negative' : 'ok'
}

function acceptOf(text: string | null): TreeHead | null {
  if (text === null) return null
  const [, size = '', root = ''] = /^(0|[1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (root === '')
    throw new CliError('usage', '--accept takes the head of the store as size:root, such as 344 and 64 hexadecimal digits: 344:3f…')
  return { size: Number(size), root }
}

async function decide(notes: NoteStore, found: LogInspection, accept: TreeHead | null, why: string): Promise<Report> {
  const { history, head, epoch, fault } = found
  const recorded = lastStop(history)
  const stored = { size: head?.size ?? NO_ENTRIES.size, root: head?.root ?? NO_ENTRIES.root }
  if (fault === null && recorded === null) {
    return {
      state: 'running',
      lines: [`The log is running with ${entriesText(stored.size)}; there is nothing to resume.`],
      facts: { store: stored },
    }
  }
  if (accept !== null && (accept.size !== stored.size || accept.root !== stored.root)) {
    throw new CliError(
      'data',
      `The store has the head ${stored.size}:${stored.root}, not the one that --accept names; nothing was changed.`,
    )
  }
  if (fault !== null && accept === null) return lossReport(fault)
  if (recorded === null && fault !== null) await recordStop(notes, { ...fault, epoch, stopped_ms: systemClock.now_ms() })
  const resumption = {
    how: fault === null ? ('proved' as const) : ('cut' as const),
    accepted: stored,
    why,
    resumed_ms: systemClock.now_ms(),
  }
  await record(notes, resumption)
  return resumedReport(found, resumption, fault)
}

async function record(notes: NoteStore, resumption: LogResumption): Promise<void> {
  const open = lastStop(await readHistory(notes))
  if (open === null || !(await recordResumption(notes, open.number, resumption)))
    throw new CliError('data', 'The log was resumed meanwhile; nothing was changed.')
}

function lossReport(fault: LogFault): Report {
  const { published, store } = fault
  const lost = lostEntries(fault)
  const command = `assay log resume --accept ${store.size}:${store.root} --reason "…"`
  const loss =
    lost === null
      ? 'The published head cannot be proved from this store, so some entries that were published are not in it.'
      : `Entries ${lost.first} to ${lost.last} were published and are not in the store.`
  return {
    state: 'stopped',
    lines: [
      `The log is stopped. ${stopWords(fault)}`,
      loss,
      '',
      'If another database has these entries, such as the old primary or a backup, bring it back and run this command again: the log then resumes on proof.',
      'Otherwise accept the loss. The log is retired at its published head, and a new log with another origin begins with the entries of the store:',
      `  ${command}`,
      'This cannot be undone. It is published at /log/history; witnesses must be given the new verifier key. Holders of lost receipts can submit them again.',
    ],
    facts: { published, store, lost, accept: `${store.size}:${store.root}` },
  }
}

function resumedReport({ epoch, keyOf }: LogInspection, resumption: LogResumption, fault: LogFault | null): Report {
  const { how, accepted } = resumption
  const verifier_key = verifierKeyText(keyOf(how === 'cut' ? epoch + 1 : epoch))
  const lines =
    how === 'proved'
      ? [`The store contains the published head: the log resumes with ${entriesText(accepted.size)}.`]
      : [
          `The log was retired, and a new one begins with ${entriesText(accepted.size)}. Its verifier key, for witnesses and monitors:`,
          `  ${verifier_key}`,
        ]
  return {
    state: 'resumed',
    lines: [...lines, 'Running instances notice it within seconds.'],
    facts: { how, accepted, verifier_key, lost: fault === null ? null : lostEntries(fault) },
  }
}
