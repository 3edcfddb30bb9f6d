// attack: terms that steer the proof file to private addresses, or a stream of requests to a domain

import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { after, before, beforeEach, test } from 'node:test'
import { rdapLimits } from '../../src/service/limits.ts'
import { isPublicAddress, systemResolve } from '../../src/adapters/public-https/guarded-request.ts'
import { rdapRegistrations, type RdapOptions } from '../../src/adapters/public-https/rdap.ts'
import { sampleRegistrations } from '../../src/adapters/public-https/choose.ts'
import type { Registration, RegistrationData } from '../../src/ports/registers.ts'
import { rdapServer } from '../../src/pure/checks/domains.ts'
import { domainObject, redirects, says, startRdapServer, type RdapServer } from '../support/rdap-server.ts'
import { clockAt } from '../support/clock-at.ts'

let registry: RdapServer
/** A server that nobody may be steered to. */
let victim: RdapServer
let now_ms = Date.UTC(2026, 10, 21, 12)
const clock = clockAt(() => now_ms)
const DATE = '1995-08-14T04:00:00Z'

before(async () => {
  ;[registry, victim] = await Promise.all([startRdapServer(), startRdapServer()])
})
after(() => Promise.all([registry.stop(), victim.stop()]))
beforeEach(() => {
  registry.manner.clear()
  registry.asked.length = 0
})

function asking(more: Partial<RdapOptions> = {}): RegistrationData {
  return rdapRegistrations({ clock, resolve: systemResolve, server: () => registry.url, exempt: new Set([registry.place]), ...more })
}

/** The reason of an unknown date, or what else became of the question. */
function word(found: Registration): string | number {
  return found.kind === 'unknown' ? found.reason : found.kind === 'registered' ? found.at_ms : found.kind
}

test('a registry that answers: the moment of registration, asked once an hour', async () => {
  registry.manner.set('example.com', says(domainObject('example.com', DATE)))
  const data = asking()
  const first = await data.lookup('example.com')
  assert.deepEqual(first, { kind: 'registered', at_ms: Date.UTC(1995, 7, 14, 4), server: '127.0.0.1' })
  assert.deepEqual(await data.lookup('example.com'), first)
  assert.deepEqual(registry.asked, ['/rdap/domain/example.com'])
  now_ms += 3_600_000
  await data.lookup('example.com')
  assert.equal(registry.asked.length, 2)
})

test('moments as registries write them; the latest registration counts', async () => {
  const written: [unknown, string | number][] = [
    ['2026-11-20T23:59:59.123456Z', Date.UTC(2026, 10, 20, 23, 59, 59, 123)],
    ['2026-11-20T23:59:59+02:00', Date.UTC(2026, 10, 20, 21, 59, 59)],
    ['2026-11-20t23:59:59z', Date.UTC(2026, 10, 20, 23, 59, 59)],
    ['2026-11-20T23:59:59', 'no_date'],
    ['2026-11-20', 'no_date'],
    ['2026-13-40T00:00:00Z', 'no_date'],
    ['yesterday', 'no_date'],
    [1_700_000_000, 'no_date'],
    [null, 'no_date'],
  ]
  for (const [date, expected] of written) {
    registry.manner.set('example.com', says(domainObject('example.com', date)))
    assert.equal(word(await asking().lookup('example.com')), expected, String(date))
  }
  const twice = domainObject('example.com', DATE)
  twice['events'] = ['2001-01-01T00:00:00Z', '2026-11-11T00:00:00Z', '2010-01-01T00:00:00Z'].map((eventDate) => ({
    eventAction: 'registration',
    eventDate,
  }))
  registry.manner.set('example.com', says(twice))
  assert.equal(word(await asking().lookup('example.com')), Date.UTC(2026, 10, 11))
})

test('a registry that lies or babbles is not believed', async () => {
  const whole = domainObject('example.com', DATE)
  const answers: [unknown, string][] = [
    [domainObject('another.com', DATE), 'unreadable'],
    [{ ...whole, ldhName: undefined }, 'unreadable'],
    [{ ...whole, objectClassName: 'entity' }, 'unreadable'],
    [{ ...whole, events: undefined }, 'no_date'],
    [{ ...whole, events: { eventAction: 'registration', eventDate: DATE } }, 'no_date'],
    [{ ...whole, events: [null, 7, 'registration', { eventAction: 'reregistration', eventDate: DATE }] }, 'no_date'],
    ['<html>registered 1995-08-14</html>', 'unreadable'],
    ['[]', 'unreadable'],
    ['null', 'unreadable'],
    ['', 'unreadable'],
    ['{"objectClassName":"domain"', 'unreadable'],
  ]
  for (const [answer, expected] of answers) {
    registry.manner.set('example.com', says(answer))
    assert.equal(word(await asking().lookup('example.com')), expected, JSON.stringify(answer))
  }
})

test('statuses: what the registry does not know is unknown, and 5xx is down', async () => {
  const words = { 404: 'not_found', 429: 'rate_limited', 400: 'refused', 403: 'refused', 304: 'refused', 500: 'down', 503: 'down' }
  for (const [status, expected] of Object.entries(words)) {
    registry.manner.set('example.com', (_request, response) => void response.writeHead(Number(status)).end())
    assert.equal(word(await asking().lookup('example.com')), expected, status)
  }
})

test('a registry that stalls, before its head or within its body, is unknown after the limit', async () => {
  registry.manner.set('deaf.com', () => undefined)
  registry.manner.set('mute.com', (_request, response) => void response.writeHead(200).write('{"objectClassName":'))
  const never = asking({
    exempt: new Set([registry.place]),
    resolve: () => new Promise<LookupAddress[]>(() => undefined),
    server: () => 'https://never.test/',
  })
  const found = await Promise.all([asking().lookup('deaf.com'), asking().lookup('mute.com'), never.lookup('slow-names.com')])
  assert.deepEqual(found.map(word), ['timeout', 'timeout', 'timeout'])
})

test('an answer without end is given up and cut off', async () => {
  let closed: Promise<unknown> = Promise.resolve()
  registry.manner.set('example.com', (_request, response) => {
    closed = once(response, 'close')
    const chunk = 'x'.repeat(65_536)
    const more = () => {
      while (!response.destroyed && response.write(chunk)) continue
    }
    response.writeHead(200).on('drain', more)
    more()
  })
  assert.equal(word(await asking().lookup('example.com')), 'unreadable')
  await closed
})

test('nobody there, and no such name, are down', async () => {
  const gone = await startRdapServer()
  await gone.stop()
  const closed = asking({ server: () => gone.url, exempt: new Set([gone.place]) })
  assert.equal(word(await closed.lookup('example.com')), 'down')
  const nameless = asking({ server: () => 'https://rdap.test/', resolve: () => Promise.reject(new Error('ENOTFOUND')) })
  assert.equal(word(await nameless.lookup('example.com')), 'down')
  assert.equal(word(await asking({ server: () => null }).lookup('example.com')), 'no_registry')
})

// attack: requests to private addresses by redirect, rebinding, odd spellings
test('redirects are followed three times and no more', async () => {
  const here = (name: string) => `${registry.url}domain/${name}`
  registry.manner.set('example.com', says(domainObject('one.com', DATE)))
  registry.manner.set('one.com', redirects(here('two.com'), 301))
  registry.manner.set('two.com', redirects('three.com', 307))
  registry.manner.set('three.com', redirects('/rdap/domain/example.com', 308))
  assert.equal(word(await asking().lookup('one.com')), Date.UTC(1995, 7, 14, 4))
  registry.manner.set('zero.com', redirects(here('one.com')))
  assert.equal(word(await asking().lookup('zero.com')), 'refused')
  registry.manner.set('loop.com', redirects(here('loop.com')))
  assert.equal(word(await asking().lookup('loop.com')), 'refused')
})

// attack: requests to private addresses by redirect, rebinding, odd spellings
// in: outgoing requests and stored data
// asset: the internal network
// attacker: author of a domain, registry
// defence: https, at most three redirects, public addresses only, and the checked address is the one connected to
test('no redirect leads to this machine, its network or its metadata, however the address is written', async () => {
  const { port } = victim
  const hosts = '127.0.0.1 localhost 2130706433 0x7f000001 0x7f.1 0177.0.0.1 127.1 0.0.0.0 0'.split(' ')
  const networks = '10.0.0.1 192.168.0.1 172.16.0.1 100.64.0.1 169.254.169.254 2852039166 0xa9fea9fe 198.18.0.1 255.255.255.255'
  const sixes =
    '[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:169.254.169.254] [64:ff9b::7f00:1] [fe80::1] [fd00:ec2::254] [2002:7f00:1::]'
  const insecure =
    'http://rdap.example/ https://user:password@rdap.example/ https://rdap.example:8443/ ftp://rdap.example/ file:///etc/passwd'
  const crooked = `data:application/json,{} javascript:0 http://[ //127.0.0.1/ \\\\127.0.0.1:${port}\\`
  const places = [
    ...hosts.flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`, `https://${host}/`]),
    ...`${networks} ${sixes}`.split(' ').flatMap((host) => [`http://${host}/latest/meta-data/`, `https://${host}/`]),
    ...`${insecure} ${crooked}`.split(' '),
  ]
  const resolve = (host: string): Promise<LookupAddress[]> =>
    Promise.resolve(host === 'localhost' ? [{ address: '127.0.0.1', family: 4 }] : [{ address: '93.184.215.14', family: 4 }])
  const data = asking({ exempt: new Set([registry.place]), resolve })
  for (const place of places) {
    registry.manner.set('example.com', redirects(place))
    assert.equal(word(await data.lookup('example.com')), 'refused', place)
  }
  assert.equal(victim.connections(), 0)
})

test('a server of the table that is not public is not asked either', async () => {
  const data = rdapRegistrations({ clock, resolve: systemResolve, server: () => `http://127.0.0.1:${victim.port}/` })
  assert.equal(word(await data.lookup('example.com')), 'refused')
  assert.equal(victim.connections(), 0)
})

test('names that resolve to private addresses are refused, also when only one of several does', async () => {
  const answers = [
    ['10.0.0.7'],
    ['127.0.0.1'],
    ['::1'],
    ['93.184.215.14', '127.0.0.1'],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', 'fe80::1'],
    [],
  ]
  for (const addresses of answers) {
    const resolve = () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
    registry.manner.set('example.com', redirects('https://rdap.test/domain/example.com'))
    const data = asking({ exempt: new Set([registry.place]), resolve })
    assert.equal(word(await data.lookup('example.com')), 'refused', addresses.join())
  }
})

// attack: requests to private addresses by redirect, rebinding, odd spellings
test('the connection goes to the address that was checked: a name is resolved once, whatever it resolves to next', async () => {
  const resolved: string[] = []
  const resolve = (host: string): Promise<LookupAddress[]> => {
    resolved.push(host)
    return Promise.resolve([{ address: resolved.length === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }])
  }
  let host: string | undefined
  registry.manner.set('example.com', (request, response) => {
    host = request.headers.host
    says(domainObject('example.com', DATE))(request, response)
  })
  // A name under .test is in no DNS (RFC 6761): only the checked address can lead there.
  const data = asking({ server: () => `http://rdap.test:${registry.port}/rdap/`, exempt: new Set([registry.place]), resolve })
  assert.equal(word(await data.lookup('example.com')), Date.UTC(1995, 7, 14, 4))
  assert.deepEqual([resolved, host], [['rdap.test'], `rdap.test:${registry.port}`])
})

test('a registry that keeps failing is left alone for a while, then asked again', async () => {
  registry.manner.set('example.com', says('', 503))
  const data = asking()
  for (let turn = 0; turn < rdapLimits.breaker.failures + 3; turn++) assert.equal(word(await data.lookup('example.com')), 'down')
  assert.equal(registry.asked.length, rdapLimits.breaker.failures)
  now_ms += rdapLimits.breaker.open_ms
  assert.equal(word(await data.lookup('example.com')), 'down')
  assert.equal(word(await data.lookup('example.com')), 'down')
  assert.equal(registry.asked.length, rdapLimits.breaker.failures + 1)
  now_ms += rdapLimits.breaker.open_ms
  registry.manner.set('example.com', says(domainObject('example.com', DATE)))
  assert.equal(word(await data.lookup('example.com')), Date.UTC(1995, 7, 14, 4))
  assert.equal(word(await data.lookup('nobody.com')), 'not_found')
})

test('public and other addresses of both families', () => {
  const open = [
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ]
  const closed = [
    '0.0.0.0 10.255.255.255 100.127.255.255 127.255.255.254 169.254.169.254 172.31.255.255 192.0.0.8 192.0.2.1 192.168.255.255',
    '198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 255.255.255.255 localhost 8.8.8 08.8.8.8',
    ':: ::1 ::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::808:808 fc00::1 fdff::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1',
    '2001::1 2001:db8::1 2002:808:808:: 3fff::1 100::1 2606:4700::1111%1 5f00::1',
  ].flatMap((line) => line.split(' '))
  for (const address of open) assert.equal(isPublicAddress(address), true, address)
  for (const address of closed) assert.equal(isPublicAddress(address), false, address)
})

test('the bootstrap table: https everywhere, the registrable domain decides, and what IANA lacks is there', () => {
  assert.equal(rdapServer('example.com'), 'https://rdap.verisign.com/com/v1/')
  assert.equal(rdapServer('example.co.uk'), 'https://rdap.nominet.uk/uk/')
  assert.equal(rdapServer('example.io'), 'https://rdap.identitydigital.services/rdap/')
  assert.equal(rdapServer('example.invalid'), null)
})

test('the samples say that they are samples, and do not age', async () => {
  const data = sampleRegistrations(clock)
  assert.equal(data.source, 'fixed_sample')
  const age = async () => {
    const found = await data.lookup('young.example')
    return found.kind === 'registered' ? Math.floor((now_ms - found.at_ms) / 86_400_000) : null
  }
  assert.equal(await age(), 10)
  now_ms += 400 * 86_400_000
  assert.equal(await age(), 10)
  assert.equal(word(await data.lookup('unheard-of.com')), 'no_sample')
})
