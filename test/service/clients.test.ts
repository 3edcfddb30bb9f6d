import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerAddress, clientHasher, clientNetwork, trustedProxies, wideProxies } from '../../src/service/clients.ts'

function proxies(...entries: string[]) {
  const read = trustedProxies(entries)
  assert.ok(read.ok)
  return read.proxies
}

test('without trusted proxies the peer is the caller, whatever the header says', () => {
  assert.equal(callerAddress('203.0.113.9', '198.51.100.1', proxies()), '203.0.113.9')
  assert.equal(callerAddress('203.0.113.9', null, proxies()), '203.0.113.9')
})

// attack: a forged X-Forwarded-For, Forwarded, X-Real-IP
test('behind a trusted proxy the last address that is not a proxy is the caller', () => {
  const known = proxies('10.0.0.0/8', '2001:db8::/32')
  assert.equal(callerAddress('10.1.2.3', '198.51.100.1', known), '198.51.100.1')
  // What stands left of an untrusted hop was written by a stranger.
  assert.equal(callerAddress('10.1.2.3', '1.2.3.4, 198.51.100.1, 10.9.9.9', known), '198.51.100.1')
  assert.equal(callerAddress('2001:db8::1', '2a00:1450::5', known), '2a00:1450::5')
  assert.equal(callerAddress('::ffff:10.1.2.3', '[2a00:1450::5]:4711', known), '2a00:1450::5')
})

test('a header that is no list of addresses moves nothing', () => {
  const known = proxies('10.0.0.0/8')
  for (const header of ['', 'unknown', 'evil, ', '198.51.100.1:80:80', 'a'.repeat(100_000)]) {
    assert.equal(callerAddress('10.1.2.3', header, known), '10.1.2.3')
  }
  // Everything to the left of the broken entry stays unread.
  assert.equal(callerAddress('10.1.2.3', '198.51.100.1, nonsense', known), '10.1.2.3')
})

test('an entry with a port, brackets or a zone names the same caller, and anything else none', () => {
  const known = proxies('10.0.0.0/8')
  const callerOf = (entry: string) => callerAddress('10.1.2.3', `198.51.100.1, ${entry}`, known)
  for (const entry of [
    '203.0.113.7',
    '203.0.113.7:0',
    '203.0.113.7:65535',
    ' 203.0.113.7:1 ',
    '::ffff:203.0.113.7',
    '[::ffff:cb00:7107]:443',
  ])
    assert.equal(callerOf(entry), '203.0.113.7', entry)
  for (const entry of ['2001:db8::7', '[2001:db8::7]', '[2001:db8::7]:4711', '2001:DB8::7%eth0', '[2001:db8::7%25]:4711'])
    assert.equal(callerOf(entry), '2001:db8::7', entry)
  for (const entry of [
    '203.0.113.7:',
    '203.0.113.7:65536',
    '203.0.113.7:99999',
    '203.0.113.7:080800',
    '203.0.113.7:-1',
    '203.0.113.7:8o',
    '203.0.113.7: 80',
    '[203.0.113.7]',
    '[203.0.113.7]:80',
    '203.0.113:80',
    '203.0.113.7%eth0',
    ':80',
    '203.0.113.7:80:80',
    '"203.0.113.7:80"',
    '[2001:db8::7',
    '2001:db8::7]',
    '[2001:db8::7]80',
    '[2001:db8::7]:',
    '[2001:db8::7]:65536',
    '[]',
    '[]:80',
    '[2001:db8::7]]:80',
    '2001:db8::7%<script>',
    'for=203.0.113.7',
    'unknown',
    '_hidden:80',
  ])
    assert.equal(callerOf(entry), '10.1.2.3', entry)
})

/** Headers as proxies send them for a caller at 203.0.113.7 or 2001:db8::7 who sent `X-Forwarded-For: 8.8.8.8`, and where that is documented. */
const PROXIES = [
  {
    // nginx.org, ngx_http_proxy_module: the client's X-Forwarded-For with $remote_addr appended to it, separated by a comma.
    proxy: 'nginx, $proxy_add_x_forwarded_for',
    headers: { '203.0.113.7': '8.8.8.8, 203.0.113.7', '2001:db8::7': '8.8.8.8, 2001:db8::7' },
  },
  {
    // caddyserver.com, reverse_proxy, "Headers": the address of the client; what comes from peers that are not trusted is ignored.
    proxy: 'Caddy',
    headers: { '203.0.113.7': '203.0.113.7', '2001:db8::7': '2001:db8::7' },
  },
  {
    // docs.aws.amazon.com, "HTTP headers and Application Load Balancers", mode append.
    proxy: 'Application Load Balancer',
    headers: { '203.0.113.7': '8.8.8.8, 203.0.113.7', '2001:db8::7': '8.8.8.8, 2001:DB8::7' },
  },
  {
    // The same with routing.http.xff_client_port.enabled ("client port preservation").
    proxy: 'Application Load Balancer with client ports',
    headers: { '203.0.113.7': '8.8.8.8, 203.0.113.7:49152', '2001:db8::7': '8.8.8.8, [2001:db8::7]:49152' },
  },
  {
    // learn.microsoft.com, "How an application gateway works": a comma-separated list of IP:port.
    proxy: 'Azure Application Gateway',
    headers: { '203.0.113.7': '8.8.8.8, 203.0.113.7:51234', '2001:db8::7': '8.8.8.8, [2001:db8::7]:51234' },
  },
  {
    // developers.cloudflare.com, "HTTP request headers": the peer's address is appended, without a space.
    proxy: 'Cloudflare',
    headers: { '203.0.113.7': '8.8.8.8,203.0.113.7', '2001:db8::7': '8.8.8.8,2001:db8::7' },
  },
] as const

for (const { proxy, headers } of PROXIES)
  test(`the caller behind ${proxy} is the address that the proxy saw`, () => {
    const known = proxies('10.0.0.0/8')
    for (const [caller, header] of Object.entries(headers)) {
      assert.equal(callerAddress('10.1.2.3', header, known), caller)
      // A second proxy of the operator adds the first one.
      assert.equal(callerAddress('10.9.9.9', `${header}, 10.1.2.3:443`, known), caller)
      assert.equal(callerAddress('192.0.2.1', header, known), '192.0.2.1')
    }
  })

test('an IPv4 address stands for itself, an IPv6 address for its /64', () => {
  assert.equal(clientNetwork('203.0.113.9'), '203.0.113.9')
  assert.equal(clientNetwork('2001:db8:0:1:aaaa:bbbb:cccc:dddd'), clientNetwork('2001:db8:0:1::1'))
  assert.notEqual(clientNetwork('2001:db8:0:1::1'), clientNetwork('2001:db8:0:2::1'))
  assert.equal(clientNetwork('::1'), clientNetwork('0:0:0:0:1:2:3:4'))
  assert.equal(clientNetwork('2001:DB8::'.toLowerCase()), clientNetwork('2001:0db8:0000:0000::9'))
  assert.equal(clientNetwork('64:ff9b::192.0.2.1'), clientNetwork('64:ff9b::'))
})

test('a client has another name each day and under each secret, and the name holds no address', () => {
  const clientHash = clientHasher(new Uint8Array(32).fill(1))
  const today = clientHash(20_778, '203.0.113.9')
  assert.match(today, /^[0-9a-f]{32}$/)
  assert.equal(today, clientHash(20_778, '203.0.113.9'))
  assert.notEqual(today, clientHash(20_779, '203.0.113.9'))
  assert.notEqual(today, clientHasher(new Uint8Array(32).fill(2))(20_778, '203.0.113.9'))
  assert.equal(clientHash(1, '2001:db8::1'), clientHash(1, '2001:db8::ffff'))
})

test('networks wider than a proxy needs are found; single addresses and small networks are not', () => {
  const wide = [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '10.1.0.0/16',
    '10.1.16.0/19',
    '0.0.0.0/0',
    '::/0',
    'fd00::/8',
    '2001:db8::/48',
    '2001:db8::/63',
  ]
  assert.deepEqual(wideProxies([...wide, '10.0.0.7', '10.1.16.0/20', '172.30.84.0/24', '10.0.0.7/32', 'fd00::7', '2001:db8::/64']), wide)
})

test('proxies that are no networks are refused', () => {
  for (const entry of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '10.0.0/8', '2001:db8::/129', '']) {
    assert.equal(trustedProxies([entry]).ok, false, entry)
  }
})
