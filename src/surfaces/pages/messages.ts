import { readdirSync, readFileSync } from 'node:fs'
import type { Messages } from '../../pure/messages.ts'
import { once } from '../../pure/once.ts'

const FOLDER = new URL('../../../data/messages/', import.meta.url)
const FALLBACK = 'en'
/** Languages of an Accept-Language header that are read. */
const ACCEPTED_MAX = 20

/** Catalogues by language tag, read once from `data/messages/`: a new file there is a new language. */
const catalogues = once((): ReadonlyMap<string, Messages> => {
  const tags = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
  return new Map(tags.toSorted().map((tag) => [tag, JSON.parse(readFileSync(new URL(`${tag}.json`, FOLDER), 'utf8')) as Messages]))
})

export interface Localized {
  /** Language tag (BCP 47), for `lang` and Content-Language. */
  language: string
  messages: Messages
  /** All languages, each with its name in itself. */
  languages: readonly { tag: string; name: string }[]
}

/**
 * Chooses the language: the requested one, else the best of an Accept-Language header (RFC 9110, section 12.5.4; RFC 4647, section 3.4,
 * lookup), else English.
 */
export function localized(requested: string | undefined, accepted: string | undefined): Localized {
  const wanted = [requested ?? '', ...acceptedTags(accepted ?? '')].flatMap((tag) => [
    tag.toLowerCase(),
    tag.toLowerCase().split('-')[0] ?? '',
  ])
  const languages = [...catalogues()].map(([tag, { language: name }]) => ({ tag, name }))
  for (const language of [...wanted, FALLBACK]) {
    const messages = catalogues().get(language)
    if (messages !== undefined) return { language, messages, languages }
  }
  throw new Error(`data/messages/${FALLBACK}.json is missing`)
}

function acceptedTags(header: string): string[] {
  const ranges = header.split(',', ACCEPTED_MAX).map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const quality = parameters.find((part) => /^q=/i.test(part))?.slice(2)
    return { tag, quality: quality === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 }
  })
  return ranges
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag)
}
