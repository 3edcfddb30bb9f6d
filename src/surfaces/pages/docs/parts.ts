import { html } from '../html.ts'
import { shellWord } from '../../../service/catalogue/text.ts'
import type { Tool } from '../../../service/catalogue/define.ts'
import type { AppDeps } from '../../deps.ts'
import type { Markup } from '../layout.ts'

/** Components of the documentation pages. */

/** Chapter of a page. Its heading is a link target and appears in the table of contents of the page. */
export interface Chapter {
  id: string
  title: string
  body: Markup
}

/**
 * Code sample with a copy button. `id` is unique on its page. `kind` is the language; tests run samples of shell, TypeScript, Python and Go. Build the text
 * from the registry, so that it runs without changes.
 */
export function sample(id: string, kind: string, caption: string, text: string): Markup {
  return html`<figure class="sample">
    <figcaption>
      ${caption}<button type="button" class="copy" data-copies="sample-${id}" aria-label="Copy: ${caption}">Copy</button>
    </figcaption>
    <pre id="sample-${id}" class="${kind === 'text' ? 'wrapped' : 'plain'}" data-sample="${kind}" tabindex="0">${text}</pre>
  </figure>`
}

export function json(id: string, caption: string, value: unknown): Markup {
  return sample(id, 'json', caption, pretty(value))
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

/** The tool that the samples call; the first of the catalogue where it is not served. */
export function shownTool({ call }: AppDeps): Tool {
  const tool = call.catalogue.find('iban-check') ?? call.catalogue.tools[0]
  if (tool === undefined) throw new Error('the catalogue is empty')
  return tool
}

/** A table that scrolls inside itself. The first column names the row. */
export function table(caption: string, columns: readonly (Markup | string)[], rows: readonly (readonly (Markup | string)[])[]): Markup {
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

/** Renders text with names in backticks as code. */
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

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** Value of a placeholder; markup is the only content of its paragraph. */
export type Values = Readonly<Record<string, (deps: AppDeps) => Markup | string | number>>
