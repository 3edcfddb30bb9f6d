import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * `open` carries bytes both ways. `cut` breaks every connection and refuses new ones. `lost` is a network that swallows: nothing arrives on
 * either side, not even that a side has hung up, and new connections are taken and never answered.
 */
type LinkState = 'open' | 'cut' | 'lost'

/** A TCP connection between a service and its database that can fail. */
export interface Link {
  /** The same database, reached through the link. */
  through(store: string): string
  become(state: LinkState): void
  /** New connections lead to this server, as a proxy of a cluster does after a failover. */
  leadTo(target: string): void
  /** Becomes lost as soon as the service has said this once; what it said has still gone through. */
  loseAfter(said: string): void
  stop(): Promise<void>
}

interface Pair {
  near: Socket
  far: Socket
}

export async function startLink(target: string): Promise<Link> {
  let led_to = new URL(target)
  const pairs = new Set<Pair>()
  let state: LinkState = 'open'
  let awaited: string | null = null

  /** Not even an end goes through while the link is lost. */
  function end({ near, far }: Pair): void {
    if (state === 'lost') return
    near.destroy()
    far.destroy()
  }

  function carry(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (bytes: Buffer) => {
      to.write(bytes)
      if (awaited === null || from !== pair.near || !bytes.includes(awaited)) return
      awaited = null
      become('lost')
    })
    for (const event of ['end', 'error', 'close']) from.on(event, () => end(pair))
  }

  function accept(near: Socket): void {
    if (state === 'cut') return void near.destroy()
    const far = connect({ port: Number(led_to.port), host: led_to.hostname })
    const pair = { near, far }
    pairs.add(pair)
    far.on('close', () => pairs.delete(pair))
    carry(pair, near, far)
    carry(pair, far, near)
    if (state === 'lost') for (const socket of [near, far]) socket.pause()
  }

  function become(next: LinkState): void {
    state = next
    for (const pair of pairs) {
      if (next === 'cut' || (next === 'open' && (pair.near.destroyed || pair.far.destroyed))) end(pair)
      else for (const socket of [pair.near, pair.far]) socket[next === 'open' ? 'resume' : 'pause']()
    }
  }

  const server = createServer({ allowHalfOpen: true }, accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    through(store) {
      const url = new URL(store)
      url.host = `127.0.0.1:${port}`
      return url.href
    },
    become,
    leadTo: (next) => (led_to = new URL(next)),
    loseAfter: (said) => (awaited = said),
    async stop() {
      become('cut')
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
