/**
 * Tabs by the pattern of the ARIA guide: one tab is in the order of keys, arrows go on to the next, Home and End to the outer ones; a tab
 * is chosen as it is reached. `choose` is told the tab.
 */
export function startTabs(list: HTMLElement, choose: (tab: HTMLElement) => void): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')]
  const select = (tab: HTMLElement) => {
    for (const one of tabs) {
      one.setAttribute('aria-selected', String(one === tab))
      one.tabIndex = one === tab ? 0 : -1
    }
    choose(tab)
  }
  list.addEventListener('click', (event) => {
    const tab = event.target instanceof Element ? event.target.closest<HTMLElement>('[role="tab"]') : null
    if (tab !== null) select(tab)
  })
  list.addEventListener('keydown', (event) => {
    const at = tabs.indexOf(document.activeElement as HTMLElement)
    const next = at === -1 ? undefined : tabs[placeAfter(event.key, at, tabs.length)]
    if (next === undefined) return
    event.preventDefault()
    next.focus()
    select(next)
  })
}

/** The place that a key leads to; -1 where it leads nowhere. */
function placeAfter(key: string, at: number, count: number): number {
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
