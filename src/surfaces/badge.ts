import type { Hono } from 'hono'
import type { HeadlineTone } from '../pure/headline.ts'
import { badgesOf, CHECK_HEADLINES } from '../service/catalogue/headlines.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { badgeSvg } from './badge-svg.ts'
import type { Env } from './http/env.ts'

const PATH = /^([a-z0-9-]{1,64})$/
const DIGEST = /^(0x[0-9a-f]{64})\.svg$/

type BadgeWords = ReadonlyMap<string, { word: string; tone: HeadlineTone }>

/** Words that badges of every tool may carry: addresses of release 0.5.0 have no others. */
const COMMON: BadgeWords = new Map([...badgesOf(CHECK_HEADLINES), ['done', { word: 'see receipt', tone: 'neutral' }]])

/**
 * `GET /badge/{tool}/{verdict}/{digest}.svg`: drawn from the address alone, nothing is stored. A verdict is one of the common words or a
 * headline of that tool; any other is not found.
 */
export function badgeRoutes(app: Hono<Env>, { tools }: Pick<Catalogue, 'tools'>): void {
  const own = new Map(tools.map(({ id, headlines }) => [id, badgesOf(headlines)]))
  app.get('/badge/:tool/:verdict/:file', (context) => {
    const tool = PATH.exec(context.req.param('tool'))?.[1]
    const code = context.req.param('verdict')
    const badge = own.get(tool ?? '')?.get(code) ?? COMMON.get(code)
    const digest = DIGEST.exec(context.req.param('file'))?.[1]
    if (tool === undefined || badge === undefined || digest === undefined) return context.notFound()
    return context.body(badgeSvg(tool, badge, digest), 200, {
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    })
  })
}
