import { readFileSync } from 'node:fs'
import { Parser, type Node } from 'commonmark'
import { html } from '../html.ts'
import type { AppDeps } from '../../deps.ts'
import type { Markup } from '../layout.ts'
import { code, sample, table, type Chapter, type Values } from './parts.ts'
import { GUIDE_VALUES } from './values.ts'

/**
 * Guides: Markdown files in docs/guide/, rendered as components; HTML in them is refused. Title and description are the first two blocks. In addition:
 * - `## Title <!-- id -->` starts a chapter with this id;
 * - a code block whose first line is "kind id caption" is a sample with a copy button;
 * - a paragraph `Table: caption` precedes each table;
 * - `<!-- when name -->` before a chapter or block shows it only where the condition of this name is true;
 * - `{{name}}` is replaced with a value from the code. Values are never read as Markdown.
 */

type Conditions = Readonly<Record<string, (deps: AppDeps) => boolean>>

interface Guide {
  title: string
  words: string
  /** Names of its placeholders and conditions. */
  names: ReadonlySet<string>
  chapters(deps: AppDeps): Chapter[]
}

const PLACEHOLDER = /\{\{(\w+)\}\}/g
const CONDITION = /^<!-- when (\w+) -->$/
const CHAPTER = /^<!-- ([\w-]+) -->$/

/** Reads the text of a guide. Throws if it has a placeholder or a condition that is not in the tables. */
export function readGuide(name: string, text: string, values: Values, conditions: Conditions): Guide {
  const [, title, words] = /^# (.+)\n\n(.+)\n\n/.exec(text) ?? []
  if (title === undefined || words === undefined)
    throw new Error(`docs/guide/${name}.md: a title and a description in one line each come first`)
  const names = new Set([...text.matchAll(PLACEHOLDER), ...text.matchAll(/<!-- when (\w+) -->/g)].map(([, found = '']) => found))
  for (const found of names)
    if (!Object.hasOwn(values, found) && !Object.hasOwn(conditions, found))
      throw new Error(`docs/guide/${name}.md: unknown value "${found}"`)
  return { title, words, names, chapters: (deps) => new GuideReader(name, text, values, conditions, deps).chapters() }
}

class GuideReader {
  readonly #name: string
  readonly #lines: readonly string[]
  readonly #document: Node
  readonly #values: Values
  readonly #conditions: Conditions
  readonly #deps: AppDeps

  constructor(name: string, text: string, values: Values, conditions: Conditions, deps: AppDeps) {
    this.#name = name
    this.#lines = text.split('\n')
    this.#document = new Parser().parse(text)
    this.#values = values
    this.#conditions = conditions
    this.#deps = deps
  }

  chapters(): Chapter[] {
    const chapters: (Chapter & { blocks: Markup[] })[] = []
    let [shown, chapter_shown, caption] = [true, true, '']
    for (const node of childrenOf(this.#document).slice(2)) {
      const condition = node.type === 'html_block' ? CONDITION.exec(node.literal ?? '')?.[1] : undefined
      if (condition !== undefined) {
        shown = this.#conditions[condition]?.(this.#deps) === true
        continue
      }
      if (node.type === 'heading' && node.level === 2) {
        chapter_shown = shown
        if (shown) chapters.push(this.#chapter(node))
      } else if (shown && chapter_shown) {
        const text = node.type === 'paragraph' && node.firstChild?.type === 'text' ? (node.firstChild.literal ?? '') : ''
        if (text.startsWith('Table: ')) caption = this.#fill(textOf(node).slice('Table: '.length))
        else chapters.at(-1)?.blocks.push(this.#block(node, caption))
      }
      shown = true
    }
    return chapters.map(({ id, title, blocks }) => ({ id, title, body: html`${blocks}` }))
  }

  #chapter(heading: Node) {
    const id = CHAPTER.exec(heading.lastChild?.literal ?? '')?.[1]
    if (id === undefined) this.#refuse(heading, 'a chapter without an id')
    return { id, title: this.#fill(textOf(heading).trim()), body: html``, blocks: [] as Markup[] }
  }

  #block(node: Node, caption: string): Markup {
    if (node.type === 'paragraph') {
      const text = textOf(node)
      if (text.startsWith('|')) return this.#table(node, caption)
      const value = this.#valueOf(/^\{\{(\w+)\}\}$/.exec(text)?.[1])
      return typeof value === 'object' ? value : html`<p>${this.#inlines(node)}</p>`
    }
    if (node.type === 'list') {
      const items = childrenOf(node).map((item) => html`<li>${childrenOf(item).map((paragraph) => this.#inlines(paragraph))}</li>`)
      if (node.listType === 'bullet') return html`<ul>${items}</ul>`
      return html`<ol start="${node.listStart}">${items}</ol>`
    }
    const [, kind, id, words] = node.type === 'code_block' ? (/^(\w+) ([\w-]+) (.+)$/.exec(node.info ?? '') ?? []) : []
    if (kind === undefined || id === undefined || words === undefined) this.#refuse(node, `a ${node.type}`)
    return sample(id, kind, this.#fill(words), this.#fill((node.literal ?? '').replace(/\n$/, '')))
  }

  /** Table of GitHub's Markdown, which CommonMark reads as a paragraph. */
  #table(node: Node, caption: string): Markup {
    const [[first], [last]] = node.sourcepos
    const [head = [], , ...rows] = this.#lines.slice(first - 1, last).map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split(/(?<!\\)\|/)
        .map((cell) => {
          const { firstChild } = new Parser().parse(cell.trim().replaceAll('\\|', '|'))
          return firstChild === null ? '' : html`${this.#inlines(firstChild)}`
        }),
    )
    return table(caption, head, rows)
  }

  #inlines(parent: Node): (Markup | string)[] {
    const parts: (Markup | string)[] = []
    let text = ''
    for (const node of childrenOf(parent)) {
      // The parser divides text at characters that may have a meaning, such as the underscore of a placeholder.
      if (node.type === 'text' || node.type === 'softbreak') text += node.type === 'text' ? (node.literal ?? '') : ' '
      else {
        parts.push(this.#fill(text), this.#inline(node))
        text = ''
      }
    }
    return [...parts, this.#fill(text)]
  }

  #inline(node: Node): Markup {
    if (node.type === 'code') return code(this.#fill(node.literal ?? ''))
    if (node.type === 'strong') return html`<b>${this.#inlines(node)}</b>`
    if (node.type === 'link') return html`<a href=${pageAddress(node.destination ?? '')}>${this.#inlines(node)}</a>`
    return this.#refuse(node, `a ${node.type}`)
  }

  #fill(text: string): string {
    return text.replace(PLACEHOLDER, (_, name: string) => {
      const value = this.#valueOf(name)
      if (typeof value === 'object') throw new Error(`docs/guide/${this.#name}.md: {{${name}}} must be the only text of a paragraph`)
      return String(value)
    })
  }

  #valueOf(name: string | undefined): Markup | string | number {
    return (name === undefined ? undefined : this.#values[name]?.(this.#deps)) ?? ''
  }

  #refuse(node: Node, what: string): never {
    throw new Error(`docs/guide/${this.#name}.md, line ${node.sourcepos?.[0][0] ?? '?'}: ${what} is not supported`)
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (let child = node.firstChild; child !== null; child = child.next) children.push(child)
  return children
}

function textOf(node: Node): string {
  return childrenOf(node)
    .filter(({ type }) => type !== 'html_inline')
    .map(({ type, literal }) => (type === 'softbreak' ? ' ' : (literal ?? '')))
    .join('')
}

/** Links between guides are relative on GitHub; here each guide has an address. */
function pageAddress(target: string): string {
  return target.replace(/^([\w-]+)\.md/, '/docs/$1')
}

/** A page of the documentation. */
interface Topic extends Guide {
  /** Last part of its address; empty for `/docs` itself. */
  id: string
  path: string
}

/** Conditions of chapters and blocks. */
const CONDITIONS: Conditions = {
  payments: (deps) => deps.takes_payments,
  no_payments: (deps) => !deps.takes_payments,
  sandbox_chain: (deps) => deps.sandbox !== null,
  no_sandbox_chain: (deps) => deps.sandbox === null,
}

const FOLDER = new URL('../../../../docs/guide/', import.meta.url)
const START = 'quickstart'

function topics(...names: string[]): Topic[] {
  return names.map((name) => {
    const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
    const place = name === START ? { id: '', path: '/docs' } : { id: name, path: `/docs/${name}` }
    return { ...place, ...readGuide(name, text, GUIDE_VALUES, CONDITIONS) }
  })
}

/** The topics in the order in which they are read. */
export const GROUPS: readonly { title: string; topics: readonly Topic[] }[] = [
  { title: 'Call', topics: topics(START, 'journeys', 'rest', 'mcp', 'a2a', 'cli', 'client') },
  { title: 'Know', topics: topics('prices', 'payment', 'receipts', 'audit', 'errors', 'invoices', 'webhooks') },
  { title: 'Rule books', topics: topics('pol-1', 'pod-1', 'csp-1', 'dip-1', 'micro-ast') },
  { title: 'Run', topics: topics('going-live') },
]

const used = new Set(GROUPS.flatMap((group) => group.topics.flatMap(({ names }) => [...names])))
const unused = Object.keys({ ...GUIDE_VALUES, ...CONDITIONS }).filter((name) => !used.has(name))
if (unused.length > 0) throw new Error(`no guide uses: ${unused.join(', ')}`)

export const REFERENCE = {
  id: 'reference',
  path: '/docs/reference',
  title: 'API reference',
  words: 'Every operation, from the OpenAPI document.',
}
