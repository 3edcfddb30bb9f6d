/** Recursive length prefix, as the Ethereum Yellow Paper (appendix B) defines it. Writing only; nothing is ever read back. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Longest payload whose length stands in the prefix byte itself. */
const SHORT = 55

export function rlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    const [first] = item
    // A byte below 0x80 stands for itself.
    return item.length === 1 && first !== undefined && first < 0x80 ? item : prefixed(0x80, item)
  }
  return prefixed(0xc0, Buffer.concat(item.map(rlp)))
}

/** A quantity without leading zeros; zero is the empty string. */
export function quantity(value: bigint): Uint8Array {
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
