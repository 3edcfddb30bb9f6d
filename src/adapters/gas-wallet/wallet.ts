import type { GasTransaction, GasWallet } from '../../ports/gas-wallet.ts'
import { fromHex, nobleCrypto, type ReceiptCrypto, toHex } from '../../pure/receipts/crypto.ts'

/** Recursive length prefix, as the Ethereum Yellow Paper (appendix B) defines it. Writing only; nothing is ever read back. */
type RlpItem = Uint8Array | readonly RlpItem[]

/** Longest payload whose length fits in the prefix byte. */
const SHORT = 55

function rlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    const [first] = item
    // A byte below 0x80 encodes itself.
    return item.length === 1 && first !== undefined && first < 0x80 ? item : prefixed(0x80, item)
  }
  return prefixed(0xc0, Buffer.concat(item.map(rlp)))
}

/** A quantity without leading zeros; zero is the empty string. */
function quantity(value: bigint): Uint8Array {
  if (value < 0n) throw new RangeError('a quantity is never negative')
  if (value === 0n) return new Uint8Array()
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function prefixed(offset: number, payload: Uint8Array): Uint8Array {
  if (payload.length <= SHORT) return Buffer.concat([Uint8Array.of(offset + payload.length), payload])
  const length = quantity(BigInt(payload.length))
  return Buffer.concat([Uint8Array.of(offset + SHORT + length.length), length, payload])
}

/** Signs EIP-1559 transactions (type 2 of EIP-2718) with one key, by hand: loading viem for it would take longer than starting the service. */

const TYPE_2 = 2

/** Signer of digests that already contains the key. */
interface DigestSigner {
  /** 0x-prefixed lower-case address of the key. */
  readonly address: string
  /** 0x-prefixed 65 bytes r, s, v with s low and v 27 or 28; deterministic (RFC 6979). */
  sign(digest: Uint8Array): string
}

/**
 * A gas wallet of one chain over a key that signs digests. The same transaction gives the same bytes, because the signer is
 * deterministic. `sign` throws a RangeError for an invalid transaction.
 */
export function gasWallet(
  signer: DigestSigner,
  chain_id: number,
  keccak256: ReceiptCrypto['keccak256'] = nobleCrypto.keccak256,
  account: string = signer.address,
): GasWallet {
  return {
    address: signer.address,
    account,
    sign(transaction) {
      const fields = fieldsOf(transaction, chain_id)
      const signature = fromHex(signer.sign(keccak256(envelope(fields))))
      if (signature?.length !== 65) throw new RangeError('the signer made no signature of 65 bytes')
      const parity = signature[64] === 28 ? 1n : 0n
      const raw = envelope([...fields, quantity(parity), scalar(signature.subarray(0, 32)), scalar(signature.subarray(32, 64))])
      return { raw: toHex(raw), hash: toHex(keccak256(raw)) }
    },
  }
}

/** In the order of EIP-1559. No value moves, and there is no access list. */
function fieldsOf(transaction: GasTransaction, chain_id: number): RlpItem[] {
  const to = fromHex(transaction.to)
  const data = fromHex(transaction.data)
  if (to?.length !== 20 || data === null || !Number.isSafeInteger(transaction.account_nonce)) throw new RangeError('no transaction')
  return [
    quantity(BigInt(chain_id)),
    quantity(BigInt(transaction.account_nonce)),
    quantity(transaction.priority_fee_wei),
    quantity(transaction.max_fee_wei),
    quantity(transaction.gas),
    to,
    quantity(0n),
    data,
    [],
  ]
}

function envelope(fields: RlpItem[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(TYPE_2), rlp(fields)])
}

function scalar(bytes: Uint8Array): Uint8Array {
  return quantity(BigInt(toHex(bytes)))
}
