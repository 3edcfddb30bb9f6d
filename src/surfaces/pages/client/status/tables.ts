import { usdcText } from '../../../../service/payments/price.ts'
import { el } from '../dom.ts'
import { listTable } from '../facts.ts'
import { clockTextExact } from './axis.ts'
import type { HistoryView } from './history.ts'
import { CALLS, perMinute, rateText, SETTLEMENT, SOURCES, type CallName, type SettlementName, type SourceName } from './rows.ts'

/** A table behind each chart: its columns, and the text of a column at a place. */
interface Columns {
  [name: string]: (index: number) => string
}

/** Fills the tables that are open, newest first. */
export function fillTables(view: HistoryView): void {
  for (const [id, shown] of Object.entries(tablesOf(view))) {
    const place = document.getElementById(`table-${id}`)
    if (!(place instanceof HTMLDetailsElement) || !place.open) continue
    const rows = view.at_s.map((at_s, index) => [clockTextExact(at_s), ...Object.values(shown).map((text) => text(index))]).toReversed()
    const caption = `From ${view.every_s} s to ${view.every_s} s, newest first`
    const table = rows.length === 0 ? el('p', {}, 'Nothing was counted yet.') : listTable(caption, ['from', ...Object.keys(shown)], rows)
    // It scrolls inside itself, so the keyboard must reach it.
    table.tabIndex = 0
    table.setAttribute('role', 'group')
    table.setAttribute('aria-label', caption)
    place.querySelector('.rows')?.replaceChildren(table)
  }
}

function tablesOf(view: HistoryView): Record<string, Columns> {
  const { latency_ms, settlement, sources, prices_minor, chain_head_age_s } = view
  return {
    latency: columns(
      { p50: 'half within', p95: '95 % within', p99: '99 % within' },
      (name) => (index) => msText(latency_ms[name][index], calledAt(view, index)),
    ),
    calls: columns<CallName>(CALLS, (name) => {
      const rates = perMinute(view, name)
      return (index) => known(rates[index], rateText)
    }),
    sources: columns<SourceName>(SOURCES, (name) => (index) => known(sources[name][index], (up) => (up ? 'answers' : 'does not answer'))),
    settlement: columns<SettlementName>(SETTLEMENT, (name) => (index) => known(settlement[name][index], String)),
    prices: columns(
      { check: 'check', chain: 'chain', contract: 'contract', document: 'document' },
      (name) => (index) => known(prices_minor[name][index], (text) => `${usdcText(BigInt(text))} USDC`),
    ),
    head: { age: (index) => known(chain_head_age_s[index], (seconds) => `${seconds} s`) },
  }
}

function columns<Name extends string>(titles: Readonly<Record<Name, string>>, textOf: (name: Name) => (index: number) => string): Columns {
  return Object.fromEntries((Object.entries(titles) as [Name, string][]).map(([name, title]) => [title, textOf(name)]))
}

function known<Value>(value: Value | null | undefined, text: (value: Value) => string): string {
  return value === null || value === undefined ? '–' : text(value)
}

function calledAt({ calls }: HistoryView, index: number): boolean {
  return Object.values(calls).some((counts) => (counts[index] ?? 0) > 0)
}

/** No bound where calls were made means that it lies beyond the largest. */
function msText(ms: number | null | undefined, called: boolean): string {
  if (ms !== null && ms !== undefined) return `${ms} ms`
  return called ? 'over 60,000 ms' : '–'
}
