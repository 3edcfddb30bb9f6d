/** One question about the state of a chain; hex is 0x-prefixed and lower case. */
export type StateRead =
  | { kind: 'call'; to: string; data: string; gas: bigint }
  | { kind: 'code'; address: string }
  | { kind: 'balance'; address: string }
  | { kind: 'nonce'; address: string }
  | { kind: 'storage'; address: string; slot: string }

/** Return data, code, a word or a quantity; a revert is a value: the contract said no. */
export type StateResult = { ok: true; data: string } | { ok: false; revert: string }

/** Work that asks for state as it goes: each yield is one batch of questions, answered in their order. */
export type Reading<Value> = Generator<readonly StateRead[], Value, readonly StateResult[]>

export type StateResults = ReadonlyMap<string, StateResult>

/** Asks named questions in one batch; nobody is asked nothing. */
export function* ask(reads: ReadonlyMap<string, StateRead>): Reading<StateResults> {
  if (reads.size === 0) return new Map()
  const results = yield [...reads.values()]
  return new Map([...reads.keys()].flatMap((name, index) => (results[index] === undefined ? [] : [[name, results[index]]])))
}

/** What a call without arguments may burn: a hostile token is cut off, an honest one needs a fraction. */
const CALL_GAS = 1_000_000n

export function callRead(to: string, data: string, gas: bigint = CALL_GAS): StateRead {
  return { kind: 'call', to, data, gas }
}

/** The data of a read that cannot revert, or what an absent account has. */
export function dataOf(results: StateResults, name: string, absent = '0x'): string {
  const found = results.get(name)
  return found?.ok === true ? found.data : absent
}

/** What a call gave that should return one address. */
export type AddressAnswer = { kind: 'address'; address: string } | { kind: 'reverted' } | { kind: 'nothing' } | { kind: 'garbage' }

export function addressAnswer(result: StateResult | undefined): AddressAnswer {
  if (result === undefined || !result.ok) return { kind: 'reverted' }
  if (result.data === '0x') return { kind: 'nothing' }
  const word = firstWord(result.data)
  return word !== null && /^0x0{24}/.test(word) ? { kind: 'address', address: `0x${word.slice(26)}` } : { kind: 'garbage' }
}

const WORD_CHARS = 66

/** The first 32 bytes that a call returned: the answer, whatever follows (Solidity reads it so; old clones of Vyper return 4,096 bytes). */
export function firstWord(data: string): string | null {
  return data.length < WORD_CHARS ? null : data.slice(0, WORD_CHARS)
}

export const ZERO = `0x${'0'.repeat(40)}`
