/** Elements without markup: text stays text, whoever wrote it. */

type Child = Node | string | null

type Attributes = Readonly<Record<string, string | boolean>>

export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children)
}

const SVG = 'http://www.w3.org/2000/svg'

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(SVG, name), attributes, children)
}

/** An attribute that is true stands without a value; one that is false is left out, as is a child that is null. */
function fill<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== null))
  return made
}

/** An element of the page by its id. Throws when the page and its script disagree. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${id}`)
}

/** An answer may stand below its form, or begin far above the button of a long one: out of sight, either way. */
export function bringIntoView(pane: HTMLElement): void {
  const { top } = pane.getBoundingClientRect()
  if (top < 0 || top > window.innerHeight * 0.7) pane.scrollIntoView({ block: 'start' })
}

/** Buttons with `data-copies` copy the text of the element that they name. */
export function copyOnClick(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('button[data-copies]') : null
    const source = button && document.getElementById(button.dataset['copies'] ?? '')
    if (button && source) void copy(button, source)
  })
}

async function copy(button: HTMLButtonElement, source: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = 'Copied'
  } catch {
    // No clipboard outside a secure context: the text is selected, so that a key copies it.
    getSelection()?.selectAllChildren(source)
    button.textContent = 'Selected'
  }
}
