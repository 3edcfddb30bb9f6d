import type { CleanDocument } from './harness.ts'
import {
  cart,
  catalog,
  checkout,
  completed,
  failed,
  firstHandler,
  handlers,
  isSigned,
  order,
  sharedCart,
  type Version,
} from './ucp-clean-responses.ts'

/** Right documents of UCP, built by hand from the fields that the specification of each version names. */

const declared = (type: string, version: string) => ({ type, version, version_source: 'declared' as const })
const isNewest = (version: Version) => version === '2026-08-25'

const P256 = {
  kid: 'shop_2026',
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
  use: 'sig',
  alg: 'ES256',
}
const ED25519 = { kid: 'shop_ed', kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', use: 'sig', alg: 'EdDSA' }
const KEYS = [P256, ED25519]

const keysOf = (version: Version) => (isNewest(version) ? { keys: KEYS } : { signing_keys: KEYS })

const described = (version: Version, name: string) => ({
  version,
  spec: `https://ucp.dev/${version}/specification/${name}`,
  schema: `https://ucp.dev/${version}/schemas/shopping/${name}.json`,
})

/** Profiles of the first version: an array of capabilities, one object a service. */
const firstProfile = (platform: boolean) => ({
  ucp: {
    version: '2026-01-11',
    services: {
      'dev.ucp.shopping': {
        version: '2026-01-11',
        spec: 'https://ucp.dev/specification/overview',
        rest: { schema: 'https://ucp.dev/services/shopping/rest.openapi.json', endpoint: 'https://shop.example.com/ucp' },
        mcp: { schema: 'https://ucp.dev/services/shopping/mcp.openrpc.json', endpoint: 'https://shop.example.com/mcp' },
        a2a: { endpoint: 'https://shop.example.com/.well-known/agent-card.json' },
        embedded: { schema: 'https://ucp.dev/services/shopping/embedded.openrpc.json' },
      },
    },
    capabilities: [
      { name: 'dev.ucp.shopping.checkout', ...described('2026-01-11', 'checkout') },
      { name: 'dev.ucp.shopping.discount', ...described('2026-01-11', 'discount'), extends: 'dev.ucp.shopping.checkout', config: {} },
      {
        name: 'dev.ucp.shopping.order',
        ...described('2026-01-11', 'order'),
        ...(platform ? { config: { webhook_url: 'https://agent.example.com/orders' } } : {}),
      },
    ],
  },
  payment: { handlers: [firstHandler] },
  signing_keys: KEYS,
})

/** Profiles since 2026-01-23: names lead to arrays. */
function profile(version: Exclude<Version, '2026-01-11'>, platform: boolean) {
  const service = (transport: string, endpoint: string | null, schema: string | null) => ({
    version,
    transport,
    spec: `https://ucp.dev/${version}/specification/overview`,
    ...(schema === null ? {} : { schema: `https://ucp.dev/${version}/services/shopping/${schema}` }),
    ...(endpoint === null || (platform && version !== '2026-01-23') ? {} : { endpoint: `https://shop.example.com/${endpoint}` }),
  })
  const webhook = platform ? { config: { webhook_url: 'https://agent.example.com/orders' } } : {}
  const parents = ['dev.ucp.shopping.checkout', 'dev.ucp.shopping.cart']
  return {
    ucp: {
      version,
      ...(platform || !isSigned(version) ? {} : { supported_versions: { '2026-01-23': 'https://shop.example.com/ucp/2026-01-23' } }),
      services: {
        'dev.ucp.shopping': [
          service('rest', 'ucp', 'rest.openapi.json'),
          service('mcp', 'mcp', 'mcp.openrpc.json'),
          service('a2a', 'agent-card.json', null),
          service('embedded', null, 'embedded.openrpc.json'),
        ],
      },
      capabilities: {
        'dev.ucp.shopping.checkout': [described(version, 'checkout')],
        'dev.ucp.shopping.discount': [{ ...described(version, 'discount'), extends: isSigned(version) ? parents : parents[0] }],
        'dev.ucp.shopping.order': [{ ...described(version, 'order'), ...webhook }],
      },
      payment_handlers: handlers(version),
    },
    ...keysOf(version),
  }
}

const VERSIONS: readonly Version[] = ['2026-01-11', '2026-01-23', '2026-04-08', '2026-08-25']

function ofVersion(version: Version): Record<string, CleanDocument> {
  const profiles = (platform: boolean) => (version === '2026-01-11' ? firstProfile(platform) : profile(version, platform))
  const year = version.slice(5)
  const both: Record<string, CleanDocument> = {
    [`business ${year}`]: { document: profiles(false), ...declared('business_profile', version) },
    [`platform ${year}`]: { document: profiles(true), ...declared('platform_profile', version) },
    [`checkout ${year}`]: { document: checkout(version), ...declared('checkout', version) },
    [`completed ${year}`]: { document: completed(version), ...declared('checkout', version) },
    [`order ${year}`]: { document: order(version), ...declared('order', version) },
    [`error ${year}`]: { document: failed(version), ...declared('error', version) },
  }
  if (!isSigned(version)) return both
  const wrapped = { jsonrpc: '2.0', id: 1, result: { structuredContent: checkout(version), content: [{ type: 'text', text: '{}' }] } }
  return {
    ...both,
    [`cart ${year}`]: { document: cart(version), ...declared('cart', version) },
    [`shared cart ${year}`]: { document: sharedCart(version), ...declared('cart', version) },
    [`catalog ${year}`]: { document: catalog(version), ...declared('catalog', version) },
    [`wrapped ${year}`]: { document: wrapped, ...declared('checkout', version) },
  }
}

export const UCP_CLEAN: Readonly<Record<string, CleanDocument>> = Object.assign({}, ...VERSIONS.map(ofVersion)) as Record<
  string,
  CleanDocument
>
