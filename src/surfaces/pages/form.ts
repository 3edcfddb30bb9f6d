import { html } from 'hono/html'
import type { Tool } from '../../service/catalogue/define.ts'
import type { ToolSchemas } from '../../service/catalogue/json-schema.ts'
import { callUrl, paymentWords, shellWord } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import type { Markup } from './layout.ts'

interface Field {
  name: string
  /** `text` is one line, `long` a text of many; `json` stands for every value that is no text, yes, no or number. */
  kind: 'text' | 'long' | 'boolean' | 'number' | 'json'
  /** Left out of the call when nothing is typed. */
  optional: boolean
  description: string
  /** The example, as it stands in the field. */
  value: string
}

/** Texts up to this length are asked for in one line. */
const LINE_CHARS = 256

/** The fields of a tool's input, from its JSON Schema and its example. */
function fieldsOf(schema: ToolSchemas['input'], example: Record<string, unknown>): Field[] {
  const properties = schema['properties'] as Record<string, Record<string, unknown>>
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return Object.entries(properties).map(([name, property]) => {
    const value = example[name]
    return {
      name,
      kind: kindOf(property),
      optional: !required.has(name),
      description: typeof property['description'] === 'string' ? property['description'] : '',
      value: value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2),
    }
  })
}

function kindOf(property: Record<string, unknown>): Field['kind'] {
  switch (property['type']) {
    case 'string':
      return typeof property['maxLength'] === 'number' && property['maxLength'] <= LINE_CHARS ? 'text' : 'long'
    case 'boolean':
      return 'boolean'
    case 'number':
    case 'integer':
      return 'number'
    default:
      return 'json'
  }
}

/** The half of a page that asks: a form filled with the example. */
export function askForm(deps: AppDeps, tool: Tool): Markup {
  const fields = fieldsOf(deps.schemas.get(tool.id)?.input ?? { properties: {} }, tool.example)
  const url = callUrl(deps, tool)
  return html`<form class="ask" id="ask" data-path="/v1/tools/${tool.id}/call" data-url="${url}">
    ${fields.map(fieldMarkup)} ${sendRow(tool.title)}
    <noscript><p class="hint">This form needs a script of this site. The same call runs in a shell.</p></noscript>
  </form>`
}

/** The same call as a line for a shell. */
export function curlSample(deps: AppDeps, tool: Tool): Markup {
  const curl = `curl -s ${callUrl(deps, tool)} \\\n  -d ${shellWord(JSON.stringify({ input: tool.example }))}`
  return html`<figure class="sample">
    <figcaption>The same call in a shell<button type="button" class="copy" data-copies="curl">Copy</button></figcaption>
    <pre id="curl" tabindex="0">${curl}</pre>
  </figure>`
}

/** The button of a form, and the line that says how things stand: seen while it waits, then only heard. */
export function sendRow(words: string): Markup {
  return html`<p class="send"><button type="submit">${words}</button> <span class="hint heard" id="asking" role="status"></span></p>`
}

function fieldMarkup(field: Field): Markup {
  const { name, kind, description } = field
  const label = html`<label for="field-${name}">${name}${kind === 'json' ? html` <span class="kind">JSON</span>` : ''}</label>`
  const control = kind === 'boolean' ? choiceMarkup(field) : kind === 'long' || kind === 'json' ? areaMarkup(field) : lineMarkup(field)
  return html`<div class="field">
    ${label} ${control}
    <p class="hint" id="about-${name}">${description}</p>
    <p class="fault" id="fault-${name}" hidden></p>
  </div> `
}

/** A number is sent as it is typed, so that the service reads the very same literal. */
function lineMarkup({ name, kind, optional, value }: Field): Markup {
  return html`<input
    id="field-${name}"
    name="${name}"
    data-kind="${kind === 'number' ? 'json' : 'text'}"
    ${kind === 'number' ? html`inputmode="decimal"` : ''}
    ${optional ? 'data-optional' : ''}
    value="${value}"
    aria-describedby="about-${name}"
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
  />`
}

function areaMarkup({ name, kind, optional, value }: Field): Markup {
  return html`<textarea
    id="field-${name}"
    name="${name}"
    data-kind="${kind === 'json' ? 'json' : 'long'}"
    ${optional ? 'data-optional' : ''}
    rows="${rowsOf(value)}"
    aria-describedby="about-${name}"
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
  >
${value}</textarea>`
}

function choiceMarkup({ name, value }: Field): Markup {
  const option = (literal: string, words: string) =>
    html`<option value="${literal}" ${literal === value ? 'selected' : ''}>${words}</option>`
  return html`<select id="field-${name}" name="${name}" data-kind="json" data-optional aria-describedby="about-${name}">
    ${option('', 'not said')} ${option('true', 'yes')} ${option('false', 'no')}
  </select>`
}

function rowsOf(value: string): number {
  return Math.min(16, Math.max(4, value.split('\n').length))
}

/** The half that answers, filled by the script. Until a call is made it shows what the tool answers to the example, marked as such. A short one folds the facts. */
export function answerPane(deps: AppDeps, example: Record<string, unknown> | null, length: 'short' | 'whole'): Markup {
  return html`<section
      class="answer ${length}"
      id="answer"
      aria-label="Answer"
      ${example === null ? '' : html` data-example="${JSON.stringify(example)}"`}
    >
      <p class="empty">The answer will stand here: the verdict, the reason, and the receipt that proves it was given.</p>
    </section>
    <p id="payment-words" hidden>${paymentWords(deps)}</p>`
}
