import { readRecord, type PayRecord } from './record.ts'

/** The service's own time: its last answer, and what has passed here since. No clock of this device is trusted. */
interface ServiceClock {
  now_s(): number
}

export interface Live {
  clock: ServiceClock
  /** Asks now; resolves when the answer is in. */
  refresh(): Promise<void>
  /** Asks often, while a payment is under way. */
  hurry(on: boolean): void
}

export interface LiveParts {
  /** Where the record is. */
  path: string
  /** Where changes are told (server-sent events); null where that is not offered. */
  events: string | null
  /** The service's time when it wrote the page, in milliseconds. */
  written_ms: number
  onRecord(record: PayRecord): void
  /** Whether the service can be reached. */
  onLine(reached: boolean): void
}

const HURRY_MS = 1_500
const CALM_MS = 5_000
/** While changes are told, asking is only there for what the telling missed. */
const TOLD_MS = 30_000

/** Follows the invoice without reloading the page: by events where they are offered, else by asking whether anything changed. */
export function follow(parts: LiveParts): Live {
  const time = { at_ms: parts.written_ms, since: performance.now() }
  const clock = { now_s: () => Math.floor((time.at_ms + performance.now() - time.since) / 1_000) }
  const state: State = { etag: null, hurried: false, told: false, reached: true, timer: 0, asking: null }
  const onDate = (date: string | null) => {
    const at_ms = date === null ? Number.NaN : Date.parse(date)
    // The header has whole seconds: within one of them the page's own reckoning is finer.
    if (Number.isNaN(at_ms) || Math.abs(at_ms / 1_000 - clock.now_s()) <= 1) return
    time.at_ms = at_ms
    time.since = performance.now()
  }
  const ask = () => (state.asking ??= askOnce(parts, state, onDate).finally(() => (state.asking = null)))
  const plan = () => {
    clearTimeout(state.timer)
    // The browser may tell of a line that is gone, or back, before that is so for the next request.
    const quiet = state.told && state.reached && navigator.onLine
    const wait_ms = state.hurried ? HURRY_MS : quiet ? TOLD_MS : CALM_MS
    state.timer = window.setTimeout(() => void refresh(), wait_ms)
  }
  const refresh = async () => {
    if (document.visibilityState === 'visible') await ask()
    plan()
  }
  document.addEventListener('visibilitychange', () => void refresh())
  for (const name of ['online', 'offline']) window.addEventListener(name, () => void refresh())
  if (parts.events !== null) listen(parts.events, state, refresh)
  plan()
  return {
    clock,
    refresh,
    hurry(on) {
      state.hurried = on
      plan()
    },
  }
}

interface State {
  etag: string | null
  hurried: boolean
  told: boolean
  /** By the last answer, or the lack of it. */
  reached: boolean
  timer: number
  asking: Promise<void> | null
}

async function askOnce({ path, onRecord, onLine }: LiveParts, state: State, onDate: (date: string | null) => void): Promise<void> {
  const tell = (reached: boolean) => {
    state.reached = reached
    onLine(reached)
  }
  const headers: Record<string, string> = state.etag === null ? {} : { 'if-none-match': state.etag }
  try {
    const response = await fetch(path, { headers, cache: 'no-store' })
    onDate(response.headers.get('date'))
    tell(true)
    if (response.status !== 200) return
    const record = readRecord(await response.json())
    state.etag = response.headers.get('etag')
    if (record !== null) onRecord(record)
  } catch {
    tell(false)
  }
}

/** An event says only that something changed: what, the record itself tells. Browsers connect again by themselves. */
function listen(path: string, state: State, refresh: () => Promise<void>): void {
  const source = new EventSource(path)
  source.addEventListener('open', () => (state.told = true))
  source.addEventListener('error', () => {
    state.told = false
    void refresh()
  })
  for (const name of ['invoice', 'end']) source.addEventListener(name, () => void refresh())
}
