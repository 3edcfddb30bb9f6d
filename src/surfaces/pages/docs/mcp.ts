import { html } from '../html.ts'
import { code, curl, items, json, paragraphs, sample, shownTool, type Topic } from './parts.ts'

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
        body: html`${json('config', 'For a host that takes a list of servers', { mcpServers: { assay: { type: 'http', url: `${url}/small` } } })}
        ${paragraphs('No key, no session and no login. Hosts that keep another form of configuration need the address alone. Without /small the list has every tool.')}
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
        body: html`${json('stdio', 'The service inside a process of your machine, offline', { mcpServers: { assay: { command: 'assay', args: ['mcp'] } } })}
        ${paragraphs(
          html`With ${code('--url')} it reaches a running service instead, and with a payer key it pays there within a cap;
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
