import type { Hono } from 'hono'
import { badgeSvg } from './badge-svg.ts'
import type { Env } from './http/env.ts'
import { BADGE_VERDICTS } from '../service/calls/proof.ts'

const PATH = /^([a-z0-9-]{1,64})$/
const DIGEST = /^(0x[0-9a-f]{64})\.svg$/

/** `GET /badge/{tool}/{verdict}/{digest}.svg`: drawn from the address alone, nothing is looked up or stored. */
export function badgeRoutes(app: Hono<Env>): void {
  app.get('/badge/:tool/:verdict/:file', (context) => {
    const tool = PATH.exec(context.req.param('tool'))?.[1]
    const verdict = BADGE_VERDICTS.find((word) => word === context.req.param('verdict'))
    const digest = DIGEST.exec(context.req.param('file'))?.[1]
    if (tool === undefined || verdict === undefined || digest === undefined) return context.notFound()
    return context.body(badgeSvg(tool, verdict, digest), 200, {
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    })
  })
}
