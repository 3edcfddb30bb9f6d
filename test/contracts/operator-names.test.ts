/** Hosts of the operator: the last address is used while name servers fail or stay silent, for a bounded time. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { lastAddressLookup, type LookupResult } from '../../src/adapters/public-https/operator-names.ts'
import { nameLimits } from '../../src/service/limits.ts'
import { clockAt } from '../support/clock-at.ts'

interface Asked {
  host: string
  done: LookupResult
}

/** A system whose name servers answer when the test says so. */
function bench() {
  const state = { now_ms: 0 }
  const asked: Asked[] = []
  const lookup = lastAddressLookup(
    (host, _options, done) => void asked.push({ host, done }),
    clockAt(() => state.now_ms),
  )
  const ask = (host: string) => {
    const results: unknown[] = []
    lookup(host, {}, (error, address, family) => void results.push(error === null ? [address, family] : error.code))
    return results
  }
  const answer = (address: string) => asked.shift()?.done(null, address, 4)
  const fail = (code: string) => asked.shift()?.done(Object.assign(new Error(code), { code }), '', 0)
  return { state, asked, ask, answer, fail }
}

describe('the last address', () => {
  // attack: outages or silence that stop payments, registers and feeds
  // in: outgoing requests and stored data
  // asset: name resolution
  // attacker: name servers of the operator's hosts
  // defence: the last address of each is used for a day when its name servers fail or stay silent for 2 s; one look-up a name;
  //   certificates are checked against the name
  test('is used when name servers fail, for a day, and is replaced by each new answer', () => {
    const { state, ask, answer, fail } = bench()
    const first = ask('rpc.example')
    answer('192.0.2.1')
    const second = ask('rpc.example')
    fail('EAI_AGAIN')
    assert.deepEqual([first, second], [[['192.0.2.1', 4]], [['192.0.2.1', 4]]])
    const third = ask('rpc.example')
    answer('192.0.2.2')
    state.now_ms = nameLimits.address_kept_ms - 1
    const fourth = ask('rpc.example')
    fail('EAI_FAIL')
    state.now_ms += 1
    const late = ask('rpc.example')
    fail('EAI_AGAIN')
    assert.deepEqual([third, fourth, late], [[['192.0.2.2', 4]], [['192.0.2.2', 4]], ['EAI_AGAIN']])
  })

  test('is not used for a name that no longer exists, nor for another name', () => {
    const { ask, answer, fail } = bench()
    ask('rpc.example')
    answer('192.0.2.1')
    const gone = ask('rpc.example')
    fail('ENOTFOUND')
    const other = ask('other.example')
    fail('EAI_AGAIN')
    assert.deepEqual([gone, other], [['ENOTFOUND'], ['EAI_AGAIN']])
  })

  test('one look-up of a name runs at a time; a silent server delays those with a last address by two seconds', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { asked, ask, answer } = bench()
    const first = [ask('rpc.example'), ask('rpc.example'), ask('feed.example')]
    assert.deepEqual(
      asked.map(({ host }) => host),
      ['rpc.example', 'feed.example'],
    )
    answer('192.0.2.1')
    assert.deepEqual(first, [[['192.0.2.1', 4]], [['192.0.2.1', 4]], []])
    const later = [ask('rpc.example'), ask('rpc.example')]
    assert.equal(asked.length, 2)
    t.mock.timers.tick(nameLimits.slow_ms - 1)
    assert.deepEqual(later, [[], []])
    t.mock.timers.tick(1)
    assert.deepEqual(later, [[['192.0.2.1', 4]], [['192.0.2.1', 4]]])
    asked.at(-1)?.done(null, '192.0.2.9', 4)
    assert.deepEqual(later, [[['192.0.2.1', 4]], [['192.0.2.1', 4]]], 'each is answered once')
  })

  test('is that of fetch, of connections and of the resolver of the system in a process that keeps it', async () => {
    const server = createServer((_request, response) => void response.end('served')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    // The name server of the process answers once and fails then; each fetch opens a connection of its own.
    const script = `
      import dns from 'node:dns'
      let asked = 0
      dns.lookup = (host, options, done) => {
        asked += 1
        if (asked > 1) return done(Object.assign(new Error('failed'), { code: 'EAI_AGAIN' }))
        return options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)
      }
      const { keepLastAddresses } = await import('./src/adapters/public-https/operator-names.ts')
      keepLastAddresses({ steady_ms: () => performance.now() })
      const answers = []
      for (const _ of [1, 2, 3]) {
        const response = await fetch('http://rpc.example:${port}/', { headers: { connection: 'close' } })
        answers.push(await response.text())
      }
      console.log(JSON.stringify({ answers, asked }))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: process.cwd() })
    server.close()
    const { answers, asked } = JSON.parse(stdout) as { answers: string[]; asked: number }
    assert.deepEqual(answers, ['served', 'served', 'served'])
    assert.ok(asked >= 2, String(asked))
  })
})
