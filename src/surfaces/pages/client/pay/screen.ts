import { byId, el } from '../dom.ts'
import { build } from './build.ts'
import type { Fault } from './faults.ts'
import { chainName, isPayable, usdc, type PayRecord } from './record.ts'
import { REGIONS, regionsOf } from './regions.ts'
import { standingWords } from './standing.ts'
import type { Trace } from './stations.ts'

/** What the page shows. Only what changed is drawn anew, so that focus and reading places stay. */
export interface Screen {
  show(record: PayRecord, trace: Trace | null): void
  /** One line under the stations: what is being waited for. Read out. */
  say(words: string): void
  /** Null takes the trouble away. */
  trouble(fault: Fault | null): void
  line(reached: boolean): void
}

export function createScreen(first: PayRecord): Screen {
  const drawn = new Map(REGIONS.map((name) => [name, keyOf(regionsOf(first, null)[name])]))
  const [saying, heard, place, offline] = ['saying', 'heard', 'trouble', 'offline'].map((id) => byId(id, HTMLElement))
  const ways = byId('ways', HTMLElement)
  let before = first
  const draw = (record: PayRecord, trace: Trace | null) => {
    const regions = regionsOf(record, trace)
    for (const name of REGIONS) {
      const key = keyOf(regions[name])
      if (drawn.get(name) === key) continue
      drawn.set(name, key)
      byId(name, HTMLElement).replaceChildren(...(regions[name] === null ? [] : [build(regions[name])]))
    }
  }
  return {
    show(record, trace) {
      // What is about to be hidden or drawn anew must not swallow the focus.
      const held = document.activeElement
      const lost = held instanceof HTMLElement && (held.id === 'word' || (ways.contains(held) && !isPayable(record)))
      draw(record, trace)
      showDue(record)
      ways.hidden = !isPayable(record)
      byId('left', HTMLElement).hidden = !isPayable(record)
      if (lost) byId('word', HTMLElement).focus()
      const { word, reason } = standingWords(record)
      if (heard && record.status !== before.status) heard.textContent = `${word}. ${reason}`
      before = record
    },
    say(words) {
      if (saying) saying.textContent = words
    },
    trouble(fault) {
      place?.replaceChildren(...(fault === null ? [] : [faultView(fault)]))
    },
    line(reached) {
      if (offline) offline.hidden = reached
    },
  }
}

function keyOf(region: unknown): string {
  return JSON.stringify(region)
}

function faultView({ title, happened, next }: Fault): HTMLElement {
  return el(
    'div',
    { class: 'problem', role: 'alert' },
    el('h3', {}, title),
    el('p', {}, happened),
    el('p', {}, el('b', {}, 'What next: '), next),
  )
}

/** What is still due, wherever it stands: in sentences, to be copied, in the code. */
function showDue({ due_minor, merchant, chain_id, invoice_id }: PayRecord): void {
  const text = usdc(due_minor)
  for (const place of document.querySelectorAll('[data-due]')) if (place.textContent !== text) place.textContent = text
  const code = document.getElementById('code-token')
  if (!(code instanceof HTMLImageElement) || code.dataset['shows'] === text || due_minor === 0n) return
  code.dataset['shows'] = text
  code.src = `/api/invoice/${invoice_id}/qr.svg?due=${due_minor}`
  code.alt = `Payment code: ${text} USDC to ${merchant} on ${chainName(chain_id)}`
}
