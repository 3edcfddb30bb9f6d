import { readEvmAddress, type EvmAddress } from '../checks/evm-address.ts'

/** What a node said to a call or a read of state. */
export type Said = { ok: true; data: string } | { ok: false; revert: string; message: string }

/** An address that a schema has let through. Throws for any other text. */
export function givenAddress(text: string): EvmAddress {
  const read = readEvmAddress(text)
  if (read === null) throw new RangeError('not an address')
  return read
}

/** Code, or a word of storage. Throws where there is none: state is always there, so that would be a fault of ours. */
export function bytesOf(said: Said | undefined): string {
  if (said?.ok !== true) throw new TypeError('a read of state came without a result')
  return said.data
}

/** A balance or an account nonce; throws as bytesOf does. */
export function quantityOf(said: Said | undefined): bigint {
  return BigInt(bytesOf(said))
}
