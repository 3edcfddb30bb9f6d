import { once } from 'node:events'
import { createSocket } from 'node:dgram'

/** Answer of a name server: IPv4 addresses, NXDOMAIN, SERVFAIL, or nothing at all. */
export type NameAnswer = readonly string[] | 'unknown' | 'failed' | 'silent'

export interface NameServer {
  /** `address:port`, as `Resolver.setServers` takes it. */
  place: string
  /** Names that were asked for, one for each query of type A. */
  asked: string[]
  stop(): Promise<void>
}

const TYPE_A = 1
const RCODES = { unknown: 3, failed: 2 } as const

/** DNS server on this machine (RFC 1035) with the answers of a function; names have no address of type AAAA. */
export async function startNameServer(answerOf: (name: string) => NameAnswer): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    if (type === TYPE_A) asked.push(name)
    const answer = answerOf(name)
    if (answer !== 'silent') socket.send(responseTo(query.subarray(0, end), type === TYPE_A ? answer : []), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    place: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Header and question of the query, then one record of type A for each address. */
function responseTo(query: Buffer, answer: Exclude<NameAnswer, 'silent'>): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer
  const head = Buffer.from(query)
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? RCODES[answer] : 0), 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const records = addresses.map((address) => Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]))
  return Buffer.concat([head, ...records])
}
