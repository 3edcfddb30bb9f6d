import { html } from 'hono/html'
import { callUrl, shellWord } from '../../../service/catalogue/text.ts'
import type { Tool } from '../../../service/catalogue/define.ts'
import type { AppDeps } from '../../deps.ts'
import type { Markup } from '../layout.ts'

/** What the pages of the documentation are made of. */

/** A chapter of a page: its heading can be pointed at, and stands in the page's own contents. */
export interface Chapter {
  id: string
  title: string
  body: Markup
}

export interface Topic {
  /** Last part of its address; empty for `/docs` itself. */
  id: string
  title: string
  /** What it is about, in one sentence. */
  words: string
  chapters(deps: AppDeps): Chapter[] | Promise<Chapter[]>
}

/** What a sample is written for; tests run those of the shell. */
type SampleKind = 'shell' | 'assay' | 'json' | 'javascript' | 'text'

/** A sample with its copy button. `id` is unique on its page. It runs as it stands: whoever writes one makes it from the registry. */
export function sample(id: string, kind: SampleKind, caption: string, text: string): Markup {
  return html`<figure class="sample">
    <figcaption>
      ${caption}<button type="button" class="copy" data-copies="sample-${id}" aria-label="Copy: ${caption}">Copy</button>
    </figcaption>
    <pre id="sample-${id}" class="${kind === 'text' ? 'wrapped' : 'plain'}" data-sample="${kind}" tabindex="0">${text}</pre>
  </figure>`
}

export function json(id: string, caption: string, value: unknown): Markup {
  return sample(id, 'json', caption, JSON.stringify(value, null, 2))
}

/** A request by curl; with a body it is sent by POST. */
export function curl(url: string, options: { body?: unknown; headers?: readonly string[] } = {}): string {
  const { body, headers = [] } = options
  return [
    `curl -s ${shellWord(url)}`,
    ...headers.map((header) => `-H ${shellWord(header)}`),
    ...(body === undefined ? [] : [`-d ${shellWord(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}

/** The call of a tool with its example. */
export function callSample(deps: AppDeps, tool: Tool, headers: readonly string[] = []): string {
  return curl(callUrl(deps, tool), { body: { input: tool.example }, headers })
}

/** The tool that the samples call; the first of the catalogue where it is not served. */
export function shownTool({ call }: AppDeps): Tool {
  const tool = call.catalogue.find('iban-check') ?? call.catalogue.tools[0]
  if (tool === undefined) throw new Error('the catalogue is empty')
  return tool
}

/** A table that scrolls inside itself. The first column names the row. */
export function table(caption: string, columns: readonly string[], rows: readonly (readonly (Markup | string)[])[]): Markup {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}">
    <table class="doc">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first = '', ...rest]) =>
            html`<tr>
              <th scope="row">${first}</th>
              ${rest.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

export function code(text: string): Markup {
  return html`<code>${text}</code>`
}

/** Text of a document whose names stand in backticks. */
export function inline(text: string): Markup {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))}`
}

/** Paragraphs; each is text, or markup that was made here. */
export function paragraphs(...texts: (Markup | string)[]): Markup {
  return html`${texts.map((text) => html`<p>${text}</p>`)}`
}

export function items(...texts: (Markup | string)[]): Markup {
  return html`<ul>
    ${texts.map((text) => html`<li>${text}</li>`)}
  </ul>`
}

/** Numbered from `start` on, so that samples may stand between two steps. */
export function steps(start: number, ...texts: (Markup | string)[]): Markup {
  return html`<ol start="${start}">
    ${texts.map((text) => html`<li>${text}</li>`)}
  </ol>`
}
