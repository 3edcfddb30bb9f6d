/**
 * `node scripts/failover-cluster.ts [--asynchronous]`: runs three PostgreSQL servers under Patroni and etcd, from Debian's packages, until
 * standard input ends, and then removes every trace of them. The first line of output is `{"url": …}` with the address that follows the
 * primary. Orders are lines of standard input, each answered by one line:
 *
 *   primary   waits for a primary that takes writes
 *   lag       stops replication: what is committed from now on is on no standby
 *   kill      SIGKILL for the primary, PostgreSQL and Patroni
 *   rejoin    starts dead nodes again and waits until both standbys follow
 *
 * Without `--asynchronous` Patroni runs with `synchronous_mode`.
 */
import { createInterface, type Interface } from 'node:readline'
import { parseArgs } from 'node:util'
import { clusterPrograms } from './support/cluster-programs.ts'
import { FailoverCluster } from './support/failover-cluster.ts'

const { values } = parseArgs({ options: { asynchronous: { type: 'boolean', default: false } } })
const programs = clusterPrograms()
if (typeof programs === 'string') {
  process.stderr.write(`${programs}\n`)
  process.exit(69)
}

let lines: Interface | null = null
let is_ending = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    is_ending = true
    lines?.close()
  })
}
const write = (answer: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(answer)}\n`)
const started = performance.now()
const cluster = await FailoverCluster.start({ synchronous: !values.asynchronous, programs })
const ORDERS: Record<string, () => Promise<Record<string, unknown>>> = {
  primary: async () => ({ node: await cluster.primary() }),
  async lag() {
    cluster.lag()
    return {}
  },
  kill: async () => ({ node: await cluster.kill() }),
  async rejoin() {
    await cluster.rejoin()
    return {}
  },
}
try {
  write({ url: cluster.url, started_ms: Math.round(performance.now() - started) })
  // Read from here on only: lines that come earlier wait in the pipe.
  lines = createInterface(process.stdin)
  if (is_ending) lines.close()
  for await (const order of lines) {
    const begun = performance.now()
    const answer = (await ORDERS[order]?.()) ?? { unknown: `Orders: ${Object.keys(ORDERS).join(', ')}` }
    write({ order, ...answer, ms: Math.round(performance.now() - begun) })
  }
} finally {
  await cluster.stop()
}
