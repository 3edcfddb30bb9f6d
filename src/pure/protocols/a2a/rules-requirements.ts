import { optional } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { SECRET_WORDS, type Secret } from '../secrets.ts'
import { at, typed } from './names.ts'
import { a2aSpec } from './spec.ts'
import type { A2aView } from './view.ts'

const REQUIREMENT = a2aSpec('4.5. Security Objects')

/** A2A-030…034: which schemes are asked for, and what must not stand in a card. */
export const REQUIREMENT_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-030',
      severity: 'error',
      why: 'A client cannot meet a requirement whose scheme nobody describes.',
      spec: REQUIREMENT,
      hint: 'Name a scheme of securitySchemes, exactly as it stands there.',
      good: { securitySchemes: { key: { mtlsSecurityScheme: {} } }, securityRequirements: [{ schemes: { key: { list: [] } } }] },
      bad: { securitySchemes: {}, securityRequirements: [{ schemes: { key: { list: [] } } }] },
    },
    ({ error }, view) => {
      const map = at(view.card, 'securitySchemes')
      if (map.redacted) return
      for (const { place } of namedIn(view)) if (!map.has(place.key)) error(place, 'is a scheme that securitySchemes does not have')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-031',
      severity: 'error',
      why: 'Cards of 1.0 wrap names and scopes, older ones do not; readers of one find nothing in the other.',
      spec: REQUIREMENT,
      hint: 'Send [{"schemes": {"name": {"list": ["scope"]}}}] in 1.0, [{"name": ["scope"]}] before.',
      good: { securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }] },
      bad: { securityRequirements: [{ oauth: ['read'] }] },
    },
    ({ error }, { requirements, is_new }) => {
      for (const list of requirements) {
        if (!typed(error, list, 'array', { is_new })) continue
        for (const item of list.items()) {
          if (!optional(error, item, 'object') || item.redacted) continue
          if (is_new) newRequirement(error, item)
          else for (const member of item.members()) texts(error, member, { is_new })
        }
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-032',
      severity: 'warning',
      why: 'A server that grants tokens refuses a scope that it does not know.',
      spec: REQUIREMENT,
      hint: 'List the scope in the flow, or ask for one that is listed.',
      good: { scopes: { read: 'Read' }, list: ['read'] },
      bad: { scopes: { read: 'Read' }, list: ['write'] },
    },
    ({ warning }, view) => {
      const known = new Map(view.schemes.map(({ name, scopes }) => [name, scopes]))
      for (const { place, scopes } of namedIn(view)) {
        const listed = known.get(place.key) ?? null
        if (listed === null) continue
        for (const scope of scopes) {
          const text = scope.text()
          if (text !== null && !listed.has(text)) warning(scope, 'is a scope that no flow of the scheme lists')
        }
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-033',
      severity: 'warning',
      why: 'A scheme that nothing requires protects nothing, and an extended card is for callers who are known.',
      spec: a2aSpec('7.3. Client Authentication Process'),
      hint: 'Require a scheme of securitySchemes, or leave them out.',
      good: { securitySchemes: { key: { mtlsSecurityScheme: {} } }, securityRequirements: [{ schemes: { key: { list: [] } } }] },
      bad: { securitySchemes: { key: { mtlsSecurityScheme: {} } } },
    },
    ({ warning }, { card, requirements }) => {
      const map = at(card, 'securitySchemes')
      const isRequired = requirements.some(
        (list) => list.redacted || (list.kind !== 'null' && (list.kind !== 'array' || list.items().length > 0)),
      )
      const old = at(card, 'security')
      if (map.members().length > 0 && !isRequired && !old.present) warning(map, 'has schemes that nothing requires')
      const offers = [at(card.get('capabilities'), 'extendedAgentCard'), at(card, 'supportsAuthenticatedExtendedCard')]
      const offer = offers.find((place) => place.boolean() === true)
      if (offer !== undefined && map.members().length === 0 && !map.redacted) warning(offer, 'offers an extended card without any scheme')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-034',
      severity: 'both',
      why: 'Cards are public: whoever finds a credential in one can use it.',
      spec: a2aSpec('14.3. Well-Known URI Registration'),
      hint: 'Describe how credentials are got, publish none, and change whatever was shown.',
      good: { securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } },
      bad: { authentication: { schemes: ['Bearer'], credentials: '…' } },
    },
    ({ error, warning }, { context, card }) => {
      const told = new Set<string>()
      for (const secret of context.secrets) {
        told.add(secret.place.path())
        const say = isUnmistakable(secret) ? error : warning
        say(secret.place, `looks like ${SECRET_WORDS[secret.kind]}`)
      }
      const credentials = card.get('authentication').get('credentials')
      const text = credentials.text()
      if (text !== null && text !== '' && !told.has(credentials.path())) warning(credentials, 'holds credentials in a public card')
    },
  ),
]

interface Named {
  /** The member that names a scheme. */
  place: Place
  scopes: Place[]
}

/** Schemes that a requirement names, where its shape is right. */
function namedIn({ requirements, is_new }: A2aView): Named[] {
  const items = requirements.flatMap((list) => list.items())
  if (is_new) return items.flatMap((item) => item.get('schemes').members()).map((place) => ({ place, scopes: place.get('list').items() }))
  return items
    .flatMap((item) => item.members())
    .filter(({ kind }) => kind === 'array')
    .map((place) => ({ place, scopes: place.items() }))
}

function texts(error: Say, list: Place, age: { is_new: boolean }): void {
  if (typed(error, list, 'array', age)) for (const item of list.items()) optional(error, item, 'string')
}

function newRequirement(error: Say, item: Place): void {
  const schemes = item.get('schemes')
  const strays = item.members().filter(({ key }) => key !== 'schemes')
  for (const stray of strays) error(stray, 'is no member of a requirement', { expected: 'schemes' })
  if (!typed(error, schemes, 'object', { is_new: true })) return
  for (const scheme of schemes.members()) if (optional(error, scheme, 'object')) texts(error, scheme.get('list'), { is_new: true })
}

/** Forms that nothing else has. 64 hexadecimal digits may be a hash. */
function isUnmistakable({ kind, place }: Secret): boolean {
  switch (kind) {
    case 'api_key':
    case 'bearer_token':
    case 'jwk_private_member':
      return true
    case 'private_key':
      return place.text()?.startsWith('-----BEGIN') === true
    case 'card_number':
    case 'client_secret':
      return false
  }
}
