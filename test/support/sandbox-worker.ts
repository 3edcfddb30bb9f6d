/**
 * A service that runs a sandbox chain, to be killed. Says `ready` when its code is loaded, waits for a line, starts the chain, writes
 * {rpc_url, owned} as one line, and stops it when its standard input ends.
 */
import { writeSync } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { startSandboxChain, type SandboxOptions } from '../../src/adapters/chain/sandbox.ts'

const STDOUT = 1
const options = JSON.parse(process.argv[2] ?? '') as SandboxOptions
const lines = createInterface(process.stdin)
const closed = once(lines, 'close')
writeSync(STDOUT, 'ready\n')
await once(lines, 'line')
const chain = await startSandboxChain(options)
writeSync(STDOUT, `${JSON.stringify({ rpc_url: chain.rpc_url, owned: chain.owned })}\n`)
await closed
await chain.stop()
