import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A server of the cluster: its own port and that of Patroni's REST API, both on loopback. */
export interface ClusterNode {
  name: string
  port: number
  rest_port: number
}

/** One address for clients that leads to the primary. */
export interface PrimaryProxy {
  port: number
  /** The node that Patroni calls the primary. Null: there is none. */
  primary(): ClusterNode | null
  stop(): Promise<void>
}

const LOOK_MS = 100
const ANSWER_MS = 1_000

/**
 * Follows the primary as HAProxy does with the check that Patroni's documentation gives (`option httpchk OPTIONS /primary`,
 * `on-marked-down shutdown-sessions`): connections go to the node whose REST API answers `/primary` with 200, and end when it no longer does.
 */
export async function startPrimaryProxy(nodes: readonly ClusterNode[]): Promise<PrimaryProxy> {
  const stopping = new AbortController()
  const open = new Set<{ node: ClusterNode; sockets: readonly [Socket, Socket] }>()
  let current: ClusterNode | null = null

  function become(next: ClusterNode | null): void {
    current = next
    for (const { node, sockets } of open) if (node !== next) for (const socket of sockets) socket.destroy()
  }

  const looking = (async () => {
    while (!stopping.signal.aborted) {
      const answers = await Promise.all(nodes.map(async (node) => ((await isPrimary(node)) ? [node] : [])))
      const [first = null] = answers.flat()
      if (first !== current) become(first)
      await pause(LOOK_MS)
    }
  })()

  const server = createServer((near) => {
    if (current === null) return void near.destroy()
    const far = connect({ port: current.port, host: '127.0.0.1' })
    const pair = { node: current, sockets: [near, far] as const }
    open.add(pair)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(pair)
        to.destroy()
      })
    }
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    primary: () => current,
    async stop() {
      stopping.abort()
      await looking
      become(null)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function isPrimary({ rest_port }: ClusterNode): Promise<boolean> {
  try {
    const { status } = await fetch(`http://127.0.0.1:${rest_port}/primary`, { method: 'OPTIONS', signal: AbortSignal.timeout(ANSWER_MS) })
    return status === 200
  } catch {
    return false
  }
}
