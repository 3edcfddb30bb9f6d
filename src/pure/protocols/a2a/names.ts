import { optional, type JsonKind } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import type { Say } from '../rule.ts'

/**
 * Members of a card are named in camelCase; cards that were written out of protocol buffers by hand have snake_case. One rule reports that,
 * and all others read such a member as if it were named rightly.
 */

const NAMES = [
  'supportedInterfaces',
  'protocolVersion',
  'protocolBinding',
  'preferredTransport',
  'additionalInterfaces',
  'documentationUrl',
  'iconUrl',
  'securitySchemes',
  'securityRequirements',
  'defaultInputModes',
  'defaultOutputModes',
  'supportsAuthenticatedExtendedCard',
  'pushNotifications',
  'stateTransitionHistory',
  'extendedAgentCard',
  'inputModes',
  'outputModes',
  'apiKeySecurityScheme',
  'httpAuthSecurityScheme',
  'oauth2SecurityScheme',
  'openIdConnectSecurityScheme',
  'mtlsSecurityScheme',
  'bearerFormat',
  'oauth2MetadataUrl',
  'openIdConnectUrl',
  'authorizationCode',
  'clientCredentials',
  'deviceCode',
  'authorizationUrl',
  'tokenUrl',
  'refreshUrl',
  'deviceAuthorizationUrl',
  'pkceRequired',
] as const

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Right names by their misspelling. */
export const CAMEL: ReadonlyMap<string, string> = new Map(NAMES.map((name) => [snake(name), name]))

const SNAKE: ReadonlyMap<string, string> = new Map(NAMES.map((name) => [name, snake(name)]))

/** The member of this name, in whichever spelling it stands there. */
export function at(place: Place, name: string): Place {
  const own = place.get(name)
  const other = own.present ? undefined : SNAKE.get(name)
  return other !== undefined && place.has(other) ? place.get(other) : own
}

/** Whether a member stands there in either spelling, and is not null: null means that it is not set. */
export function isSet(place: Place, name: string): boolean {
  const { kind } = at(place, name)
  return kind !== 'absent' && kind !== 'null'
}

/** What may stand here has this type. Protocol buffers read null as a field that is not set; the schemas before 1.0 do not. */
export function typed(error: Say, place: Place, kind: JsonKind, { is_new }: { is_new: boolean }): boolean {
  return !(is_new && place.kind === 'null') && optional(error, place, kind)
}
