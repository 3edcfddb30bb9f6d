import htm from 'htm'
import { h, hydrate, type ComponentType, type VNode } from 'preact'

type HtmlTag = (strings: TemplateStringsArray, ...values: unknown[]) => VNode

const element = (htm as unknown as { bind(create: typeof h): HtmlTag }).bind(h)

/** Templates with their white space as HTML has it; the same array for the same template, since htm remembers what it parsed by it. */
const templates = new WeakMap<TemplateStringsArray, TemplateStringsArray>()

/**
 * Markup of a component, for the server and for browsers: a tagged template that makes Preact elements, without a build step and without
 * strings of HTML. Text is escaped. A line break is a space, except after an opening tag and before a closing one.
 */
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode {
  let template = templates.get(strings)
  if (template === undefined) {
    template = strings.map((text, at) =>
      (inTag(strings[at - 1]) ? text.replace(/^([^<>]*>)\s*\n\s*/, '$1') : text)
        .replace(/(<[a-z][^<>]*>)\s*\n\s*/g, '$1')
        .replace(/\s*\n\s*(<\/)?/g, (_, closing?: string) => closing ?? ' '),
    ) as unknown as TemplateStringsArray
    templates.set(strings, template)
  }
  return element(template, ...values)
}

/** True if a part of a template ends before the value of an attribute. */
function inTag(part: string | undefined): boolean {
  return part !== undefined && part.endsWith('=') && part.lastIndexOf('<') >= part.lastIndexOf('>')
}

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
