import { html } from '../html.ts'
import { allowanceWords, HONEST_LIMITS, paymentWords } from '../../../service/catalogue/text.ts'
import { assayCall } from './command-line.ts'
import { callSample, code, curl, paragraphs, sample, shownTool, table, type Topic } from './parts.ts'

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
