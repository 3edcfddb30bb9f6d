import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const SECRET_BYTES = 32

export type SecretRead = { ok: true; secret: Buffer } | { ok: false; message: string }

/** The secret of the deployment: 32 bytes as hex in a file that only its owner reads. Made once when `create` is set. */
export function readSecret(path: string, create: boolean): SecretRead {
  return readOrWrite(path, create ? () => randomBytes(SECRET_BYTES).toString('hex') : null)
}

/** The key in a file for a person's wallet, as 0x and 64 digits; a file that is not there is written with this key. */
export function readWalletKey(path: string, key: Uint8Array): SecretRead {
  return readOrWrite(path, () => `0x${Buffer.from(key).toString('hex')}`)
}

function readOrWrite(path: string, make: (() => string) | null): SecretRead {
  const found = readHex(path)
  if (found !== null || make === null) return found ?? { ok: false, message: `The secret file ${path} cannot be read.` }
  try {
    writeOnce(path, make())
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    return {
      ok: false,
      message: `The secret file ${path} cannot be written (${code}); give this user access to its folder, or set ASSAY_DATA_DIR.`,
    }
  }
  return readHex(path) ?? { ok: false, message: `The secret file ${path} cannot be read.` }
}

/** Leaves a file that another process has written meanwhile as it is. */
function writeOnce(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(draft, `${text}\n`, { mode: 0o600, flush: true })
    // A link fails when the name exists: of two processes that start simultaneously, one secret wins.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Null when there is no such file. */
function readHex(path: string): SecretRead | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : { ok: false, message: `The secret file ${path} cannot be read.` }
  }
  const hex = text.replace(/^0x/, '')
  if (!/^[0-9a-fA-F]{64,}$/.test(hex) || hex.length % 2 !== 0) {
    return {
      ok: false,
      message: `The secret file ${path} must contain at least 32 bytes as hexadecimal digits; "openssl rand -hex 32" makes one.`,
    }
  }
  return { ok: true, secret: Buffer.from(hex, 'hex') }
}
