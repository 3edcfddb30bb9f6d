import type { TargetedSubmitEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { isObject, jsonValue } from '../../../pure/is-object.ts'
import { usdcText } from '../../../pure/payments/usdc.ts'
import { html } from '../html.ts'

/** Part of the address, or header, that the form asks for. */
interface RequestParameter {
  name: string
  where: 'path' | 'query' | 'header'
  required: boolean
  /** Example; empty for none. */
  value: string
}

interface TryRequestProps {
  method: string
  /** Path with its parameters in braces. */
  path: string
  parameters: readonly RequestParameter[]
  /** Null for a request without a body. The example is empty where there is none. */
  body: { media_type: string; example: string } | null
  /** Tool that the operation calls; null for other operations. */
  tool: { id: string; paid: boolean } | null
}

/** Price of a 402 as it is shown, and the code of the refusal. */
interface Response402 {
  price: string
  code: string
}

interface ShownResponse {
  /** Null where no response arrived. */
  status: number | null
  /** Status, or why no response arrived. */
  summary: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string
  payment: Response402 | null
}

const BODY_CHARS = 50_000
/** A header that holds no payment: the service answers with the terms, counts no free call and charges nothing. */
const NO_PAYMENT = { 'x-payment': 'e30=' }

/** Form that sends one operation to this service and shows the response: status, headers and body. */
export function TryRequest(props: TryRequestProps) {
  const { method, path, parameters, body, tool } = props
  const form = useRef<HTMLFormElement>(null)
  const [response, setResponse] = useState<ShownResponse | null>(null)
  const [busy, setBusy] = useState(false)
  const latest = useRef(0)
  const send = async (more: Record<string, string>) => {
    if (form.current === null || !form.current.reportValidity()) return
    const turn = ++latest.current
    setBusy(true)
    const shown = await exchange(props, new FormData(form.current), more)
    if (turn !== latest.current) return
    setBusy(false)
    setResponse(shown)
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void send({})
  }
  const restore = () => {
    form.current?.reset()
    setResponse(null)
  }
  const rows = parameters.map((parameter, index) => ({ parameter, index }))
  const headers = rows.filter(({ parameter }) => parameter.where === 'header')
  return html`<form class="request" ref=${form} onSubmit=${submit}>
      <p><code>${`${method} ${path}`}</code></p>
      ${rows.filter(({ parameter }) => parameter.where !== 'header').map((row) => html`<${ParameterRow} ...${row} />`)}
      ${
        body !== null &&
        html`<div class="field">
          <label for="request-body">Body <span class="kind">${body.media_type}</span></label>
          <textarea id="request-body" name="body" rows=${Math.min(20, body.example.split('\n').length + 1)} spellcheck=${false} defaultValue=${body.example} />
        </div>`
      }
      ${
        headers.length > 0 &&
        html`<details>
          <summary>Headers</summary>
          ${headers.map((row) => html`<${ParameterRow} ...${row} />`)}
        </details>`
      }
      <p class="send">
        <button type="submit">Send request</button>
        <button type="button" class="plain" onClick=${restore}>Restore the example</button>
        ${tool?.paid === true && html`<button type="button" class="plain" id="show-402" onClick=${() => void send(NO_PAYMENT)}>Show me the 402</button>`}
        <span class=${`hint${busy ? '' : ' heard'}`} role="status">${busy ? 'Sending …' : (response?.summary ?? '')}</span>
      </p>
      <noscript><p class="hint">Sending needs JavaScript. The sample above is the same request for a shell.</p></noscript>
    </form>
    ${response !== null && html`<${ResponseView} response=${response} tool=${tool} />`}`
}

function ParameterRow({ parameter: { name, where, required, value }, index }: { parameter: RequestParameter; index: number }) {
  const id = `request-${index}`
  return html`<div class="field">
    <label for=${id}><code>${name}</code> <span class="kind">${required ? where : `${where}, optional`}</span></label>
    <input id=${id} name=${id} defaultValue=${value} required=${required} autocomplete="off" autocapitalize="off" spellcheck=${false} />
  </div>`
}

function ResponseView({ response, tool }: { response: ShownResponse; tool: TryRequestProps['tool'] }) {
  const { status, summary, headers, body, payment } = response
  return html`<section class="response" id="response" aria-labelledby="response-title">
    <h3 id="response-title" class=${status !== null && status < 400 ? 'valid' : 'unverifiable'}>${summary}</h3>
    ${payment !== null && html`<${PaymentSteps} payment=${payment} tool=${tool} />`}
    ${
      headers.length > 0 &&
      html`<details>
        <summary>${headers.length} headers</summary>
        <pre class="wrapped" tabindex="0" id="response-headers">${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      </details>`
    }
    ${body !== '' && html`<pre class="plain" tabindex="0" id="response-body">${body}</pre>`}
  </section>`
}

/** Explains a 402: an offer, with what it asks for and how it is accepted. */
function PaymentSteps({ payment: { price, code }, tool }: { payment: Response402; tool: TryRequestProps['tool'] }) {
  return html`<div class="steps">
    <p>
      402 Payment Required is an offer: ${price === '' ? 'the call has a price' : `this request costs ${price}`}, and nothing was charged.${' '}
      ${
        code === 'PAYMENT_REQUIRED'
          ? 'Its free calls are used up, or it has none.'
          : html`The payment that was sent is refused: <a href=${`/problems/${encodeURIComponent(code)}`}><code>${code}</code></a>.`
      }
    </p>
    <ol>
      <li>
        The terms are in <code>accepts</code> of the body, and in base64 in the header <code>PAYMENT-REQUIRED</code>: amount in millionths of
        a USDC, token, network and recipient.
      </li>
      <li>
        Sign one transfer with these terms and send the same request again with it in <code>PAYMENT-SIGNATURE</code>:${' '}
        <a href="/docs/payment">how to pay</a>. The <a href="/docs/client">client library</a> does both within your cap.
      </li>
      ${tool !== null && html`<li>Or pay for this call in the browser, on <a href=${`/tools/${tool.id}`}>the page of the tool</a>.</li>`}
    </ol>
  </div>`
}

/** Sends the request. Never throws. */
async function exchange(props: TryRequestProps, form: FormData, more: Record<string, string>): Promise<ShownResponse> {
  const { method, parameters, body } = props
  const values = parameters.map(({ name, where }, index) => ({ name, where, value: textIn(form, `request-${index}`).trim() }))
  const given = (place: RequestParameter['where']) => values.filter(({ where, value }) => where === place && value !== '')
  // A part of an address may contain slashes: the path of a tile.
  const escaped = (value: string) => value.split('/').map(encodeURIComponent).join('/')
  const path = props.path.replace(/\{(\w+)\}/g, (_, name: string) => escaped(given('path').find((one) => one.name === name)?.value ?? ''))
  const query = new URLSearchParams(given('query').map(({ name, value }) => [name, value])).toString()
  const url = query === '' ? path : `${path}?${query}`
  try {
    const headers = new Headers(given('header').map(({ name, value }): [string, string] => [name, value]))
    if (body !== null) headers.set('content-type', body.media_type)
    for (const [name, value] of Object.entries(more)) headers.set(name, value)
    const response = await fetch(url, { method, headers, ...(body === null ? {} : { body: textIn(form, 'body') }) })
    const { text, payment } = await readBody(response)
    const { status, statusText } = response
    return { status, summary: `${status} ${statusText}`.trim(), headers: [...response.headers], body: text, payment }
  } catch (error) {
    const reason = error instanceof TypeError ? error.message : 'no response arrived'
    return { status: null, summary: `The request failed: ${reason}.`, headers: [], body: '', payment: null }
  }
}

/** Body as it is shown: JSON indented (amounts are texts, so no number is changed), other texts as they are, cut; of other types the size. */
async function readBody(response: Response): Promise<{ text: string; payment: Response402 | null }> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { text: 'A stream of events, which does not end. Follow it in a shell with curl -N.', payment: null }
  }
  if (!/^(?:text\/|application\/(?:[\w.-]+\+)?json|image\/svg)/.test(type)) {
    const { size } = await response.blob()
    return { text: size === 0 ? '' : `${size} bytes of ${type}.`, payment: null }
  }
  const text = await response.text()
  const value = jsonValue(text)
  const indented = value === undefined ? text : JSON.stringify(value, null, 2)
  const shown =
    indented.length > BODY_CHARS ? `${indented.slice(0, BODY_CHARS)}\n… ${indented.length - BODY_CHARS} more characters` : indented
  return { text: shown, payment: response.status === 402 && isObject(value) ? offerIn(value) : null }
}

function offerIn({ accepts, code }: Readonly<Record<string, unknown>>): Response402 {
  const terms: unknown = Array.isArray(accepts) ? accepts[0] : null
  const amount = isObject(terms) ? (terms['amount'] ?? terms['maxAmountRequired']) : null
  const price = typeof amount === 'string' && /^\d{1,20}$/.test(amount) ? `${usdcText(BigInt(amount))} USDC` : ''
  return { price, code: typeof code === 'string' ? code : '' }
}

function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
