import { systemClock } from '../adapters/clock/system.ts'
import type { UnderwriterRow } from '../ports/insurance.ts'
import { underwriterAddress, storedEntry, listedUnderwriter } from '../pure/rulebooks/pol1-registry.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { withLedger, markMode, readEnvironment } from './deployment.ts'
import { dateText, printable, remark, say, table, terminalWidth, wantsJson } from './terminal.ts'

/** `assay insurers list | remove <address>`: directory of underwriters of this deployment. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [action = 'list', id] = invocation.words
  if (action === 'list' && id !== undefined) throw new CliError('usage', 'An address goes with remove.')
  const address = action === 'remove' ? addressIn(id) : null
  if (address === null && action !== 'list') throw unknownName('action', action, ['list', 'remove'], 'Give list, or remove and an address.')
  const settings = readEnvironment()
  markMode(settings)
  const now_s = Math.floor(systemClock.now_ms() / 1_000)
  return withLedger<Exit>(settings, async ({ store: { insurance } }) => {
    if (address === null) show(await insurance.underwriters(now_s), wantsJson(invocation))
    else if (await insurance.remove(address, now_s)) removed(address, wantsJson(invocation))
    else throw new CliError('no_input', `The directory lists no entry of ${address}; "assay insurers list" shows them.`)
    return 'ok'
  })
}

function addressIn(id: string | undefined): string {
  const address = id === undefined ? null : underwriterAddress(id)
  if (address === null) throw new CliError('usage', 'Name the underwriter: 0x or uw_ and 40 hexadecimal digits.')
  return address
}

function show(rows: readonly UnderwriterRow[], json: boolean): void {
  const listed = rows.map((row) => {
    const entry = storedEntry(row.entry)
    return { address: row.address, name: entry.name, ...listedUnderwriter(row, entry), terms_uri: entry.terms_uri }
  })
  if (json) return say(JSON.stringify({ count: listed.length, underwriters: listed }))
  const lines = listed.map(({ address, name, proven_domain, listed_until }) => [
    address,
    printable(name),
    proven_domain ?? 'not proven',
    dateText(listed_until) ?? String(listed_until),
  ])
  say(table([['address', 'name', 'proven by', 'listed until'], ...lines], terminalWidth()).join('\n'))
}

function removed(address: string, json: boolean): void {
  if (json) say(JSON.stringify({ removed: address }))
  else say(`${address} is out of the directory.`)
  remark('A running server shows it for a few seconds more. The underwriter can register again only with an entry that it signs later.')
}
