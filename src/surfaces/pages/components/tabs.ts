import { html } from '../html.ts'

interface TabsProps<Id extends string> {
  /** Ids are `<name>-<tab>` for tabs and `<name>-panel` for the panel. */
  name: string
  label: string
  tabs: readonly (readonly [id: Id, title: string])[]
  selected: Id
  select(id: Id): void
}

/** Tabs by the pattern of the ARIA guide: one of them in the tab order, arrow keys, Home and End select others. */
export function Tabs<Id extends string>({ name, label, tabs, selected, select }: TabsProps<Id>) {
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(([id]) => id === selected)
    const next = tabs[nextIndex(event.key, at, tabs.length)]
    if (next === undefined) return
    event.preventDefault()
    select(next[0])
    document.getElementById(`${name}-${next[0]}`)?.focus()
  }
  return html`<div role="tablist" aria-label=${label} id=${`${name}-tabs`} onKeyDown=${onKeyDown}>
    ${tabs.map(
      ([id, title]) =>
        html`<button
          type="button"
          role="tab"
          id=${`${name}-${id}`}
          aria-controls=${`${name}-panel`}
          aria-selected=${String(id === selected)}
          tabindex=${id === selected ? 0 : -1}
          onClick=${() => select(id)}
        >
          ${title}
        </button>`,
    )}
  </div>`
}

/** The tab that a key leads to; -1 for other keys. */
function nextIndex(key: string, at: number, count: number): number {
  switch (key) {
    case 'ArrowRight':
      return (at + 1) % count
    case 'ArrowLeft':
      return (at + count - 1) % count
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return -1
  }
}
