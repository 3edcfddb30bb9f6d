import type { AccountKind } from '../chain/state.ts'
import { addressAnswer, ZERO, type StateResults } from './state-reads.ts'

/** owner() and pendingOwner() of ERC-173 (2018) and OpenZeppelin's Ownable2Step; getOwner() of BEP-20. */
export const OWNER_CALLS = { owner: '0x8da5cb5b', get_owner: '0x893d20e8', pending_owner: '0xe30c3978' } as const

/** Addresses without a known key, to which ownership is renounced. */
const DEAD = new Set([
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead',
])

/** Precompiles of Ethereum up to BLS12-381 (EIP-2537, 2025), and the one for P-256 that L2 networks have (RIP-7212). */
const LAST_PRECOMPILE = 0x11n
const P256_PRECOMPILE = 0x100n

/** Returns true when control was given to an address without a known key. */
export function isDead(address: string): boolean {
  const number = BigInt(address)
  return DEAD.has(address) || (number > 0n && number <= LAST_PRECOMPILE) || number === P256_PRECOMPILE
}

type OwnerStatus = 'address' | 'zero' | 'dead' | 'not_present' | 'reverted' | 'unknown'

export interface OwnerAnswer {
  status: OwnerStatus
  address: string | null
  method: 'owner()' | 'getOwner()' | null
  pending_owner: string | null
}

export interface OwnerFacts extends OwnerAnswer {
  account_kind: AccountKind | null
  note: string | null
}

/** Returns true when the code that answers has this function; null when that code is not known. */
type Has = (selector: number) => boolean | null

/**
 * Address named by owner(), or else by getOwner(). `not_present` only where all code that answers is known and has neither function;
 * `reverted` where a function exists and refuses; every other result without an address is `unknown`.
 */
export function readOwner(results: StateResults, has: Has): OwnerAnswer {
  const pending = addressAnswer(results.get('pending_owner'))
  const pending_owner = pending.kind === 'address' && pending.address !== ZERO ? pending.address : null
  const answers = (['owner', 'get_owner'] as const).map((name) => ({ name, answer: addressAnswer(results.get(name)) }))
  for (const { name, answer } of answers) {
    if (answer.kind !== 'address') continue
    const { address } = answer
    const status = address === ZERO ? 'zero' : isDead(address) ? 'dead' : 'address'
    return { status, address, method: name === 'owner' ? 'owner()' : 'getOwner()', pending_owner }
  }
  return { status: silence(answers, has), address: null, method: null, pending_owner }
}

function silence(answers: readonly { name: 'owner' | 'get_owner'; answer: { kind: string } }[], has: Has): OwnerStatus {
  const present = answers.map(({ name, answer }) => ({ there: has(Number.parseInt(OWNER_CALLS[name], 16)), kind: answer.kind }))
  if (present.some(({ there, kind }) => there === true && kind === 'reverted')) return 'reverted'
  return present.every(({ there, kind }) => there === false && kind !== 'garbage') ? 'not_present' : 'unknown'
}

/** Adds what the owner's account is, and what its silence does not mean. */
export function ownerFacts(answer: OwnerAnswer, account_kind: AccountKind | null): OwnerFacts {
  const given_away = answer.status === 'zero' || answer.status === 'dead'
  const note = given_away ? 'No owner does not rule out roles, minters, or a lock that gives ownership back.' : null
  return { ...answer, account_kind: answer.status === 'address' ? account_kind : null, note }
}
