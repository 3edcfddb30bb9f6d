/** One question about the state of a chain; hex is 0x-prefixed and lower case. */
export type StateRead =
  | { kind: 'call'; to: string; data: string; gas: bigint }
  | { kind: 'code'; address: string }
  | { kind: 'balance'; address: string }
  | { kind: 'nonce'; address: string }
  | { kind: 'storage'; address: string; slot: string }

/** Gas limit of a call without arguments: a hostile token is cut off, an honest one needs a fraction. */
const CALL_GAS = 1_000_000n

export function callRead(to: string, data: string, gas: bigint = CALL_GAS): StateRead {
  return { kind: 'call', to, data, gas }
}

/** Return data, code, a word or a quantity; a revert is a value: the contract said no. */
export type StateResult = { ok: true; data: string } | { ok: false; revert: string }

export type StateResults = ReadonlyMap<string, StateResult>

/** Result of a call that should return one address. */
type AddressAnswer = { kind: 'address'; address: string } | { kind: 'reverted' } | { kind: 'nothing' } | { kind: 'garbage' }

export function addressAnswer(result: StateResult | undefined): AddressAnswer {
  if (result === undefined || !result.ok) return { kind: 'reverted' }
  if (result.data === '0x') return { kind: 'nothing' }
  const word = firstWord(result.data)
  return word !== null && /^0x0{24}/.test(word) ? { kind: 'address', address: `0x${word.slice(26)}` } : { kind: 'garbage' }
}

const WORD_CHARS = 66

/** The first 32 bytes that a call returned; further bytes are ignored (as Solidity does; old clones of Vyper return 4,096 bytes). */
export function firstWord(data: string): string | null {
  return data.length < WORD_CHARS ? null : data.slice(0, WORD_CHARS)
}

export const ZERO = `0x${'0'.repeat(40)}`

/**
 * Storage slots of proxies for their delegation target. The hex values are hashes of the named texts: EIP-1967 (2019, the hash less
 * one), EIP-1822 (2019), the earlier proxies of ZeppelinOS (2018; still used by USDC on Base) and Polygon's bridge.
 */
export const PROXY_SLOTS = {
  /** eip1967.proxy.implementation */
  eip1967_implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  /** eip1967.proxy.admin */
  eip1967_admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
  /** eip1967.proxy.beacon */
  eip1967_beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
  /** PROXIABLE */
  eip1822_logic: '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
  /** org.zeppelinos.proxy.implementation */
  zeppelinos_implementation: '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
  /** org.zeppelinos.proxy.admin */
  zeppelinos_admin: '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b',
  /** matic.network.proxy.implementation */
  matic_implementation: '0xbaab7dbf64751104133af04abc7d9979f0fda3b059a322a8333f533d3f32bf7f',
  /** The first variable of a Safe's proxy. Every contract has this slot, so it counts only where the code is a Safe's. */
  safe_singleton: '0x0000000000000000000000000000000000000000000000000000000000000000',
} as const

export type SlotName = keyof typeof PROXY_SLOTS

export interface SlotState {
  name: SlotName
  slot: string
  /** `dirty`: the slot contains more than an address. */
  state: 'zero' | 'address' | 'dirty'
  address: string | null
  /** The code carries this slot as a constant, or, for a beacon, the address in it: what it does not carry it can hardly look up. */
  named_in_code: boolean
}
