import { all, drop, literally, set, type Change, type RuleCase } from './harness.ts'

/** One change of a right card for each rule of A2A and each severity it has. */

type More = Partial<Pick<RuleCase, 'expected_payee' | 'also'>>

const error = (code: string, from: string, change: Change, at?: string, more: More = {}): RuleCase => ({
  code: `A2A-${code}`,
  severity: 'error',
  from,
  change,
  ...(at === undefined ? {} : { at }),
  ...more,
})
const warning = (code: string, from: string, change: Change, at?: string, more: More = {}): RuleCase => ({
  ...error(code, from, change, at, more),
  severity: 'warning',
})
const same: Change = (text) => text
const put = (at: string, value: unknown, from = '1.0') => [from, set(at, value), at] as const
/** The same, where the finding stands elsewhere. */
const only = (at: string, value: unknown, from = '1.0') => [from, set(at, value)] as const
const without = (at: string, from = '1.0') => [from, drop(at), at] as const

const WAY = '/supportedInterfaces/0'
const OTHER = '/additionalInterfaces/2'
const EXTENSION = '/capabilities/extensions/0'
const SCHEMES = '/securitySchemes'
const CODE = `${SCHEMES}/code/oauth2SecurityScheme/flows`
const OLD_FLOWS = `${SCHEMES}/oauth/flows`
const HEAD = '/signatures/0/protected'
const REQUIRED = ['name', 'description', 'version', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'skills']
const encoded = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url')
const SIGNED = { alg: 'ES256', typ: 'JOSE', kid: 'a' }

/** Gives a member another name, where it stands. */
const renamed = (from: string, to: string) => literally(`"${from}":`, `"${to}":`)

const PAID = '/result/status/message/metadata/x402.payment.required'

const CARD_CASES: readonly RuleCase[] = [
  error('043', 'paid task', set(PAID, 'eyJ4NDAyVmVyc2lvbiI6Mn0'), PAID, { also: ['PRE-008'] }),
  error('043', 'paid task', set(PAID, [{}]), PAID),
  ...[
    ['supportedInterfaces', 'supported_interfaces'],
    ['defaultInputModes', 'default_input_modes'],
    ['protocolBinding', 'protocol_binding'],
    ['protocolVersion', 'protocol_version'],
    ['pushNotifications', 'push_notifications'],
    ['securitySchemes', 'security_schemes'],
    ['apiKeySecurityScheme', 'api_key_security_scheme'],
    ['tokenUrl', 'token_url'],
    ['outputModes', 'output_modes'],
  ].map(([from = '', to = '']) => error('001', '1.0', renamed(from, to))),
  error('001', '0.2.0', renamed('defaultInputModes', 'default_input_modes'), '/default_input_modes'),
  ...[...REQUIRED, 'supportedInterfaces'].map((name) => error('002', 'least 1.0', drop(`/${name}`), `/${name}`)),
  error('002', 'least 1.0', all(drop('/supportedInterfaces'), set('/url', 'https://agent.example.com'), set('/protocolVersion', '1.0'))),
  ...[...REQUIRED, 'url'].map((name) => error('003', 'least 0.3', drop(`/${name}`), `/${name}`)),
  error('003', ...without('/protocolVersion', '0.3')),
  error('003', ...without('/protocolVersion', '0.2.5'), { also: ['A2A-037'] }),
  error('003', ...without('/skills', '0.2.0')),
  warning('004', ...without('/protocolVersion', 'least 0.3')),
  warning('004', ...put('/protocolVersion', '', '0.3')),
  error('005', ...put('/name', ' ')),
  error('005', ...put('/description', '', '0.3')),
  error('005', ...put('/version', 1)),
  error('038', ...put('/skills', null)),
  error('038', ...put('/name', null, '0.3')),
  error('038', ...put('/protocolVersion', null, 'least 0.3')),
  error('038', ...put(`${WAY}/url`, null)),
  error('038', ...put('/skills/0/tags', null)),
  error('038', ...put('/documentationUrl', ['https://agent.example.com'])),
  error('038', ...put('/iconUrl', null, '0.3')),
  error('038', ...put(`${WAY}/tenant`, 7)),
  error('038', ...put('/skills/0/examples/0', { text: 'Rain?' })),
  error('038', ...put('/supportsAuthenticatedExtendedCard', 'true', '0.3')),
  error('038', ...put(`${SCHEMES}/bearer/httpAuthSecurityScheme/bearerFormat`, true)),
]

const INTERFACE_CASES: readonly RuleCase[] = [
  error('006', ...put('/supportedInterfaces', [])),
  error('006', ...put('/supportedInterfaces', { url: 'https://agent.example.com' })),
  error('006', ...put(WAY, null)),
  error('006', ...without(`${WAY}/url`)),
  error('006', ...without(`${WAY}/protocolBinding`)),
  error('006', ...put(`${WAY}/protocolBinding`, '')),
  error('006', ...put(`${WAY}/protocolVersion`, 1)),
  ...['v1', '1', '1.0-rc', '1.x'].map((version) => error('007', ...put(`${WAY}/protocolVersion`, version))),
  ...['latest', 'stable', 0.3].map((version) => error('007', ...put('/protocolVersion', version, '0.3'))),
  // The schema of 0.3.0 asks for any text, and clients read the number.
  warning('007', ...put('/protocolVersion', 'v0.3.0', '0.3')),
  warning('007', ...put(`${WAY}/protocolVersion`, '1.0.0')),
  warning('042', 'least 1.0', set(`${WAY}/protocolVersion`, '1.1'), `${WAY}/protocolVersion`),
  warning('042', 'least 0.3', set('/protocolVersion', '0.4.0'), '/protocolVersion'),
  error('008', ...without(`${WAY}/protocolVersion`)),
  error('008', ...put(`${WAY}/protocolVersion`, '')),
  ...['jsonrpc', 'JsonRpc', ' JSONRPC'].map((binding) => error('009', ...put(`${WAY}/protocolBinding`, binding))),
  error('009', ...put(`${OTHER}/transport`, 'http+json', '0.3')),
  error('009', ...put('/preferredTransport', 'grpc', '0.2.5')),
  warning('009', ...put(`${WAY}/protocolBinding`, 'WEBSOCKET')),
  warning('009', ...put(`${OTHER}/transport`, 'REST', '0.3')),
  ...['/a2a', 'agent.example.com/a2a', 'http://agent.example.com/a2a', 'https://me:secret@agent.example.com', ''].map((url) =>
    error('010', ...put(`${WAY}/url`, url)),
  ),
  warning('010', ...put('/supportedInterfaces/1/url', `https://agent.example.com/v1/message:stream`)),
  error('010', ...put('/url', 'http://agent.example.com', '0.2.0')),
  error('010', ...put(`${OTHER}/url`, 'agent.example.com:443', '0.3')),
  error('010', ...put('/supportedInterfaces/2/url', 'grpc agent')),
  error('010', ...put(`${WAY}/url`, 7)),
  warning('010', ...put('/url', 'http://localhost:10999', '0.2.0'), { also: ['A2A-040'] }),
  warning('010', ...put(`${WAY}/url`, 'http://127.0.0.1:8001/a2a')),
  warning(
    '011',
    '1.0',
    set('/supportedInterfaces/-', { url: 'grpc.agent.example.com:443', protocolBinding: 'GRPC', protocolVersion: '0.3' }),
  ),
  error('012', ...without(`${OTHER}/transport`, '0.3')),
  error('012', ...without(`${OTHER}/url`, '0.3')),
  error('012', ...put('/additionalInterfaces', {}, '0.3')),
  error('012', ...put('/additionalInterfaces/1', 'grpc', '0.3')),
  error('012', ...put('/preferredTransport', 1, '0.3')),
  warning('012', '0.3', drop('/additionalInterfaces/0'), '/additionalInterfaces'),
  warning('013', ...put(`${OTHER}/url`, 'https://agent.example.com/a2a', '0.3')),
  error('014', ...put('/url', 'https://other.example.com/a2a')),
  warning('014', ...put('/url', 'https://agent.example.com/a2a')),
  warning('015', ...put('/preferredTransport', 'JSONRPC')),
  warning('015', ...put('/additionalInterfaces', [])),
  warning('015', ...put('/supportsAuthenticatedExtendedCard', true)),
  warning('015', ...put('/security', [{ key: [] }])),
  warning('015', ...put('/capabilities/stateTransitionHistory', false)),
  warning('015', ...put('/supportedInterfaces', [{ type: 'rest', endpoint: '/a2a' }], '0.3')),
  warning('015', ...put('/supportedInterfaces', [{ url: 'https://agent.example.com', protocolBinding: 'JSONRPC' }], '0.3')),
]

const CAPABILITY_CASES: readonly RuleCase[] = [
  error('016', ...put('/capabilities', ['streaming']), { also: ['A2A-041'] }),
  error('016', ...put('/capabilities/streaming', 'true')),
  error('016', ...put('/capabilities/pushNotifications', null, '0.3')),
  error('016', ...put('/capabilities/extendedAgentCard', 1)),
  warning('016', ...put('/capabilities/extendedAgentCard', true, '0.3')),
  error('017', ...without(`${EXTENSION}/uri`)),
  error('017', ...put(`${EXTENSION}/uri`, 'quotes')),
  error('017', ...put(`${EXTENSION}/required`, 'yes')),
  error('017', ...put(`${EXTENSION}/params`, ['USD'])),
  error('017', ...put('/capabilities/extensions', {}), { also: ['A2A-041'] }),
  error('017', ...put(EXTENSION, 'urn:example:quotes')),
  error('017', '1.0', set('/capabilities/extensions/-', { uri: 'urn:example:quotes' }), '/capabilities/extensions/4/uri'),
  warning('017', '1.0', drop(`${EXTENSION}/description`), EXTENSION),
  error('018', ...put('/defaultInputModes', [])),
  error('018', ...put('/defaultInputModes', 'text/plain')),
  error('018', ...put('/defaultOutputModes/0', 7, '0.3')),
  error('018', ...put('/skills/1/outputModes/0', '')),
  ...['json', 'text', 'text/', '/plain', 'text/plain/x'].map((mode) => warning('018', ...put('/defaultInputModes/0', mode))),
  warning('018', ...put('/skills/1/outputModes/0', 'image', '0.2.0')),
  warning('039', '1.0', drop('/capabilities/extensions/1/params'), '/capabilities/extensions/1/params/roles'),
  warning('039', ...put('/capabilities/extensions/1/params/roles/0', 'buyer')),
  warning('039', ...put('/capabilities/extensions/1/params/roles', [])),
  warning('039', '1.0', drop('/capabilities/extensions/2/params'), '/capabilities/extensions/2/params/capabilities'),
  warning('039', ...put('/capabilities/extensions/1/params/capabilities/0/name', 'checkout', '0.3')),
  warning('039', '1.0', literally('"2026-04-08","spec"', '"1.0","spec"')),
]

const SKILL_CASES: readonly RuleCase[] = [
  error('019', ...put('/skills', { forecast: {} })),
  error('019', ...put('/skills/1', null, '0.3')),
  warning('019', ...put('/skills', [])),
  ...['id', 'name', 'description', 'tags'].map((name) => error('020', ...without(`/skills/0/${name}`))),
  error('020', ...without('/skills/1/tags', '0.2.0')),
  error('020', ...put('/skills/0/name', '')),
  error('020', ...put('/skills/0/tags', 'weather')),
  error('020', ...put('/skills/0/tags/0', 7, '0.3')),
  warning('020', ...put('/skills/0/tags', [])),
  error('021', ...put('/skills/1/id', 'forecast')),
  warning('021', ...put('/skills/1/name', 'Forecast', '0.3')),
  warning('022', ...put('/skills/0/parameters', { type: 'object' })),
  warning('022', ...put('/skills/0/security', [])),
  warning('023', ...put('/skills/1/inputModes', [])),
  warning('023', ...put('/skills/1/inputModes', ['application/json', 'text/plain'], '0.3')),
]

const SECURITY_CASES: readonly RuleCase[] = [
  error('024', ...put(`${SCHEMES}/key`, { type: 'apiKey', in: 'header', name: 'X-Key' })),
  error('024', '1.0', set(`${SCHEMES}/key/type`, 'apiKey'), `${SCHEMES}/key`),
  error('024', ...put(`${SCHEMES}/key`, { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } }, '0.3')),
  error('024', ...put(`${SCHEMES}/tls`, true)),
  error('024', ...put(SCHEMES, [], 'least 1.0')),
  error('025', ...put(`${SCHEMES}/key/type`, 'apikey', '0.3')),
  error('025', ...without(`${SCHEMES}/key/type`, '0.3')),
  error('025', ...without(`${SCHEMES}/key/in`, '0.2.5')),
  error('025', ...without(`${SCHEMES}/bearer/scheme`, '0.3')),
  error('025', ...without(`${SCHEMES}/oauth/flows`, '0.2.0')),
  error('025', ...without(`${SCHEMES}/connect/openIdConnectUrl`, '0.3')),
  error('026', ...put(`${SCHEMES}/key`, {})),
  error('026', '1.0', set(`${SCHEMES}/key/mtlsSecurityScheme`, {}), `${SCHEMES}/key`),
  error('026', ...without(`${SCHEMES}/key/apiKeySecurityScheme/location`)),
  error('026', ...without(`${SCHEMES}/bearer/httpAuthSecurityScheme/scheme`)),
  error('026', ...without(`${SCHEMES}/machine/oauth2SecurityScheme/flows`)),
  error('026', ...put(`${SCHEMES}/connect/openIdConnectSecurityScheme`, [])),
  error('027', ...only(`${CODE}/clientCredentials`, { tokenUrl: 'https://id.example.com/token', scopes: {} }), CODE),
  error('027', ...put(CODE, {}), { also: ['A2A-032'] }),
  error('027', ...without(`${CODE}/authorizationCode/tokenUrl`)),
  error('027', ...without(`${SCHEMES}/machine/oauth2SecurityScheme/flows/clientCredentials/scopes`)),
  error('027', ...without(`${SCHEMES}/device/oauth2SecurityScheme/flows/deviceCode/deviceAuthorizationUrl`)),
  error('027', ...put(OLD_FLOWS, {}, '0.3')),
  error('027', ...without(`${OLD_FLOWS}/authorizationCode/authorizationUrl`, '0.2.0')),
  error('027', ...put(`${OLD_FLOWS}/clientCredentials/scopes/admin`, 1, '0.3')),
  warning('028', ...only(`${CODE}/authorizationCode/pkceRequired`, false), `${CODE}/authorizationCode`),
  warning('028', '1.0', drop(`${CODE}/authorizationCode/pkceRequired`), `${CODE}/authorizationCode`),
  warning('028', ...put(`${OLD_FLOWS}/implicit`, { authorizationUrl: 'https://id.example.com/authorize', scopes: {} }, '0.3')),
  warning('028', ...only(`${SCHEMES}/machine/oauth2SecurityScheme/flows`, { password: {} })),
  error('029', ...put(`${CODE}/authorizationCode/tokenUrl`, 'http://id.example.com/token')),
  error('029', ...put(`${CODE}/authorizationCode/authorizationUrl`, '/authorize')),
  error('029', ...put(`${SCHEMES}/code/oauth2SecurityScheme/oauth2MetadataUrl`, 'http://id.example.com')),
  error('029', ...put(`${SCHEMES}/connect/openIdConnectUrl`, 7, '0.3')),
  error('029', ...put(`${SCHEMES}/key/apiKeySecurityScheme/location`, 'body')),
  error('029', ...put(`${SCHEMES}/key/in`, 'Header', '0.3')),
  error('030', '1.0', set('/securityRequirements/-', { schemes: { basic: { list: [] } } }), '/securityRequirements/2/schemes/basic'),
  error('030', ...only('/skills/0/security', [{ basic: [] }], '0.3'), '/skills/0/security/0/basic'),
  error('030', ...only('/security', [{ key: [] }], 'least 0.3'), '/security/0/key'),
  error('031', ...only('/securityRequirements/1', { key: [] }), '/securityRequirements/1/key'),
  error('031', ...only('/security/1', { schemes: { key: { list: [] } } }, '0.3'), '/security/1/schemes'),
  error('031', ...put('/security', { key: [] }, '0.2.0')),
  error('031', ...put('/securityRequirements/0/schemes/code/list/0', 7)),
  error('031', ...put('/securityRequirements/0/schemes/code', ['weather:read'])),
  warning('032', ...put('/securityRequirements/0/schemes/code/list/0', 'weather:write')),
  warning('032', ...put('/security/0/oauth/0', 'admin', '0.2.5')),
  warning('033', '1.0', all(drop('/securityRequirements'), drop('/skills/1/securityRequirements')), SCHEMES),
  warning('033', '0.2.0', drop('/security'), SCHEMES),
  warning('033', ...put('/capabilities/extendedAgentCard', true, 'least 1.0')),
  warning('033', ...put('/supportsAuthenticatedExtendedCard', true, 'least 0.3')),
  error('034', ...put(`${SCHEMES}/bearer/httpAuthSecurityScheme/description`, 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc')),
  error('034', ...put(`${EXTENSION}/params/key`, 'sk_live_0123456789abcdef')),
  error('034', ...put(`${EXTENSION}/params/pem`, '-----BEGIN PRIVATE KEY-----\nMIIE')),
  warning('034', ...put(`${EXTENSION}/params/client_secret`, 'correct horse battery')),
  warning('034', ...only('/authentication', { schemes: ['Basic'], credentials: 'me:secret' }, '0.2.0')),
]

const TRUST_CASES: readonly RuleCase[] = [
  error('035', ...without('/provider/organization')),
  error('035', '1.0', drop('/provider/url'), '/provider/url'),
  error('035', ...put('/provider', 'Example Weather', '0.3')),
  warning('035', ...put('/provider/url', 'http://example.com')),
  warning('035', ...put('/documentationUrl', '/docs', '0.3')),
  warning('035', ...put('/iconUrl', 'http://agent.example.com/icon.png')),
  error('036', ...put('/signatures/0', 'e30.e30.e30')),
  error('036', ...put('/signatures', {}, '0.3')),
  error('036', ...without('/signatures/0/signature')),
  error('036', ...put('/signatures/0/signature', 'not base64url!')),
  error('036', ...put('/signatures/0/header', [])),
  ...['{"alg":"ES256"}', 'e30x', encoded([1])].map((head) => error('036', ...put(HEAD, head))),
  ...[
    { ...SIGNED, alg: 'none' },
    { ...SIGNED, alg: 'HS256' },
    { typ: 'JOSE', kid: 'a' },
    { alg: 'ES256', typ: 'JOSE' },
  ].map((head) => error('036', ...put(HEAD, encoded(head)))),
  error('036', ...put(HEAD, encoded({ ...SIGNED, jku: 'http://agent.example.com/jwks.json' }), '0.3')),
  warning('036', ...put(HEAD, encoded({ ...SIGNED, typ: 'JWT' }))),
  warning('037', ...without('/signatures', '1.0')),
  warning('037', ...put('/signatures', [], '0.3')),
  warning('040', ...put('/provider/url', 'https://weather.example.net')),
  warning('040', ...put('/provider/url', 'https://weather.example.net', '0.2.0')),
  error('041', ...put(`${EXTENSION}/params/merchant_id`, 'm_4711'), { expected_payee: 'm_0815', also: ['X402-042'] }),
  warning('041', '0.3', same, '/provider/url', { expected_payee: 'weather.example.net' }),
  warning('041', 'least 0.3', same, '/url', { expected_payee: 'https://weather.example.net/pay' }),
  warning('041', '0.2.0', same, '', { expected_payee: 'm_0815' }),
]

export const A2A_CASES: readonly RuleCase[] = [
  ...CARD_CASES,
  ...INTERFACE_CASES,
  ...CAPABILITY_CASES,
  ...SKILL_CASES,
  ...SECURITY_CASES,
  ...TRUST_CASES,
]
