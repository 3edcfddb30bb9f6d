import {
  allowanceWords,
  byFamily,
  callUrl,
  DOCUMENTS,
  HONEST_LIMITS,
  markedName,
  modeMark,
  NO_PAYMENTS,
  shellWord,
  SUMMARY,
} from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'
import { escapeHtml, htmlPage, linkList } from './html.ts'

/** `/` for programs: where everything is. */
export function homeIndex(deps: AppDeps) {
  const { api_url, mcp_url } = deps.origins
  const links = [['/llms.txt', 'this service in plain words'] as const, ...DOCUMENTS]
  return {
    name: 'assay',
    version: deps.version,
    mode: deps.mode,
    notice: modeMark(deps),
    description: SUMMARY,
    links: [
      { url: `${mcp_url}/mcp`, description: 'MCP over Streamable HTTP' },
      ...links.map(([path, description]) => ({ url: `${api_url}${path}`, description })),
    ],
  }
}

/** `/` for people. */
export function homePage(deps: AppDeps): string {
  const { tools } = deps.call.catalogue
  const families = byFamily(tools).map((group) => {
    const rows = group.tools.map((tool) => ({ href: `/v1/tools/${tool.id}`, name: tool.id, words: tool.description }))
    return `<h2>${escapeHtml(group.title)}</h2>\n${linkList(rows)}`
  })
  const documents = DOCUMENTS.map(([href, words]) => ({ href, name: href, words }))
  const main = [
    '<h1>assay</h1>',
    `<p>${escapeHtml(SUMMARY)}</p>`,
    `<p>${escapeHtml(allowanceWords(deps.free, tools))} ${escapeHtml(NO_PAYMENTS)}</p>`,
    firstCall(deps),
    `<ul>\n${HONEST_LIMITS.map((words) => `<li>${escapeHtml(words.replaceAll('`', ''))}</li>`).join('\n')}\n</ul>`,
    ...families,
    `<h2>Documents</h2>\n${linkList([{ href: '/llms.txt', name: '/llms.txt', words: 'this service in plain words' }, ...documents])}`,
  ]
  return htmlPage(markedName(deps), modeMark(deps), main.join('\n'))
}

/** A call that runs as it stands. */
function firstCall(deps: AppDeps): string {
  const tool = deps.call.catalogue.tools[0]
  if (tool === undefined) return ''
  return `<pre>${escapeHtml(`curl -s ${callUrl(deps, tool)} \\\n  -d ${shellWord(JSON.stringify({ input: tool.example }))}`)}</pre>`
}
