import { systemClock } from '../adapters/clock/system.ts'
import { chooseSigning } from '../adapters/signer/choose.ts'
import { publicKeys, revokeKey, rotateKey } from '../adapters/signer/keyring.ts'
import { identityOf, orStop, places, ringOf } from '../assembly/identity.ts'
import type { KeyList, PublishedKey } from '../pure/receipts/keys.ts'
import type { Invocation } from './commands.ts'
import { orConfig, markMode, readEnvironment } from './deployment.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { dateText, printable, remark, say, table, terminalWidth, wantsJson } from './terminal.ts'

/** The old key stays valid for this long after a rotation, because a running server still signs with it. */
const GRACE_S = 3_600

/** `assay keys list | rotate | revoke <address>`: receipt keys of this deployment. Secrets never leave the key file. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [action = 'list', address] = invocation.words
  const change = changeOf(action, address, invocation)
  const settings = readEnvironment()
  markMode(settings)
  const signing = await chooseSigning()
  const identity = orConfig(() => identityOf(settings, signing))
  const now_ts = Math.floor(systemClock.now_ms() / 1000)
  const ring = orConfig(() =>
    change === null ? ringOf(settings, identity) : orStop(change(places.receiptKeys(settings), identity, now_ts)).ring,
  )
  show(publicKeys(ring), wantsJson(invocation))
  if (change !== null) remark('A running server uses its old key until it is restarted.')
  return 'ok'
}

type Change = typeof rotateKey

/** Change of the key file; null for an action that only reads it. */
function changeOf(action: string, address: string | undefined, invocation: Invocation): Change | null {
  const since = invocation.text('since')
  const reason = invocation.text('reason')
  if (action !== 'revoke' && (address !== undefined || since !== null || reason !== null))
    throw new CliError('usage', 'An address, --reason and --since go with revoke.')
  switch (action) {
    case 'list':
      return null
    case 'rotate':
      return (path, identity, now_ts) => rotateKey(path, identity, now_ts, now_ts + GRACE_S)
    case 'revoke': {
      if (address === undefined || !/^0x[0-9a-fA-F]{40}$/.test(address))
        throw new CliError('usage', 'Name the address of the key: 0x and 40 hexadecimal digits.')
      if (reason === null || reason.trim() === '') throw new CliError('usage', 'Say why with --reason; the reason is published.')
      if (since !== null && !/^\d{1,12}$/.test(since)) throw new CliError('usage', '--since takes a Unix time in whole seconds.')
      return (path, identity, now_ts) => revokeKey(path, identity, address, reason, now_ts, since === null ? now_ts : Number(since))
    }
    default:
      throw unknownName('action', action, ['list', 'rotate', 'revoke'], 'The actions are list, rotate and revoke.')
  }
}

function show(keys: KeyList, json: boolean): void {
  if (json) say(JSON.stringify({ keys }))
  else
    say(
      table(
        [['address', 'status', 'good for receipts dated'], ...keys.map((key) => [key.address, key.status, lifeText(key)])],
        terminalWidth(),
      ).join('\n'),
    )
}

function lifeText({ not_before, not_after, revoked_at, reason }: PublishedKey): string {
  const until = revoked_at ?? not_after
  const span = `${dateText(not_before) ?? not_before} to ${until === null ? 'today and on' : (dateText(until) ?? until)}`
  return reason === null ? span : `${span}; revoked: ${printable(reason)}`
}
