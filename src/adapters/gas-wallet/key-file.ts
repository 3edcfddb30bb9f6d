import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { secretFileFault } from '../../pure/secret-file.ts'

/** Gas wallets of one deployment; more would not settle faster than a chain takes. */
const GAS_WALLETS_MAX = 16
/** Maximum size of a key file. */
const FILE_BYTES_MAX = 4_096

export type GasKeysRead = { ok: true; keys: Uint8Array[] } | { ok: false; message: string }

/**
 * Reads the private keys of the gas wallets: 64 hexadecimal digits a line, with or without 0x; empty lines and lines that begin with #
 * are skipped. The file must be closed to group and others, because any reader can spend the gas. `setting` is the one that names it. No
 * message contains any part of a key.
 */
export function readGasKeys(path: string, setting = 'ASSAY_GAS_KEY_FILE'): GasKeysRead {
  const text = readPrivate(path, setting)
  if (typeof text !== 'string') return text
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), number: index + 1 }))
  const given = lines.filter(({ line }) => line !== '' && !line.startsWith('#'))
  const keys: Uint8Array[] = []
  for (const { line, number } of given) {
    const key = /^(?:0x)?[0-9a-fA-F]{64}$/.test(line) ? Buffer.from(line.replace(/^0x/, ''), 'hex') : null
    if (key === null || !secp256k1.utils.isValidSecretKey(key))
      return refused(`Line ${number} of the gas key file ${path} is not a private key of 32 bytes as hexadecimal digits.`)
    if (keys.some((known) => Buffer.compare(known, key) === 0)) return refused(`Line ${number} of the gas key file ${path} repeats a key.`)
    keys.push(key)
  }
  if (keys.length === 0) return refused(`The gas key file ${path} holds no key.`)
  if (keys.length > GAS_WALLETS_MAX) return refused(`The gas key file ${path} holds more than ${GAS_WALLETS_MAX} keys.`)
  return { ok: true, keys }
}

/** One open file answers for both, so that what was checked is what is read. */
function readPrivate(path: string, setting: string): string | { ok: false; message: string } {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return refused(`The gas key file ${path} cannot be read.`)
  }
  try {
    const { mode, uid, size } = fstatSync(file)
    // Windows has no such bits, and no user ids.
    const own_uid = process.getuid?.()
    const fault = own_uid === undefined ? null : secretFileFault({ mode, uid }, own_uid, { setting, path })
    if (fault !== null) return refused(fault)
    return size > FILE_BYTES_MAX ? refused(`The gas key file ${path} is too long.`) : readFileSync(file, 'utf8')
  } catch {
    return refused(`The gas key file ${path} cannot be read.`)
  } finally {
    closeSync(file)
  }
}

function refused(message: string): { ok: false; message: string } {
  return { ok: false, message }
}
