import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { stateText, usePayLocale, type Fault } from '../../components/pay-text.ts'
import { discoverWallets, type Wallet } from '../wallets.ts'
import type { Checkout, CheckoutParts, Live, Phase, Screen, Trace } from './checkout.ts'
import { isPayable, KEPT, keptText, readRecord, type PayRecord } from './record.ts'

interface LiveParts {
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
function follow(parts: LiveParts): Live {
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

/** Elements that changes are brought to: focus to the state when `focus_word` asks for it, messages into view. */
function usePlaces({ record, fault, saying }: { record: PayRecord; fault: Fault | null; saying: string }) {
  const word = useRef<HTMLHeadingElement>(null)
  const saying_place = useRef<HTMLParagraphElement>(null)
  const fault_place = useRef<HTMLDivElement>(null)
  const focus_word = useRef(false)
  useLayoutEffect(() => {
    if (focus_word.current) word.current?.focus()
    focus_word.current = false
  }, [record])
  // On a phone the button that was pressed may be screens away from the message.
  useLayoutEffect(() => {
    if (fault !== null) fault_place.current?.scrollIntoView({ block: 'nearest' })
  }, [fault])
  useLayoutEffect(() => {
    if (saying !== '') saying_place.current?.scrollIntoView({ block: 'nearest' })
  }, [saying])
  return { word, saying_place, fault_place, focus_word }
}

type LoadCheckout = () => Promise<Checkout | null>

/** Loads the module that asks a wallet and sends the payment, which a page without a wallet does not need; null after telling that it failed. */
function loadCheckout(parts: CheckoutParts): LoadCheckout {
  let loaded: Checkout | null = null
  return async () => {
    try {
      const { createCheckout } = await import('./checkout.ts')
      return (loaded ??= createCheckout(parts))
    } catch {
      parts.screen.say(parts.messages.checkout.unreachable)
      return null
    }
  }
}

/** An invoice as the page was rendered with it. */
export interface RenderedInvoice {
  /** Invoice record as the service sends it. */
  record: Readonly<Record<string, unknown>>
  /** Time of the service when it rendered the page, in milliseconds since 1970. */
  now_ms: number
  /** Entity tag of the record. */
  etag: string
  /** URL of the server-sent events; null if not offered. */
  events: string | null
}

/** State of the page: the record, the wallets, and what is announced. `carries`: the service submits signed payments. */
export function useCheckout({ record: wire, etag, now_ms, events }: RenderedInvoice, carries: boolean) {
  const { messages } = usePayLocale()
  const first = useMemo(() => recordOf(wire), [])
  const [record, setRecord] = useState(first)
  const [trace, setTrace] = useState<Trace | null>(null)
  const [saying, setSaying] = useState('')
  const [fault, setFault] = useState<Fault | null>(null)
  const [announced, setAnnounced] = useState('')
  const [reached, setReached] = useState(true)
  const [live, setLive] = useState<Live | null>(null)
  const [wallets, setWallets] = useState<readonly Wallet[]>([])
  const [asked, setAsked] = useState(false)
  const [phase, setPhase] = useState<Phase>('idle')
  const latest = useRef(first)
  const checkout = useRef<LoadCheckout>(() => Promise.resolve(null))
  const places = usePlaces({ record, fault, saying })
  const screen: Screen = { trace: setTrace, say: setSaying, trouble: setFault }
  const take = (found: PayRecord) => {
    const { word: state, reason } = stateText(messages.states, found)
    if (found.status !== latest.current.status) setAnnounced(`${state}. ${reason}`)
    // If the focused element is about to be hidden, focus moves to the state.
    places.focus_word.current = !isPayable(found) && document.activeElement?.closest('#ways') !== null
    latest.current = found
    setRecord(found)
  }
  useEffect(() => {
    const path = `/api/invoice/${first.invoice_id}`
    const following = follow({
      path,
      events,
      etag,
      written_ms: now_ms,
      onRecord(found) {
        take(found)
        if (found.status === 'SETTLED' || found.status === 'VOID') following.hurry(false)
      },
      onLine: setReached,
    })
    setLive(following)
    checkout.current = loadCheckout({ live: following, screen, messages, record: () => latest.current, onPhase: setPhase })
    if (carries) {
      discoverWallets((wallet) => {
        setWallets((known) => [...known, wallet])
        void checkout.current()
      })
      setAsked(true)
    }
    if (keptText(KEPT + first.invoice_id) !== null) void checkout.current().then((loaded) => loaded?.resume())
  }, [])
  return {
    record,
    trace,
    saying,
    fault,
    announced,
    reached,
    live,
    ...places,
    take,
    first_due_minor: first.due_minor,
    say: setSaying,
    trouble: setFault,
    wallet_state: { wallets, asked, phase, ...walletActs(() => checkout.current()) },
  }
}

function walletActs(load: LoadCheckout) {
  return {
    choose: (wallet: Wallet) => void load().then((loaded) => loaded?.pay(wallet)),
    stop() {
      void load().then((loaded) => loaded?.stop())
      document.querySelector<HTMLElement>('#wallets button')?.focus()
    },
  }
}

function recordOf(wire: Readonly<Record<string, unknown>>): PayRecord {
  const record = readRecord(wire)
  if (record === null) throw new TypeError('the invoice record is invalid')
  return record
}
