import type { CleanDocument } from './harness.ts'

/** Right agent cards, built by hand from the protocol buffers of 1.0 and the schemas of the versions before. */

const HOST = 'https://agent.example.com'
const header = Buffer.from(
  JSON.stringify({ alg: 'ES256', typ: 'JOSE', kid: 'card-2026', jku: 'https://agent.example.com/jwks.json' }),
).toString('base64url')
const signatures = [{ protected: header, signature: Buffer.alloc(64, 7).toString('base64url') }]

const common = {
  name: 'Weather',
  description: 'Tells the weather of the next days.',
  version: '1.4.0',
  provider: { organization: 'Example Weather', url: 'https://www.example.com' },
  iconUrl: 'https://agent.example.com/icon.png',
  documentationUrl: 'https://agent.example.com/docs',
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['application/json; charset=utf-8'],
}
const skills = [
  {
    id: 'forecast',
    name: 'Forecast',
    description: 'Tells what will be',
    tags: ['weather', 'forecast'],
    examples: ['Will it rain in Oslo?'],
  },
  { id: 'map', name: 'Map', description: 'Draws a map', tags: ['weather'], inputModes: ['text/plain'], outputModes: ['image/png'] },
]
const scopes = { 'weather:read': 'Read the weather' }
const code = { authorizationUrl: 'https://id.example.com/authorize', tokenUrl: 'https://id.example.com/token', scopes }
const machine = { tokenUrl: 'https://id.example.com/token', refreshUrl: 'https://id.example.com/refresh', scopes }
const device = { deviceAuthorizationUrl: 'https://id.example.com/device', tokenUrl: 'https://id.example.com/token', scopes: {} }
const openIdConnectUrl = 'https://id.example.com/.well-known/openid-configuration'

const AP2 = {
  uri: 'https://github.com/google-agentic-commerce/ap2/tree/v0.1',
  description: 'Takes payments',
  params: { roles: ['merchant'] },
}
const capability = { version: '2026-01-11', spec: 'https://ucp.dev/specification/checkout' }
const terms = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '10000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}
const extensions = [
  { uri: 'urn:example:quotes', description: 'Quotes prices', required: true, params: { currency: 'USD' } },
  AP2,
  {
    uri: 'https://ucp.dev/2026-04-08/specification/reference',
    params: { capabilities: { 'dev.ucp.shopping.checkout': [{ ...capability, version: '2026-04-08' }] } },
  },
  { uri: 'https://github.com/google-a2a/a2a-x402/v0.1', description: 'Paid calls', required: false, params: { accepts: [terms] } },
]

const newest = {
  ...common,
  supportedInterfaces: [
    { url: `${HOST}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${HOST}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' },
    { url: 'grpc.agent.example.com:443', protocolBinding: 'GRPC', protocolVersion: '0.3' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true, extensions },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key', description: 'A key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
    code: {
      oauth2SecurityScheme: {
        flows: { authorizationCode: { ...code, pkceRequired: true } },
        oauth2MetadataUrl: 'https://id.example.com/.well-known/oauth-authorization-server',
      },
    },
    machine: { oauth2SecurityScheme: { flows: { clientCredentials: machine } } },
    device: { oauth2SecurityScheme: { flows: { deviceCode: device } } },
    connect: { openIdConnectSecurityScheme: { openIdConnectUrl } },
    tls: { mtlsSecurityScheme: {} },
  },
  securityRequirements: [{ schemes: { code: { list: ['weather:read'] } } }, { schemes: { key: { list: [] }, tls: {} } }],
  skills: skills.map((skill, index) => (index === 0 ? skill : { ...skill, securityRequirements: [{ schemes: { bearer: { list: [] } } }] })),
  signatures,
}

const oldSchemes = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key', description: 'A key' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  oauth: { type: 'oauth2', flows: { authorizationCode: code, clientCredentials: machine } },
  connect: { type: 'openIdConnect', openIdConnectUrl },
}
const old = {
  ...common,
  url: `${HOST}/a2a`,
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false, extensions: [AP2] },
  securitySchemes: oldSchemes,
  security: [{ oauth: ['weather:read'] }, { key: [] }],
  skills,
  supportsAuthenticatedExtendedCard: true,
}
const july = {
  ...old,
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: `${HOST}/a2a`, transport: 'JSONRPC' },
    { url: 'grpc.agent.example.com:443', transport: 'GRPC' },
    { url: `${HOST}/rest`, transport: 'HTTP+JSON' },
  ],
  capabilities: {
    ...old.capabilities,
    extensions: [
      AP2,
      {
        uri: 'https://ucp.dev/specification/reference?v=2026-01-11',
        params: { capabilities: [{ name: 'dev.ucp.shopping.checkout', ...capability }] },
      },
    ],
  },
  securitySchemes: { ...oldSchemes, tls: { type: 'mutualTLS' } },
  skills: skills.map((skill) => ({ ...skill, security: [{ bearer: [] }] })),
  signatures,
}
const { provider: _provider, iconUrl: _icon, documentationUrl: _docs, ...least } = common

const declared = (version: string) => ({ type: 'agent_card', version, version_source: 'declared' as const })

const paid = {
  'x402.payment.status': 'payment-required',
  'x402.payment.required': {
    x402Version: 2,
    error: 'Payment required',
    resource: { url: `${HOST}/a2a`, description: 'Forecast', mimeType: 'application/json' },
    accepts: [terms],
  },
}

export const A2A_CLEAN: Readonly<Record<string, CleanDocument>> = {
  'paid task': {
    document: {
      jsonrpc: '2.0',
      id: 1,
      result: {
        kind: 'task',
        id: 't_1',
        contextId: 'c_1',
        status: { state: 'input-required', message: { kind: 'message', messageId: 'm_1', role: 'agent', parts: [], metadata: paid } },
      },
    },
    type: 'task',
    version: '1.0',
    version_source: 'assumed',
    expected_payee: terms.payTo,
  },
  '1.0': { document: newest, ...declared('1.0'), expected_payee: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
  'extended 1.0': { document: { jsonrpc: '2.0', id: 1, result: newest }, ...declared('1.0') },
  'least 1.0': {
    document: {
      ...least,
      supportedInterfaces: [{ url: `${HOST}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: {},
      skills,
    },
    ...declared('1.0'),
    warnings: ['A2A-037'],
  },
  'older interface 1.0': {
    document: { ...newest, supportedInterfaces: [{ url: `${HOST}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }] },
    ...declared('1.0'),
    version_source: 'inferred',
  },
  '0.3': { document: july, ...declared('0.3'), expected_payee: 'https://example.com' },
  'least 0.3': {
    document: { ...least, url: `${HOST}/a2a`, protocolVersion: '0.3.1', capabilities: {}, skills },
    ...declared('0.3'),
    warnings: ['A2A-037'],
    needed: ['/protocolVersion'],
  },
  '0.2.5': {
    document: { ...old, protocolVersion: '0.2.5', preferredTransport: 'GRPC', url: 'grpc.agent.example.com:443' },
    ...declared('0.2.5'),
    needed: ['/protocolVersion'],
  },
  '0.2.0': { document: old, type: 'agent_card', version: '0.2', version_source: 'assumed', warnings: ['A2A-004'] },
}
