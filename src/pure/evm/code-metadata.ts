/** Keys that compilers write at the end of a contract, and how long the value of each is. */
const KEYS = ['ipfs', 'bzzr0', 'bzzr1', 'solc', 'experimental', 'vyper']
/** An IPFS hash is a multihash of SHA-256: two bytes of head, 32 of hash. */
const IPFS_BYTES = 34
const SWARM_BYTES = 32
const LENGTH_BYTES = 2
const ENTRIES_MAX = 4

/**
 * Where the compiler's metadata begins: a CBOR map (RFC 8949) of known keys that ends exactly two bytes before the end of the code, where
 * its length stands (Solidity documentation, "Contract Metadata", 0.8.37; Vyper 0.3.5 to 0.3.9). Null when anything is other than that:
 * then all of the code is to be read as code.
 */
export function metadataStart(code: Uint8Array): number | null {
  const end = code.length - LENGTH_BYTES
  if (end < 1) return null
  const start = end - (((code[end] ?? 0) << 8) | (code[end + 1] ?? 0))
  const entries = (code[start] ?? 0) - 0xa0
  if (start < 1 || entries < 1 || entries > ENTRIES_MAX) return null
  let at = start + 1
  for (let entry = 0; entry < entries; entry++) {
    const key = readKey(code, at)
    if (key === null) return null
    const size = valueSize(code, at + 1 + key.length, key)
    if (size === null) return null
    at += 1 + key.length + size
  }
  return at === end ? start : null
}

/** A short text that is one of the keys; its head is one byte. */
function readKey(code: Uint8Array, at: number): string | null {
  const length = (code[at] ?? 0) - 0x60
  if (length < 1 || length > 12) return null
  const text = String.fromCharCode(...code.subarray(at + 1, at + 1 + length))
  return KEYS.includes(text) ? text : null
}

/** Bytes that the value of this key takes, its head included; null for a value that this key does not have. */
function valueSize(code: Uint8Array, at: number, key: string): number | null {
  const head = code[at] ?? 0
  switch (key) {
    case 'ipfs':
      return head === 0x58 && code[at + 1] === IPFS_BYTES && code[at + 2] === 0x12 && code[at + 3] === 0x20 ? 2 + IPFS_BYTES : null
    case 'bzzr0':
    case 'bzzr1':
      return head === 0x58 && code[at + 1] === SWARM_BYTES ? 2 + SWARM_BYTES : null
    case 'solc':
      return head === 0x43 ? 4 : solcText(code, at)
    case 'experimental':
      return head === 0xf5 || head === 0xf4 ? 1 : null
    default:
      return head === 0x83 && [1, 2, 3].every((step) => (code[at + step] ?? 0xff) < 0x18) ? 4 : null
  }
}

/** Compilers between releases write their version as text. */
function solcText(code: Uint8Array, at: number): number | null {
  const head = code[at] ?? 0
  if (head >= 0x60 && head < 0x78) return 1 + head - 0x60
  return head === 0x78 ? 2 + (code[at + 1] ?? 0) : null
}
