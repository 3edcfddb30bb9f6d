import { SEAL_UNITS, sealPaths } from '../pure/receipts/seal.ts'
import type { BadgeVerdict, HeadlineTone } from '../pure/headline.ts'
import { badgesOf, CHECK_HEADLINES, markOf } from '../service/catalogue/headlines.ts'
import type { Hono } from 'hono'
import type { Catalogue } from '../service/catalogue/load.ts'
import type { Env } from './http/env.ts'

const HEIGHT = 28
const CHARACTER = 7

/** The mark of each verdict: a word, a shape and a colour, so that no one of them is needed alone. */
const MARKS: Record<BadgeVerdict, { colour: string; shape: string }> = {
  valid: {
    colour: '#17693E',
    shape: '<circle r="6" fill="currentColor"/><path d="M-3 0l2 2.5 4-5" fill="none" stroke="#fff" stroke-width="1.5"/>',
  },
  unverifiable: {
    colour: '#7A5A00',
    shape: '<circle r="5.2" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M0-6a6 6 0 0 1 0 12z" fill="currentColor"/>',
  },
  invalid: {
    colour: '#A3261B',
    shape:
      '<circle r="5.2" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M-4 4L4-4" stroke="currentColor" stroke-width="1.6"/>',
  },
  done: { colour: '#5A5F66', shape: '<circle r="5.2" fill="none" stroke="currentColor" stroke-width="1.6"/>' },
}

/** The badge of a verdict, with the seal of its receipt. The words come from fixed lists and a checked id, so nothing needs escaping. */
export function badgeSvg(tool: string, { word: words, tone }: { word: string; tone: HeadlineTone }, digest: string): string {
  const { colour, shape } = MARKS[markOf(tone)]
  const left = 34 + (tool.length + 6) * CHARACTER
  const width = left + 30 + words.length * CHARACTER
  const seal = sealPaths(digest).map(({ d, stroke_width }) => `<path stroke-width="${stroke_width * 3}" d="${d}"/>`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="assay ${tool}: ${words}">`,
    `<title>assay ${tool}: ${words} (a picture proves nothing: open the receipt)</title>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${HEIGHT - 1}" rx="2" fill="#FAF8F3" stroke="#DDD8CC"/>`,
    `<g transform="translate(4 3) scale(${22 / SEAL_UNITS})" fill="none" stroke="#7A5415">${seal.join('')}</g>`,
    `<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="11.5">`,
    `<text x="32" y="18" fill="#1B1D21">assay ${tool}</text>`,
    `<g color="${colour}" transform="translate(${left + 8} 14)">${shape}</g>`,
    `<text x="${left + 20}" y="18" fill="${colour}">${words}</text></g></svg>`,
  ].join('')
}

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
