import { html } from '../html.ts'
import { TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { limits } from '../../../service/limits.ts'
import { callSample, code, curl, items, json, paragraphs, sample, shownTool, table, type Topic, inline, type Chapter } from './parts.ts'
import { allowanceWords, HONEST_LIMITS, paymentWords, callUrl } from '../../../service/catalogue/text.ts'
import { assayCall } from './command-line.ts'
import { PROBLEMS, type ProblemCode } from '../../../service/problems.ts'
import type { ProblemKind } from '../../../service/payment-problems.ts'
import type { Tool } from '../../../service/catalogue/define.ts'
import type { AppDeps } from '../../deps.ts'
import { sampleText } from '../components/sample-text.ts'
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
      languagesChapter(deps, tool),
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

/** The same call in languages, without a library. Each prints the result and the receipt, or the problem. */
function languagesChapter(deps: AppDeps, tool: Tool): Chapter {
  const { api_url, mcp_url } = deps.origins
  const text = (kind: 'typescript' | 'python' | 'go') => sampleText(kind, { tool: tool.id, api_url, mcp_url }, JSON.stringify(tool.example))
  return {
    id: 'languages',
    title: 'In other languages',
    body: html`${paragraphs(
      html`These need nothing but the language. The libraries for <a href="/docs/client">TypeScript</a> and Python also pay and verify. The page of
        each tool has these samples for its own input.`,
    )}
    ${sample('typescript', 'typescript', 'TypeScript: Node 20 or later, Bun, Deno, browsers', text('typescript'))}
    ${sample('python', 'python', 'Python 3', text('python'))}
    ${sample('go', 'go', 'Go, with net/http', text('go'))}`,
  }
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
          allowanceWords(deps.free, tools),
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

const MCP_HEADERS = ['content-type: application/json', 'accept: application/json, text/event-stream']

export const MCP: Topic = {
  id: 'mcp',
  title: 'MCP',
  words: 'For models: Streamable HTTP without a session, or standard input and output.',
  chapters(deps) {
    const tool = shownTool(deps)
    const url = `${deps.origins.mcp_url}/mcp`
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool.id, arguments: tool.example } }
    return [
      {
        id: 'http',
        title: 'Over HTTP',
        body: html`${paragraphs(
          html`No key, no session and no login. These use the small list of ${code('/mcp/small')}: two tools that find and call all others, and the ten
          most used; without ${code('/small')} the list has every tool. Hosts that keep another form of configuration need the address alone.`,
        )}
        ${paragraphs(html`Claude Code: ${code(`claude mcp add --transport http assay ${url}/small`)}`)}
        ${json('config', 'Claude Desktop and other hosts with a list of servers', { mcpServers: { assay: { type: 'http', url: `${url}/small` } } })}
        ${json('cursor', 'Cursor: .cursor/mcp.json', { mcpServers: { assay: { url: `${url}/small` } } })}
        ${json('vs-code', 'VS Code: .vscode/mcp.json', { servers: { assay: { type: 'http', url: `${url}/small` } } })}
        ${sample('call', 'shell', 'A call by hand', curl(url, { headers: MCP_HEADERS, body: call }))}
        ${paragraphs(
          html`The tools and their names are those of REST. The answer is in ${code('structuredContent')}; the text is its brief form, or
          all of it as JSON with ${code('_meta["assay/detail"]: "full"')}, the header ${code('X-Detail: full')} or ${code('?detail=full')}. A problem is a result with ${code('isError')} whose text is the RFC 9457 problem.`,
        )}`,
      },
      {
        id: 'small',
        title: 'Small lists',
        body: html`${paragraphs(html`The whole list of tools is long for a model. Ask for less of it by the address:`)}
        ${items(
          html`${code(`${url}/small`)} lists ${code('find_tool')}, which finds tools for a task in words, ${code('call_tool')}, which calls what
          was found, and the ten most used tools, in about 1,100 tokens. Price, receipt and errors are those of the tool itself.`,
          html`${code(`${url}?family=bank,tax`)} lists the tools of these families.`,
          html`${code(`${url}?tools=search`)} lists the two alone (the search is named ${code('find_tools')} there).`,
          html`${code(`${url}?page=20`)} divides the list: ${code('nextCursor')} of a page brings the next one.`,
        )}
        ${sample('search', 'shell', 'The small list', curl(`${url}/small`, { headers: MCP_HEADERS, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }))}`,
      },
      {
        id: 'stdio',
        title: 'Over standard input and output',
        body: html`${json('stdio', 'The service inside a process of your machine, offline', { mcpServers: { assay: { command: 'npx', args: ['-y', 'assay', 'mcp', '--small'] } } })}
        ${paragraphs(
          html`${code('npx')} brings the npm package (Node.js 22.15 or later); ${code('npm run pack:mcpb')} builds it as an extension that Claude Desktop
          installs from one file. With ${code('--url')} it reaches a running service instead, and with a payer key it pays there within a cap;
          ${code('assay help mcp')} has the options.`,
        )}`,
      },
      {
        id: 'meta',
        title: 'In addition to the arguments',
        body: items(
          html`${code('_meta["assay/prev-receipt-hash"]')}: the digest of an earlier receipt, to link to.`,
          html`${code('_meta["x402/payment"]')}: a payment (<a href="/docs/payment#mcp">payment over MCP</a>).`,
          html`The method ${code('assay/preflight')} takes the body of ${code('POST /v1/protocols/check')} as its params.`,
        ),
      },
    ]
  },
}

export const A2A: Topic = {
  id: 'a2a',
  title: 'A2A',
  words: 'For agents: a card, one endpoint, a task a call.',
  chapters(deps) {
    const tool = shownTool(deps)
    const { api_url } = deps.origins
    const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ data: { tool: tool.id, input: tool.example } }] }
    const send = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    return [
      {
        id: 'card',
        title: 'The card',
        body: html`${sample('card', 'shell', 'One skill a tool', curl(`${api_url}/.well-known/agent-card.json`))}
        ${paragraphs('The card names the endpoint, the versions of the protocol that it speaks (1.0 and 0.3 over JSON-RPC), and the extension for payments.')}`,
      },
      {
        id: 'ask',
        title: 'Ask',
        body: html`${paragraphs(html`A message carries one data part with exactly ${code('tool')} and ${code('input')}.`)}
        ${sample('send', 'shell', 'A message of version 1.0', curl(`${api_url}/a2a`, { headers: ['content-type: application/json', 'A2A-Version: 1.0'], body: send }))}
        ${items(
          html`The artifact of the task holds the whole answer: ${code('result')}, ${code('receipt')} and what else REST answers with.`,
          'A message that names no tool is asked back in words, with skills that may be meant. Nothing is guessed.',
          'Tasks are kept for a day and can be read by their id; there are no push notifications.',
          html`${code('ListTasks')} lists the tasks of one ${code('contextId')}, those changed last first. Callers are not authenticated:
          any client that knows a context id can list its tasks, so context ids must be UUIDs. Keep them as secret as task ids.`,
          html`${code('assay/prev-receipt-hash')} in the metadata of the message links to an earlier receipt.`,
          html`${code('assay/detail')} there, as ${code('"brief"')}, makes the artifact the <a href="/docs/rest#detail">brief answer</a>.`,
        )}`,
      },
      {
        id: 'payment',
        title: 'Payment',
        body: paragraphs(
          html`Without free calls the task waits in the state input-required, with the terms under ${code('x402.payment.required')}. Answer
            it with ${code('x402.payment.payload')} under the same task. The official packages do both.
            <a href="/docs/payment">Payment</a> says the rest.`,
        ),
      },
    ]
  },
}
