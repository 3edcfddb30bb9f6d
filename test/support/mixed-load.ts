import { confirmByBank, payByChannel, payByRelay, payByTransfer, payExact, type ActorParts, type Books } from './mixed-actors.ts'
import { ANSWERED_MS, Asking } from './mixed-asking.ts'
import type { MixedDeployment } from './mixed-deployment.ts'
import { until } from './until.ts'

/** How many payers and merchants of each rail. */
export interface MixedActors {
  exact: number
  channels: number
  relays: number
  transfers: number
  banks: number
}

export interface MixedLoad {
  books: Books
  asking: Asking
  /** Answers of all rails so far; throws what ended the load. */
  answered(): number
  /** Resolves when every rail has had so many answers more, or throws what ended the load. */
  progress(each: number): Promise<void>
  /** Nothing new; resolves when whatever was begun is answered. */
  stop(): Promise<void>
  /** Ends without waiting, for a test that has failed already. */
  abandon(): void
}

export function startMixedLoad(deployment: MixedDeployment, actors: MixedActors, { lossy = false } = {}): MixedLoad {
  const asking = new Asking(deployment)
  const books: Books = { exact: [], channels: [], invoices: [] }
  const ending = new AbortController()
  const failures: unknown[] = []
  const parts: ActorParts = { deployment, asking, books, lossy, going: () => !ending.signal.aborted }
  const start = (count: number, act: (parts: ActorParts) => Promise<void>) => Array.from({ length: count }, () => act(parts))
  const running = [
    ...start(actors.exact, payExact),
    ...start(actors.channels, payByChannel),
    ...start(actors.relays, payByRelay),
    ...start(actors.transfers, payByTransfer),
    ...start(actors.banks, confirmByBank),
  ].map((one) =>
    one.catch((error: unknown) => {
      failures.push(error)
      ending.abort()
    }),
  )
  const rails = () => [
    ...(actors.exact > 0 ? [books.exact.filter(({ answer }) => answer !== null).length] : []),
    ...(actors.channels > 0 ? [books.channels.reduce((sum, { answered }) => sum + answered, 0)] : []),
    ...(['relay', 'transfer', 'bank'] as const)
      .filter((rail) => actors[`${rail}s`] > 0)
      .map((rail) => books.invoices.filter((order) => order.rail === rail && order.state !== 'open').length),
  ]
  const failed = () => {
    if (failures.length > 0) throw failures[0]
  }
  return {
    books,
    asking,
    answered() {
      failed()
      return rails().reduce((sum, count) => sum + count, 0)
    },
    async progress(each) {
      const before = rails()
      await until(
        `${each} more answers on every rail`,
        () => (failed(), rails().every((count, rail) => count >= (before[rail] ?? 0) + each)),
        ANSWERED_MS,
      )
    },
    async stop() {
      ending.abort()
      asking.endWithin(ANSWERED_MS)
      await Promise.all(running)
      failed()
    },
    abandon() {
      ending.abort()
      asking.endWithin(0)
    },
  }
}

/** One line for people. */
export function mixedFigures({ books, asking }: MixedLoad): string {
  const met = [...asking.met].toSorted(([a], [b]) => a.localeCompare(b)).map(([status, count]) => `${status}: ${count}`)
  const invoices = (['relay', 'transfer', 'bank'] as const).map((rail) => {
    const all = books.invoices.filter((order) => order.rail === rail)
    const lost = all.filter(({ state }) => state === 'lost').length
    return `${all.length} invoices by ${rail}${lost === 0 ? '' : ` (${lost} lost)`}`
  })
  const calls = books.channels.reduce((sum, { answered }) => sum + answered, 0)
  const deposits = books.channels.reduce((sum, { deposited_minor }) => sum + deposited_minor, 0n)
  return `${books.exact.length} exact calls, ${calls} channel calls, deposits of ${deposits} minor units, ${invoices.join(', ')}; statuses ${met.join(', ')}; ${asking.transcript.size} answers to payments; longest answer ${Math.round(asking.longest_ms)} ms`
}
