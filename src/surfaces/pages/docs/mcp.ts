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
