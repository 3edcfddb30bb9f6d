import { byId } from './dom.ts'
import { foundWords, isFound, searchWords } from './search-words.ts'

/**
 * The search on the page that holds the catalogue: finds in place, as somebody types. What the page begins with makes way, so that what
 * is found stands right below the search; the address follows, so that it can be passed on.
 */
export function startSearch(): void {
  const field = byId('search', HTMLInputElement)
  const rows = [...document.querySelectorAll<HTMLElement>('.family li')].map((row) => ({
    row,
    text: `${familyOf(row)} ${row.textContent}`,
  }))
  const find = () => show(field.value, rows)
  field.addEventListener('input', find)
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || field.value === '') return
    event.preventDefault()
    field.value = ''
    find()
  })
  byId('finder', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault()
    find()
    document.querySelector<HTMLElement>('.family:not([hidden]) li:not([hidden]) a')?.focus()
  })
  // A visit that comes back may bring what was typed before.
  if (field.value !== '') find()
}

interface Row {
  row: HTMLElement
  text: string
}

function familyOf(row: HTMLElement): string {
  return row.closest('.family')?.querySelector('h3')?.textContent ?? ''
}

function show(query: string, rows: readonly Row[]): void {
  const words = searchWords(query)
  const hits = rows.filter(({ text }) => isFound(text, words))
  const shown = new Set(hits.map(({ row }) => row))
  for (const { row } of rows) row.hidden = !shown.has(row)
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.rail a')) showFamily(link)
  for (const id of ['front', 'prices']) byId(id, HTMLElement).hidden = words.length > 0
  byId('found', HTMLElement).textContent = foundWords(hits.length, rows.length, words)
  history.replaceState(null, '', words.length === 0 ? '/' : `/?q=${encodeURIComponent(query.trim())}`)
}

/** A shelf stands while something is on it, and the rail counts what does. */
function showFamily(link: HTMLAnchorElement): void {
  const family = document.getElementById(link.hash.slice(1))
  const count = family?.querySelectorAll('li:not([hidden])').length ?? 0
  if (family !== null) family.hidden = count === 0
  if (link.parentElement !== null) link.parentElement.hidden = count === 0
  const shown = link.querySelector('span')
  if (shown !== null) shown.textContent = String(count)
}
