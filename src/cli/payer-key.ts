import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isPrivateKey, nobleSigner } from '../adapters/signer/noble.ts'
import type { Hex, Signer } from '../client/index.ts'
import { createAuthorizationDigest } from '../pure/payments/eip3009.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import { CliError } from './exit-codes.ts'

/** Beyond this the file is no key file. */
const FILE_BYTES_MAX = 4_096

/**
 * Pays with the private key in a file: 64 hexadecimal digits, with or without 0x. The file must be closed to group and others, since whoever
 * reads it can spend the money. No message holds any part of the key.
 */
export function payerSigner(path: string): Signer {
  const text = readPrivate(path).trim()
  const key = /^(?:0x)?[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text.replace(/^0x/, ''), 'hex') : null
  if (key === null || !isPrivateKey(key))
    throw new CliError('config', `${path} does not hold a private key of 32 bytes as hexadecimal digits.`)
  const signer = nobleSigner(key)
  return {
    address: signer.address as Hex,
    signTypedData: async ({ domain, message }) => {
      const { name, version, chainId: chain_id, verifyingContract: verifying_contract } = domain
      const digest = createAuthorizationDigest({ name, version, chain_id, verifying_contract }, nobleCrypto.keccak256)
      const { from, to, value, validAfter, validBefore, nonce } = message
      return signer.sign(digest({ from, to, value_minor: value, valid_after_s: validAfter, valid_before_s: validBefore, nonce }))
    },
  }
}

/** One open file answers for both, so that what was checked is what is read. */
function readPrivate(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    throw new CliError('no_input', `${path} cannot be read.`)
  }
  try {
    const { mode, size } = fstatSync(file)
    // Windows keeps no such bits.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new CliError('config', `${path} is open to others; "chmod 600" closes it.`)
    if (size > FILE_BYTES_MAX) throw new CliError('config', `${path} is too long for a key file.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
