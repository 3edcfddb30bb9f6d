import { systemClock } from '../adapters/clock/system.ts'
import { copyStore } from '../adapters/store/copy-store.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit } from './errors.ts'
import { remark, say, table, terminalWidth, wantsJson } from './terminal.ts'

/** `assay migrate-store`: copies a store into an empty one (SQLite or PostgreSQL) in one transaction and verifies each row. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [from, to] = [invocation.text('from'), invocation.text('to')]
  if (from === null || to === null) throw new CliError('usage', 'Name both stores: --from and --to, each a path or a postgres:// URL.')
  const counts = await copyStore({
    from,
    to,
    now_ms: systemClock.now_ms(),
    onTable: ({ table: name, rows }) => rows > 0 && remark(`${name}: ${rows}`),
  }).catch((error: unknown) => {
    throw new CliError(isRefusal(error) ? 'data' : 'unavailable', error instanceof Error ? error.message : 'A store could not be read.')
  })
  const rows = counts.reduce((sum, one) => sum + one.rows, 0)
  if (wantsJson(invocation)) say(JSON.stringify({ copied: rows, tables: counts }))
  else
    say(
      [
        ...table(
          counts.map((one) => [one.table, String(one.rows)]),
          terminalWidth(),
        ),
        `${rows} rows are the same on both sides.`,
      ].join('\n'),
    )
  return 'ok'
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'STORE_REFUSED'
}
