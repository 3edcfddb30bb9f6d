import type { Clock } from '../../ports/clock.ts'
import { TEST_TOKENS, type SandboxNode, type TestToken } from '../../ports/sandbox.ts'
import type { AllowanceRequest, Store } from '../../ports/store.ts'
import { clientHasher, networkHasher, quotaClient } from '../clients.ts'
import { FAUCET_RULES } from '../limits.ts'
import { takeEach } from '../payments/allowance.ts'
import { createRecentMap } from '../recent.ts'
import { problem, type Problem } from '../problems.ts'

/** Tokens that a request gave, and balances of the address. Amounts are in the smallest units. */
export interface Funded {
  given: { token: TestToken; amount: bigint; transaction: string }[]
  /** Tokens that the address had already got today. */
  already: TestToken[]
  balances: Readonly<Record<TestToken, bigint>>
  resets_at: string
}

type FundEnd = { ok: true; funded: Funded } | { ok: false; problem: Problem }

/** Gives test tokens to any address, within bounds by address, client, network and day. */
export interface Faucet {
  /** `address` in lower case; `token` null for all. */
  fund(address: string, token: TestToken | null, caller: string): Promise<FundEnd>
}

interface FaucetParts {
  node: Pick<SandboxNode, 'give' | 'balances'>
  store: Pick<Store, 'take' | 'give_back'>
  clock: Clock
  secret: Uint8Array
  onFault(error: unknown): void
}

const DAY_MS = 86_400_000
const RETRY = { retry_after_s: FAUCET_RULES.retry_s }

/**
 * Creates the faucet of a sandbox. What an address got is counted in the store by day, so a repeated request gives nothing more and says so.
 * A failure returns what was counted and not given. Transactions of one account need an order, so one request runs at a time.
 */
export function createFaucet(parts: FaucetParts): Faucet {
  const queue = createQueue()
  const budgets = dailyBudgets(parts)
  return {
    async fund(address, token, caller) {
      const day = Math.floor(parts.clock.now_ms() / DAY_MS)
      const wanted = token === null ? TEST_TOKENS : [token]
      const end = await queue.run(quotaClient(caller), () => fundNow(parts, { address, wanted, day, client: budgets(day, caller) }))
      return end ?? { ok: false, problem: problem('OVERLOADED', 'Too many requests wait for the faucet. Try again in a moment.', RETRY) }
    },
  }
}

interface Asked {
  address: string
  wanted: readonly TestToken[]
  day: number
  /** Budgets of the client, its network and all. */
  client: readonly AllowanceRequest[]
}

async function fundNow({ node, store, clock, onFault }: FaucetParts, { address, wanted, day, client }: Asked): Promise<FundEnd> {
  const given: Funded['given'] = []
  const due: TestToken[] = []
  const unitOf = (token: TestToken): AllowanceRequest => ({ day, bucket: `faucet-${token}`, client: address, limit: 1 })
  for (const token of wanted) if ((await store.take(unitOf(token))).granted) due.push(token)
  const giveBack = () =>
    Promise.all(due.filter((token) => given.every((one) => one.token !== token)).map((token) => store.give_back(unitOf(token))))
  const taken = due.length === 0 ? null : await takeEach(store, client)
  if (taken !== null && !taken.granted) {
    await giveBack()
    return { ok: false, problem: usedUp(taken.grants.length, day, clock) }
  }
  try {
    for (const token of due) {
      const amount = FAUCET_RULES.amounts[token]
      given.push({ token, amount, transaction: await node.give(token, address, amount) })
    }
    const already = wanted.filter((token) => !due.includes(token))
    const resets_at = new Date((day + 1) * DAY_MS).toISOString().replace('.000Z', 'Z')
    return { ok: true, funded: { given, already, balances: await node.balances(address), resets_at } }
  } catch (error) {
    onFault(error)
    await giveBack()
    if (given.length === 0) await taken?.give_back()
    return {
      ok: false,
      problem: problem('UPSTREAM_RPC_UNAVAILABLE', 'The chain of this sandbox does not answer. Try again in a moment.', RETRY),
    }
  }
}

/** Scopes of the daily budgets, in the order in which they are taken. */
const SCOPES = [
  `This client has used its ${FAUCET_RULES.client_daily} requests of the day to the faucet.`,
  `The network of this client (/24 of IPv4, /48 of IPv6) has used its ${FAUCET_RULES.network_daily} requests of the day to the faucet.`,
  `All clients together have used the ${FAUCET_RULES.all_daily} requests of the day to the faucet. This limit is the service's, not yours.`,
] as const

function usedUp(grants: number, day: number, clock: Clock): Problem {
  const retry_after_s = Math.max(1, Math.ceil(((day + 1) * DAY_MS - clock.now_ms()) / 1_000))
  return problem('TEST_NETWORK_RATE_LIMITED', `${SCOPES[grants - 1] ?? SCOPES[0]} It resets at 00:00 UTC.`, { retry_after_s })
}

function dailyBudgets({ secret }: Pick<FaucetParts, 'secret'>) {
  const [clientHash, networkHash] = [clientHasher(secret), networkHasher(secret)]
  const bucket = 'faucet'
  return (day: number, caller: string): AllowanceRequest[] => [
    { day, bucket, client: clientHash(day, caller), limit: FAUCET_RULES.client_daily },
    { day, bucket, client: networkHash(day, caller), limit: FAUCET_RULES.network_daily },
    { day, bucket, client: 'all', limit: FAUCET_RULES.all_daily },
  ]
}

/** Runs one piece of work at a time; refuses (null) beyond the bounds of waiting work. */
function createQueue() {
  const waiting = createRecentMap<number>(FAUCET_RULES.queue)
  let total = 0
  let last: Promise<unknown> = Promise.resolve()
  const count = (client: string, change: 1 | -1) => {
    total += change
    const left = (waiting.get(client) ?? 0) + change
    if (left === 0) waiting.delete(client)
    else waiting.set(client, left)
  }
  return {
    run<Result>(client: string, work: () => Promise<Result>): Promise<Result> | null {
      if (total >= FAUCET_RULES.queue || (waiting.get(client) ?? 0) >= FAUCET_RULES.client_queue) return null
      count(client, 1)
      const done = last.then(work).finally(() => count(client, -1))
      last = done.catch(() => undefined)
      return done
    },
  }
}
