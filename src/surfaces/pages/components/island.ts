import { hydrate, type ComponentType } from 'preact'
import { html } from '../html.ts'

/**
 * A component that comes alive in the browser. The server renders it together with its props; the script of the page calls `hydrateIsland`
 * with the same component. Props are JSON.
 */
export function Island<Props extends object>({ id, component, props }: { id: string; component: ComponentType<Props>; props: Props }) {
  return html`<div id=${id} data-props=${JSON.stringify(props)}><${component} ...${props} /></div>`
}

/** Attaches a component to what the server rendered of it. `more` are props that only a browser has. */
export function hydrateIsland<Props extends object>(id: string, component: ComponentType<Props>, more?: Partial<Props>): void {
  const island = document.getElementById(id)
  if (island === null) throw new Error(`the page has no island ${id}`)
  const props = JSON.parse(island.dataset['props'] ?? '{}') as Props
  hydrate(html`<${component} ...${{ ...props, ...more }} />`, island)
}
