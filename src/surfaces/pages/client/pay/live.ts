import { readRecord, type PayRecord } from './record.ts'

/** Time of the service: its last answer plus the time since. The clock of this device is not used. */
interface ServiceClock {
  now_s(): number
}

export interface Live {
  clock: ServiceClock
  /** Reads the record now; resolves when the answer is in. */
  refresh(): Promise<void>
  /** Polls faster while a payment is under way. */
  hurry(on: boolean): void
}

export interface LiveParts {
  /** URL of the record. */
  path: string
  /** URL of the server-sent events; null if not offered. */
  events: string | null
  /** Entity tag of the record that the page was rendered with. */
  etag: string
  /** Time of the service when it rendered the page, in milliseconds. */
  written_ms: number
  onRecord(record: PayRecord): void
  /** Called with whether the service can be reached. */
  onLine(reached: boolean): void
}

const HURRY_MS = 1_500
const CALM_MS = 5_000
/** Polling interval while events arrive; catches missed ones. */
const LISTENING_MS = 30_000

/** Follows the invoice without reloading the page: by server-sent events if offered, else by polling with an ETag. */
export function follow(parts: LiveParts): Live {
  const time = { at_ms: parts.written_ms, since: performance.now() }
  const clock = { now_s: () => Math.floor((time.at_ms + performance.now() - time.since) / 1_000) }
  const state: State = { etag: parts.etag, hurried: false, listening: false, reached: true, timer: 0, asking: null }
  const onDate = (date: string | null) => {
    const at_ms = date === null ? Number.NaN : Date.parse(date)
    // The Date header has whole seconds; a difference of up to one second is its rounding.
    if (Number.isNaN(at_ms) || Math.abs(at_ms / 1_000 - clock.now_s()) <= 1) return
    time.at_ms = at_ms
    time.since = performance.now()
  }
  const ask = () => (state.asking ??= askOnce(parts, state, onDate).finally(() => (state.asking = null)))
  const plan = () => {
    clearTimeout(state.timer)
    // `navigator.onLine` may change before requests fail or succeed.
    const quiet = state.listening && state.reached && navigator.onLine
    const wait_ms = state.hurried ? HURRY_MS : quiet ? LISTENING_MS : CALM_MS
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
  /** Server-sent events are connected. */
  listening: boolean
  /** The last request was answered. */
  reached: boolean
  timer: number
  asking: Promise<void> | null
}

async function askOnce({ path, onRecord, onLine }: LiveParts, state: State, onDate: (date: string | null) => void): Promise<void> {
  const setReached = (reached: boolean) => {
    state.reached = reached
    onLine(reached)
  }
  const headers: Record<string, string> = state.etag === null ? {} : { 'if-none-match': state.etag }
  try {
    const response = await fetch(path, { headers, cache: 'no-store' })
    onDate(response.headers.get('date'))
    setReached(true)
    if (response.status !== 200) return
    const record = readRecord(await response.json())
    state.etag = response.headers.get('etag')
    if (record !== null) onRecord(record)
  } catch {
    setReached(false)
  }
}

/** Reads the record after each event, which carries no data. Browsers reconnect by themselves. */
function listen(path: string, state: State, refresh: () => Promise<void>): void {
  const source = new EventSource(path)
  source.addEventListener('open', () => (state.listening = true))
  source.addEventListener('error', () => {
    state.listening = false
    void refresh()
  })
  for (const name of ['invoice', 'end']) source.addEventListener(name, () => void refresh())
}
