import { html } from '../html.ts'
import { TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import { limits } from '../../../service/limits.ts'
import { callSample, code, curl, items, paragraphs, sample, shownTool, table, type Topic } from './parts.ts'
import { allowanceWords, HONEST_LIMITS, paymentWords } from '../../../service/catalogue/text.ts'
import { assayCall } from './command-line.ts'

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
