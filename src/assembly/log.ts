import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { logMemory } from '../adapters/log-memory/folder.ts'
import { ed25519Signer, nativeLogEntry, nativeSha256 } from '../adapters/log-signer/ed25519.ts'
import { readSecret } from '../adapters/secret/file.ts'
import { httpWitness } from '../adapters/witness/http.ts'
import { readVerifierKey, verifierKey, verifierKeyText, type VerifierKey } from '../pure/log/checkpoint.ts'
import { isPostgres, type Settings } from '../service/config.ts'
import type { LogMemory } from '../ports/log-memory.ts'
import type { LogHead } from '../ports/receipts-log.ts'
import type { Store } from '../ports/store.ts'
import { lastStop, type LogFault, type LogHistory, originOfEpoch, readHistory } from '../service/log/log-history.ts'
import { faultOf, firmHead } from '../service/log/published-head.ts'
import { createReceiptsLog } from '../service/log/receipts-log.ts'
import type { Deployment } from './deployment.ts'
import { orStop, places, StartError } from './identity.ts'

/**
 * The public log of receipts; null where no log is kept. Throws a StartError when the key is not the one that the store's log was begun with:
 * one log has one key and one name.
 */
export async function openReceiptsLog({ settings, store, clock, log }: Deployment) {
  const seed = seedOf(settings)
  if (seed === null) return null
  const signer = ed25519Signer(seed)
  const witness_signer = ed25519Signer(createHmac('sha256', seed).update('witness of other logs').digest())
  const origin = await store.remember(ORIGIN_NOTE, originOf(settings))
  const keyOf = (name: string) => verifierKey('log', name, signer.public_key)
  const text = verifierKeyText(keyOf(origin))
  if ((await store.remember(KEY_NOTE, text)) !== text) throw otherKey()
  const witness_key = verifierKey('witness', `${origin}/witness`, witness_signer.public_key)
  const { witnesses, logs } = neighboursOf(settings)
  return createReceiptsLog({
    store: store.log,
    notes: store,
    memory: memoryOf(settings),
    clock,
    log,
    signer,
    first_origin: origin,
    keyOf,
    hash: nativeSha256,
    entryOf: nativeLogEntry,
    pause,
    witness: { logs, key: witness_key, signer: witness_signer },
    witnesses,
  })
}

const ORIGIN_NOTE = 'receipts-log-origin'
const KEY_NOTE = 'receipts-log-key'

function otherKey(): StartError {
  return new StartError('The store holds a receipts log of another key; restore the file of ASSAY_LOG_KEY_FILE that it was begun with.')
}

/** Heads of the log that this machine published. Throws a StartError where they cannot be read: without them a loss would pass unseen. */
function memoryOf({ ASSAY_DATA_DIR }: Settings): LogMemory {
  const memory = logMemory(join(ASSAY_DATA_DIR, 'log-heads'))
  const highest = async (key_id: string) =>
    memory.highest(key_id).catch((error: unknown) => {
      throw new StartError(`The published head of the log cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    })
  return { ...memory, highest }
}

/** State of the log as its operator sees it. */
export interface LogInspection {
  history: LogHistory
  head: LogHead | null
  /** Epoch of the published head. */
  epoch: number
  /** Contradiction between the store and the published head; null without one. */
  fault: LogFault | null
  /** Name and key of the log of an epoch. */
  keyOf(epoch: number): VerifierKey
}

/** Compares the store with the largest head that this machine or the record of a stop has. Changes nothing. Null where no log was begun. */
export async function inspectLog(settings: Settings, store: Pick<Store, 'recall' | 'log'>): Promise<LogInspection | null> {
  const [origin, text] = [await store.recall(ORIGIN_NOTE), await store.recall(KEY_NOTE)]
  const path = places.logKey(settings)
  if (origin === null || (settings.ASSAY_LOG_KEY_FILE === '' && !existsSync(path))) return null
  const { public_key } = ed25519Signer(orStop(readSecret(path, false)).secret)
  const keyOf = (epoch: number) => verifierKey('log', originOfEpoch(origin, epoch), public_key)
  if (verifierKeyText(keyOf(1)) !== text) throw otherKey()
  const history = await readHistory(store)
  const [stored, own] = [await store.log.head(), await firmHead(history, memoryOf(settings), keyOf)]
  const stop = lastStop(history)?.stop ?? null
  const is_own = stop === null || (own.head !== null && (own.epoch > stop.epoch || own.head.size > stop.published.size))
  const found = { history, head: stored, epoch: is_own ? own.epoch : stop.epoch, keyOf }
  if (is_own) return { ...found, fault: await faultOf(store.log, own.head, stored) }
  const { size, root, checkpoint } = stop.published
  // Nothing can be proved about a head whose root is not known.
  return { ...found, fault: root === null ? stop : await faultOf(store.log, { size, root, checkpoint }, stored) }
}

/** Made once in the data folder. Instances that share a database must be given one file, so there nothing is made. */
function seedOf(settings: Settings): Uint8Array | null {
  if (settings.ASSAY_LOG_KEY_FILE === '' && isPostgres(settings.ASSAY_STORE)) return null
  return orStop(readSecret(places.logKey(settings), settings.ASSAY_LOG_KEY_FILE === '')).secret
}

/** A log is named by where it is served, without the scheme. */
function originOf(settings: Settings): string {
  const url = settings.ASSAY_API_URL || `http://${settings.ASSAY_HOST}:${settings.ASSAY_PORT}`
  return `${url.replace(/^https?:\/\//, '')}/log`
}

/** Witnesses that cosign this log, and the logs that this service signs as a witness. Throws a StartError for an entry that is neither. */
export function neighboursOf({ ASSAY_LOG_WITNESSES, ASSAY_WITNESSED_LOGS }: Settings) {
  return { witnesses: ASSAY_LOG_WITNESSES.map(witnessOf), logs: ASSAY_WITNESSED_LOGS.map(logOf) }
}

function logOf(text: string): VerifierKey {
  const key = readVerifierKey(text)
  if (key === null || key.type !== 'log')
    throw new StartError('ASSAY_WITNESSED_LOGS must list verifier keys of logs, name+id+key, separated by commas.')
  return key
}

function witnessOf(text: string) {
  const [url = '', key = ''] = text.split('|')
  if (!/^https?:\/\/[^\s|]+$/.test(url) || readVerifierKey(key)?.type !== 'witness') {
    throw new StartError('ASSAY_LOG_WITNESSES must list witnesses as https://address|name+id+key, separated by commas.')
  }
  return httpWitness(url, key)
}
