import { html } from 'hono/html'
import { CHECK_HEADLINES } from '../../service/catalogue/headlines.ts'
import type { Tool } from '../../service/catalogue/define.ts'
import type { AppDeps } from '../deps.ts'
import { SAMPLES, sampleText, type SampleKind } from './client/samples.ts'
import { fieldsOf, type Field } from './fields.ts'
import type { Markup } from './layout.ts'

/** The half of a page that asks: a form filled with the example. */
export function askForm(deps: AppDeps, tool: Tool): Markup {
  const fields = fieldsOf(deps.schemas.get(tool.id)?.input ?? { properties: {} }, tool.example)
  return html`<form class="ask" id="ask" data-tool="${tool.id}" data-api="${deps.origins.api_url}" data-mcp="${deps.origins.mcp_url}">
    ${fields.map(fieldMarkup)}
    ${sendRow(tool.title, html`<button type="reset" class="plain" id="restore" disabled>Restore the example</button>`)}
    <noscript><p class="hint">This form needs a script of this site. The same call runs in a shell.</p></noscript>
  </form>`
}

/** The button of a form, what may stand beside it, and the line that says how things stand: seen while it waits, then only heard. */
export function sendRow(words: string, beside: Markup | null = null): Markup {
  return html`<p class="send">
    <button type="submit">${words}</button> ${beside ?? ''}
    <span class="hint heard" id="asking" role="status"></span>
  </p>`
}

/** The same call for programs, one tab a language. The script keeps all of them in step with the form. */
export function samples(deps: AppDeps, tool: Tool): Markup {
  const { api_url, mcp_url } = deps.origins
  const kinds = Object.entries(SAMPLES) as [SampleKind, string][]
  const first = sampleText('curl', { tool: tool.id, api_url, mcp_url }, JSON.stringify(tool.example))
  return html`<section class="samples" aria-labelledby="samples-title">
    <div class="samples-head">
      <h2 id="samples-title">The same call for programs</h2>
      <button type="button" class="copy" data-copies="sample">Copy</button>
    </div>
    <div role="tablist" aria-labelledby="samples-title" id="sample-kinds">
      ${kinds.map(
        ([kind, name], index) =>
          html`<button
            type="button"
            role="tab"
            id="sample-${kind}"
            data-kind="${kind}"
            aria-controls="sample-panel"
            aria-selected="${index === 0 ? 'true' : 'false'}"
            ${index === 0 ? '' : html`tabindex="-1"`}
          >
            ${name}
          </button> `,
      )}
    </div>
    <div role="tabpanel" id="sample-panel" aria-labelledby="sample-curl">
      <pre id="sample" tabindex="0">${first}</pre>
      <p class="hint" id="sample-words"></p>
    </div>
  </section>`
}

function fieldMarkup(field: Field): Markup {
  const { name, description, optional } = field
  return html`<div class="field">
    <label for="field-${name}">${name}${kindMarkup(field)}${optional ? html` <span class="kind">optional</span>` : ''}</label>
    ${controlMarkup(field)}
    <p class="hint" id="about-${name}">${description}</p>
    <p class="fault" id="fault-${name}" hidden></p>
  </div> `
}

function kindMarkup({ kind }: Field): Markup | string {
  switch (kind) {
    case 'json':
      return html` <span class="kind">JSON</span>`
    case 'number':
      return html` <span class="kind">number</span>`
    case 'line':
    case 'long':
    case 'document':
    case 'choice':
      return ''
  }
}

function controlMarkup(field: Field): Markup {
  switch (field.kind) {
    case 'line':
    case 'number':
      return lineMarkup(field)
    case 'long':
      return areaMarkup(field)
    case 'json':
      return html`${areaMarkup(field)} ${templateMarkup(field)}`
    case 'document':
      return documentMarkup(field)
    case 'choice':
      return choiceMarkup(field)
  }
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
    rows="${rowsOf(value, kind)}"
    aria-describedby="about-${name}"
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
  >
${value}</textarea>`
}

/** A document may be typed, pasted, opened or let fall. It goes to the service only when the form is sent. */
function documentMarkup(field: Field): Markup {
  const { name, most_chars } = field
  const most = most_chars === null ? '' : html` At most ${most_chars.toLocaleString('en-GB')} characters.`
  return html`<div class="drop" data-into="field-${name}" ${most_chars === null ? '' : html`data-most="${most_chars}"`}>
    ${areaMarkup(field)}
    <p class="drop-row">
      <button type="button" class="plain" data-opens="file-${name}">Open a file</button>
      <span class="hint">or drop one here.${most}</span>
      <input type="file" id="file-${name}" class="heard" tabindex="-1" aria-hidden="true" />
    </p>
  </div>`
}

function templateMarkup({ name, template, list }: Field): Markup | string {
  if (template === null) return ''
  return html`<p class="drop-row">
    <button type="button" class="plain" data-template="${template}" ${list ? 'data-list' : ''} data-into="field-${name}">
      ${list ? 'Add an item' : 'Start from a template'}
    </button>
  </p>`
}

function choiceMarkup({ name, value, choices, optional }: Field): Markup {
  return html`<select
    id="field-${name}"
    name="${name}"
    data-kind="json"
    ${optional ? 'data-optional' : ''}
    aria-describedby="about-${name}"
  >
    ${choices.map(([literal, words]) => html`<option value="${literal}" ${literal === value ? 'selected' : ''}>${words}</option> `)}
  </select>`
}

function rowsOf(value: string, kind: Field['kind']): number {
  return Math.min(16, Math.max(kind === 'document' && value !== '' ? 8 : 4, value.split('\n').length))
}

/**
 * The half that answers, filled by the script. Until a call is made it shows what the tool answers to the example, marked as such. A short
 * one folds the facts and shows no tabs.
 */
export function answerPane(deps: AppDeps, tool: Tool, example: Record<string, unknown> | null, length: 'short' | 'whole'): Markup {
  return html`<section
      class="answer ${length}"
      id="answer"
      aria-label="Answer"
      data-headlines="${headlineTables([tool])}"
      ${example === null ? '' : html` data-example="${JSON.stringify(example)}"`}
    >
      <p class="empty">The answer will stand here: the verdict, the reason, and the receipt that proves it was given.</p>
    </section>
    <div id="payment-words" hidden>${waysToPay(deps)}</div>`
}

/** Headline tables for the script of a page, as JSON; tools without a table of their own are left out. */
export function headlineTables(tools: readonly Tool[]): string {
  const own = tools.filter(({ headlines }) => headlines !== CHECK_HEADLINES)
  return JSON.stringify(Object.fromEntries(own.map(({ id, headlines }) => [id, headlines])))
}

/** What to do once the free calls are used up. */
function waysToPay(deps: AppDeps): Markup {
  const local = html`<li>On your own machine <code>assay call</code> makes the same check without limit, signed with your own key.</li>`
  const program = html`<li>
    A program pays by itself: the client library signs within the cap that you set. <a href="/docs">How payment works</a>.
  </li>`
  const demo = html`<li>
    To watch a payment in this sandbox, run <code>npm run demo</code> in the folder of the service. Nothing real moves.
  </li>`
  const how = deps.takes_payments
    ? 'A program pays for it with a signature: a USDC transfer (EIP-3009) for exactly that amount, sent with the same request again. The money ' +
      'goes straight from payer to recipient, and a call that fails is not charged.'
    : 'This deployment takes no payments: it answers again when the next day starts.'
  return html`<p>${how}</p>
    <ul>
      ${deps.takes_payments ? program : ''} ${deps.mode === 'sandbox' ? demo : ''} ${local}
    </ul>`
}
