import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ed25519Signer, nativeLogEntry, nativeSha256 } from '../adapters/log-signer/ed25519.ts'
import { readSecret } from '../adapters/secret/file.ts'
import { httpWitness } from '../adapters/witness/http.ts'
import { readVerifierKey, verifierKey, verifierKeyText, type VerifierKey } from '../pure/log/checkpoint.ts'
import { isPostgres, type Settings } from '../service/config.ts'
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
  const origin = await store.remember('receipts-log-origin', originOf(settings))
  const key = verifierKey('log', origin, signer.public_key)
  const text = verifierKeyText(key)
  if ((await store.remember('receipts-log-key', text)) !== text) {
    throw new StartError('The store holds a receipts log of another key; restore the file of ASSAY_LOG_KEY_FILE that it was begun with.')
  }
  const witness_key = verifierKey('witness', `${origin}/witness`, witness_signer.public_key)
  const { witnesses, logs } = neighboursOf(settings)
  return createReceiptsLog({
    store: store.log,
    clock,
    log,
    signer,
    key,
    hash: nativeSha256,
    entryOf: nativeLogEntry,
    pause,
    witness: { logs, key: witness_key, signer: witness_signer },
    witnesses,
  })
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
