import { DOCUMENTS, modeMark, SUMMARY } from '../../service/catalogue/text.ts'
import type { AppDeps } from '../deps.ts'

/** `/` for people is among the pages. */
export { homePage } from '../pages/home.ts'

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
