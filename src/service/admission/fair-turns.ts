import { providerNetwork, widerNetwork } from '../clients.ts'

interface FairTurnsParts {
  /** Takes a unit of the shared rate; false when none is left now. */
  take(): boolean
  /** Time in ms between two units. */
  every_ms: number
  /** Longest wait in ms. */
  wait_ms: number
  /** Maximum number of waiting requests: of one network (/24, /48), of one provider network (/16, /32), of all. */
  network: number
  provider: number
  all: number
}

/** Queue for a rate that all clients share: provider networks take turns, and within them networks, so that many requests of one delay no other for long. */
export interface FairTurns {
  /** No request waits. */
  is_idle(): boolean
  /** Resolves with true once a unit was taken for the client, with false when too many wait or the time is up. */
  wait(address: string): Promise<boolean>
}

interface Waiting {
  network: string
  provider: string
  end(taken: boolean): void
}

export function createFairTurns({ take, every_ms, wait_ms, ...bounds }: FairTurnsParts): FairTurns {
  const waiting = new Set<Waiting>()
  /** Number of the last turn of each network that has requests waiting. */
  const last_turns = new Map<string, number>()
  let turns = 0
  let timer: NodeJS.Timeout | null = null

  function serve(): void {
    for (;;) {
      const one = nextOf(waiting, last_turns)
      if (one === undefined || !take()) return
      turns += 1
      last_turns.set(`provider ${one.provider}`, turns)
      last_turns.set(`network ${one.network}`, turns)
      one.end(true)
    }
  }

  function schedule(): void {
    timer ??= setInterval(serve, every_ms)
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = null
    last_turns.clear()
  }

  /** Few wait of its network and of its provider's, and in all. */
  function hasRoom(network: string, provider: string): boolean {
    const all = [...waiting]
    return (
      all.length < bounds.all &&
      all.filter((one) => one.network === network).length < bounds.network &&
      all.filter((one) => one.provider === provider).length < bounds.provider
    )
  }

  return {
    is_idle: () => waiting.size === 0,
    wait(address) {
      const [network, provider] = [widerNetwork(address), providerNetwork(address)]
      if (!hasRoom(network, provider)) return Promise.resolve(false)
      return new Promise((resolve) => {
        const end = (taken: boolean) => {
          clearTimeout(late)
          waiting.delete(one)
          schedule()
          resolve(taken)
        }
        const one: Waiting = { network, provider, end }
        const late = setTimeout(() => end(false), wait_ms)
        waiting.add(one)
        schedule()
      })
    },
  }
}

/** The request whose provider network, and within it whose network, had its last turn longest ago; of several the one that waits longest. */
function nextOf(waiting: ReadonlySet<Waiting>, last_turns: ReadonlyMap<string, number>): Waiting | undefined {
  let found: Waiting | undefined
  let [least_provider, least_network] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const one of waiting) {
    const of_provider = last_turns.get(`provider ${one.provider}`) ?? 0
    const of_network = last_turns.get(`network ${one.network}`) ?? 0
    if (of_provider > least_provider || (of_provider === least_provider && of_network >= least_network)) continue
    found = one
    ;[least_provider, least_network] = [of_provider, of_network]
  }
  return found
}
