import { html } from '../html.ts'
import { TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { limits } from '../../../service/limits.ts'
import { callSample, code, curl, items, paragraphs, sample, shownTool, table, type Topic, inline, type Chapter } from './parts.ts'
import { allowanceWords, HONEST_LIMITS, paymentWords, callUrl } from '../../../service/catalogue/text.ts'
import { assayCall } from './command-line.ts'
import { PROBLEMS, type ProblemCode } from '../../../service/problems.ts'
import type { ProblemKind } from '../../../service/payment-problems.ts'
import type { Markup } from '../layout.ts'

export const REST: Topic = {
  id: 'rest',
  title: 'REST',
  words: 'One address a tool; JSON in, JSON out.',
  chapters(deps) {
    const tool = shownTool(deps)
    const { api_url } = deps.origins
    return [
      {
        id: 'call',
        title: 'Call a tool',
        body: html`${sample('call', 'shell', 'POST, with the fields of the tool under input', callSample(deps, tool))}
        ${table(
          'Members of an answer',
          ['member', 'what it is'],
          [
            [code('result'), 'what the tool says; its verdict is here and not in the status'],
            [code('receipt'), html`signed proof of this call (<a href="/docs/receipts">receipts</a>)`],
            [code('chain'), html`the signed link to an earlier receipt, where ${code('X-PREV-RECEIPT-HASH')} named one`],
            [code('tier'), 'free or paid'],
            [code('settlement'), 'the payment; null on free calls'],
            [code('allowance'), 'free calls of the day: limit, remaining, resets_at; null for tools that are free without limit'],
            [code('embeddable_badge'), 'a Markdown image with the decision, which links to the receipt'],
            [code('proof_summary_markdown'), 'the decision first, then tool, receipt and signer in a few lines of Markdown'],
          ],
        )}`,
      },
      detailChapter(callSample(deps, tool, ['X-Detail: brief'])),
      {
        id: 'find',
        title: 'Find a tool',
        body: html`${sample('list', 'shell', 'The catalogue', curl(`${api_url}/v1/tools`))}
        ${sample('describe', 'shell', 'One tool: schemas, price now, an example', curl(`${api_url}/v1/tools/${tool.id}`))}
        ${paragraphs(
          html`<a href="/openapi.json">OpenAPI 3.1</a> has every address of this interface, rendered under
            <a href="/docs/reference">API reference</a>. <a href="/llms.txt">llms.txt</a> is the service in plain words for models.`,
        )}`,
      },
      {
        id: 'chain',
        title: 'Link answers',
        body: html`${paragraphs('Send the digest of an earlier receipt, and the answer carries a link to it, signed by the same key.')}
        ${sample('linked', 'shell', 'A call that follows an earlier one', callSample(deps, tool, [`X-PREV-RECEIPT-HASH: ${TEST_VECTOR.digest}`]))}`,
      },
      {
        id: 'rules',
        title: 'What is read',
        body: items(
          `Bodies are JSON in UTF-8, at most ${limits.body_bytes} bytes; tools that read documents take ${limits.document_body_bytes}. Beyond ${limits.unpaid_body_bytes} bytes a body is read only for a caller with free calls left or a payment.`,
          'They are read strictly: a key twice, half a surrogate pair or a number beyond 2^53 - 1 is refused, so that every reader reads the same.',
          'Send exact amounts as text.',
          html`Every answer has ${code('X-Request-Id')}; send one of your own (letters, digits, - and _) and it comes back.`,
          html`${code('RateLimit')} and ${code('RateLimit-Policy')} say how many free calls are left.`,
          'Any origin may call from a browser (CORS); no cookies are set or read.',
        ),
      },
      {
        id: 'verify',
        title: 'Verify over REST',
        body: html`${sample('verify', 'shell', 'A receipt of any issuer; free, without limit', curl(`${api_url}/v1/receipt/verify`, { body: { receipt: TEST_VECTOR.receipt } }))}
        ${paragraphs(html`The receipt of this sample is the published test vector, signed with a test key that belongs to no issuer; ${code('signer_published')} is therefore false.`)}`,
      },
      {
        id: 'preflight',
        title: 'Preflight of other protocols',
        body: html`${paragraphs('Holds a document of UCP, ACP, MCP, AP2, x402, Micro-AST or A2A against selected structural rules: free, without receipt, and not a conformance result.')}
        ${sample('preflight', 'shell', 'Terms of x402', curl(`${api_url}/v1/protocols/check`, { body: { protocol: 'x402', document: { x402Version: 2, accepts: [] } } }))}`,
      },
    ]
  },
}

function detailChapter(call: string) {
  return {
    id: 'detail',
    title: 'Short answers',
    body: html`${sample('brief', 'shell', 'The brief form: decision, value, key facts, limits, price and hashes', call)}
        ${paragraphs(
          html`${code('?detail=brief')} is the same; ${code('standard')} (usual) and ${code('full')} are the whole answer. The receipt covers the whole
          result, which the brief form names by ${code('output_hash')}; ${code('answer_url')} brings the whole answer, where it is stored.`,
        )}`,
  }
}

export const START: Topic = {
  id: '',
  title: 'Quickstart',
  words: 'One call by each way in, and where to read on.',
  chapters(deps) {
    const { tools } = deps.call.catalogue
    const tool = shownTool(deps)
    const { api_url } = deps.origins
    return [
      {
        id: 'first-call',
        title: 'The first call',
        body: html`${paragraphs(
          `No account and no key are needed. ${allowanceWords(deps.free, tools)}`,
          html`Send the fields of a tool under ${code('input')}. The answer has the verdict under ${code('result')} and a signed
          ${code('receipt')}.`,
        )}
        ${sample('first', 'shell', 'A call in a shell', callSample(deps, tool))}
        ${paragraphs(
          html`A wrong value is a good answer, not an error: ${code('valid')} is false, and ${code('findings')} say where the fault is.
          ${code('scope')} lists what the call checked and what it did not.`,
        )}`,
      },
      {
        id: 'ways',
        title: 'Ways in',
        body: html`${table(
          'The same tools, names and prices by each of them',
          ['way', 'where', 'for'],
          [
            [html`<a href="/docs/rest">REST</a>`, code(`POST ${api_url}/v1/tools/{tool}/call`), 'programs, scripts and shells'],
            [html`<a href="/docs/mcp">MCP</a>`, code(`${deps.origins.mcp_url}/mcp`), 'models and their hosts'],
            [html`<a href="/docs/a2a">A2A</a>`, code(`${api_url}/a2a`), 'agents that talk to agents'],
            [html`<a href="/docs/cli">Command line</a>`, code('assay'), 'files and streams, without a server'],
            [html`<a href="/docs/client">Library</a>`, code('assay/client'), 'JavaScript that pays within a cap'],
          ],
        )}
        ${sample('cli', 'assay', 'The same call from the command line, offline', assayCall(tool))}`,
      },
      {
        id: 'paying',
        title: 'When the free calls are used up',
        body: html`${paragraphs(paymentWords(deps), html`<a href="/docs/prices">Prices</a> say what a call costs, <a href="/docs/payment">payment</a> how it is made.`)}
        ${sample('left', 'shell', 'Free calls that are left today', curl(`${api_url}/v1/allowance`))}`,
      },
      {
        id: 'limits',
        title: 'What an answer does not say',
        body: html`<ul>
          ${HONEST_LIMITS.map((words) => html`<li>${words.replaceAll('`', '')}</li>`)}
        </ul>`,
      },
    ]
  },
}

export const ERRORS: Topic = {
  id: 'errors',
  title: 'Errors',
  words: 'Every problem has one code, one status, and says whether trying again can help.',
  chapters(deps) {
    const body = sample(
      'refused',
      'shell',
      'An input that is refused, and not counted',
      curl(callUrl(deps, shownTool(deps)), { body: { input: {} } }),
    )
    return [
      {
        id: 'form',
        title: 'What an error looks like',
        body: html`${paragraphs(
          html`Errors are RFC 9457 problems (${code('application/problem+json')}). Distinguish them by ${code('code')}, which does not
          change; words may. A wrong identifier is not an error: the answer is 200 and says ${code('valid: false')}. An unknown address
          returns 404: an HTML page if ${code('Accept')} prefers HTML, else the problem ${code('NOT_FOUND')}.`,
        )}
        ${body}
        ${table(
          'Members of a problem',
          ['member', 'what it is'],
          [
            [code('code'), 'the stable name'],
            [code('detail'), 'what happened here'],
            [code('errors'), 'faults inside the request, each with a JSON pointer, and line and column where text is at fault'],
            [code('retryable'), 'the same request may succeed later'],
            [code('charged'), html`${code('false')}, ${code('true')}, or ${code('"unknown"')} while a payment is on its way`],
            [code('phase'), 'challenge, signature, settlement, tool or network: how far it came'],
            [code('request_id'), 'names the request in the log of this service'],
          ],
        )}`,
      },
      { id: 'again', title: 'Trying again', body: retryRules() },
      ...STATUS_GROUPS.map(groupChapter),
    ]
  },
}

function retryRules(): Markup {
  return items(
    html`Where ${code('retryable')} is false the same request fails again: mend it first.`,
    html`Where ${code('Retry-After')} is sent, wait so many seconds. Without it, wait a second and double the wait each time, with some
    chance in it.`,
    html`After a lost connection, a 5xx or a 202 to a paid request, send the <b>same payment</b> again with the same request. It brings the
      same answer and never pays twice. Never sign a second payment for a call whose end is not known.`,
    html`Free calls are not counted when input is refused or when this service fails. ${code('charged')} says it of payments.`,
  )
}

const STATUS_GROUPS: readonly { id: string; title: string; has(kind: ProblemKind): boolean }[] = [
  {
    id: 'requests',
    title: 'Requests that are refused',
    has: ({ fault, status }) => fault === 'caller' && status !== 402 && status !== 409,
  },
  {
    id: 'payments',
    title: 'Payments that are asked for or refused',
    has: ({ fault, status }) => fault === 'caller' && (status === 402 || status === 409),
  },
  { id: 'service', title: 'Faults of this service and its sources', has: ({ fault }) => fault !== 'caller' },
]

const FAULTS = { caller: 'the request', service: 'this service', source: 'a source' } as const

/** Table of one status group. It has a column for the origin of the fault only if the problems of the group differ in it. */
function groupChapter({ id, title, has }: (typeof STATUS_GROUPS)[number]): Chapter {
  const found = (Object.keys(PROBLEMS) as ProblemCode[]).map((name) => ({ name, kind: PROBLEMS[name] })).filter(({ kind }) => has(kind))
  const mixed = new Set(found.map(({ kind }) => kind.fault)).size > 1
  const rows = found.map(({ name, kind: { status, retryable, description, fault } }) => [
    html`<a href="/problems/${name}"><code>${name}</code></a>`,
    String(status),
    retryable ? 'yes' : 'no',
    ...(mixed ? [FAULTS[fault]] : []),
    inline(description),
  ])
  const columns = ['code', 'status', 'retryable', ...(mixed ? ['fault of'] : []), 'meaning']
  return { id, title, body: table(`${rows.length} codes`, columns, rows) }
}
