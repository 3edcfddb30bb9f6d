import { byId } from './dom.ts'
import { clockTextExact } from './status/axis.ts'
import { chartRoom, drawCharts, type PriceBounds } from './status/charts.ts'
import { continued, readHistory, type HistoryView, type Span } from './status/history.ts'
import { fillTables } from './status/tables.ts'

/** The page that shows how the service does: asks every ten seconds while somebody looks. */

const POLL_MS = 10_000
/** Answers without a new point before the page says that nothing moves. */
const PATIENCE = 3

const room = chartRoom()
const live = byId('live', HTMLElement)
const live_words = byId('live-words', HTMLElement)
const live_heard = byId('live-heard', HTMLElement)
const bounds = JSON.parse(room.dataset['bounds'] ?? '{}') as PriceBounds

let span: Span = 'hour'
let view: HistoryView | null = null
let asked: AbortController | null = null
let timer: ReturnType<typeof setTimeout> | undefined
let unmoved = 0

for (const choice of document.querySelectorAll<HTMLInputElement>('input[name=span]')) {
  choice.addEventListener('change', () => {
    span = choice.value === 'day' ? 'day' : 'hour'
    view = null
    void ask()
  })
  // A browser keeps what was chosen before a reload.
  if (choice.checked && choice.value === 'day') span = 'day'
}
for (const details of room.querySelectorAll('details')) details.addEventListener('toggle', () => view !== null && fillTables(view))
new ResizeObserver(() => view !== null && drawCharts(view, bounds)).observe(room)
document.addEventListener('visibilitychange', () => (document.hidden ? pause() : void ask()))
window.addEventListener('online', () => void ask())
window.addEventListener('offline', () => standing('stalled', lostWords()))
void ask()

function pause(): void {
  clearTimeout(timer)
  asked?.abort()
  standing('paused', 'paused while nobody looks')
}

async function ask(): Promise<void> {
  clearTimeout(timer)
  asked?.abort()
  const mine = new AbortController()
  asked = mine
  try {
    // The last point may not have been complete when it was read.
    const before = view
    const newer = await readHistory(span, before === null ? null : (before.at_s.at(-2) ?? null), mine.signal)
    show(before === null ? newer : continued(before, newer), before)
  } catch {
    if (mine.signal.aborted) return
    standing('stalled', lostWords())
  }
  timer = setTimeout(() => void ask(), POLL_MS)
}

function show(next: HistoryView, before: HistoryView | null): void {
  const last = next.at_s.at(-1)
  unmoved = before !== null && before.at_s.at(-1) === last && next.span === 'hour' ? unmoved + 1 : 0
  view = next
  drawCharts(next, bounds)
  fillTables(next)
  if (last === undefined) standing('live', 'nothing was counted yet')
  else if (unmoved >= PATIENCE) standing('stalled', `The service answers, but has counted nothing since ${clockTextExact(last)}.`)
  else standing('live', `live, ${clockTextExact(last + Math.min(next.every_s, next.counted_s.at(-1) ?? 0))}`)
}

function lostWords(): string {
  const last = view?.at_s.at(-1)
  const shown = last === undefined ? '' : ` What is drawn ends at ${clockTextExact(last)}.`
  return `The service does not answer.${shown} Asked again in ${POLL_MS / 1_000} s.`
}

/** Shape and words say how fresh the charts are; those who listen hear only when that changes. */
function standing(state: 'live' | 'paused' | 'stalled', words: string): void {
  if (live.dataset['state'] !== state && (state === 'stalled' || live.dataset['state'] === 'stalled')) live_heard.textContent = words
  live.dataset['state'] = state
  room.classList.toggle('stale', state === 'stalled')
  live_words.textContent = words
}
