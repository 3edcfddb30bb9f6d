import { html } from 'hono/html'
import type { Tool } from '../../service/catalogue/define.ts'
import type { ToolSchemas } from '../../service/catalogue/json-schema.ts'
import { callUrl, shellWord } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import type { Markup } from './layout.ts'

export interface Field {
  name: string
  /** `text` is one line, `long` a text of many; `json` stands for every value that is no text. */
  kind: 'text' | 'long' | 'json'
  description: string
  /** The example, as it stands in the field. */
  value: string
}

/** Texts up to this length are asked for in one line. */
const LINE_CHARS = 256

/** The fields of a tool's input, from its JSON Schema and its example. */
export function fieldsOf(schema: ToolSchemas['input'], example: Record<string, unknown>): Field[] {
  const properties = schema['properties'] as Record<string, Record<string, unknown>>
  return Object.entries(properties).map(([name, property]) => {
    const text = property['type'] === 'string'
    const short = typeof property['maxLength'] === 'number' && property['maxLength'] <= LINE_CHARS
    const value = example[name]
    return {
      name,
      kind: text ? (short ? 'text' : 'long') : 'json',
      description: String(property['description'] ?? ''),
      value: value === undefined ? '' : text ? String(value) : JSON.stringify(value, null, 2),
    }
  })
}

/** The half of a page that asks: a form filled with the example, and the same call as a line for a shell. */
export function askForm(deps: AppDeps, tool: Tool): Markup {
  const fields = fieldsOf(deps.schemas.get(tool.id)?.input ?? { properties: {} }, tool.example)
  const url = callUrl(deps, tool)
  const curl = `curl -s ${url} \\\n  -d ${shellWord(JSON.stringify({ input: tool.example }))}`
  return html`<form class="ask" id="ask" data-tool="${tool.id}" data-path="/v1/tools/${tool.id}/call" data-url="${url}">
${fields.map(fieldMarkup)}
<p class="send"><button type="submit">${tool.title}</button> <span class="hint" id="asking" role="status"></span></p>
<noscript><p class="hint">This form needs a script of this site. The same call runs in a shell:</p></noscript>
</form>
${sample('curl', 'The same call in a shell', curl)}`
}

function fieldMarkup({ name, kind, description, value }: Field): Markup {
  const label = html`<label for="field-${name}">${name}${kind === 'json' ? html` <span class="kind">JSON</span>` : ''}</label>`
  const control =
    kind === 'text'
      ? html`<input id="field-${name}" name="${name}" data-kind="text" value="${value}" aria-describedby="about-${name}" autocomplete="off" autocapitalize="off" spellcheck="false">`
      : html`<textarea id="field-${name}" name="${name}" data-kind="${kind}" rows="${rowsOf(value)}" aria-describedby="about-${name}" autocomplete="off" autocapitalize="off" spellcheck="false">
${value}</textarea>`
  return html`<div class="field">${label}
${control}
<p class="hint" id="about-${name}">${description}</p>
<p class="fault" id="fault-${name}" hidden></p></div>\n`
}

function rowsOf(value: string): number {
  return Math.min(16, Math.max(4, value.split('\n').length))
}

/** Text to be copied; it runs as it stands. */
export function sample(id: string, caption: string, text: string): Markup {
  return html`<figure class="sample"><figcaption>${caption}<button type="button" class="copy" data-copies="${id}">Copy</button></figcaption>
<pre id="${id}" tabindex="0">${text}</pre></figure>`
}

/** The half that answers, filled by the script. Until a call is made it shows what the tool answers to the example, marked as such. */
export function answerPane(example: Record<string, unknown> | null): Markup {
  return html`<section class="answer" id="answer" aria-label="Answer"${example === null ? '' : html` data-example="${JSON.stringify(example)}"`}>
<p class="empty">The answer will stand here: the verdict, the reason, and the receipt that proves it was given.</p>
</section>`
}
