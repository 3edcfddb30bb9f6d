import { resolve } from 'node:path'
import { describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

/**
 * Process that runs the test files it is sent, one after the other, so that modules are loaded and compiled once. Each file is a suite: its
 * hooks apply to it alone. This module is the program as well as its reporter, which sends the parent each result.
 */

/** A test, or the suite of a file, that has ended. */
export interface Ended {
  file: string
  /** Names from the suite of the file, exclusive, down to the test; empty for the file itself. */
  path: string[]
  ms: number
  /** Description of the failure; empty when the tests inside describe theirs, undefined when the test passed. */
  fault?: string
  /** Reason why the test did not run; a test that ran has none. */
  skipped?: string
}

interface Event {
  type: string
  data: {
    name: string
    nesting: number
    message?: string
    skip?: string | boolean
    details?: { duration_ms?: number; error?: Error & { failureType?: string } }
  }
}

export default async function* reporter(events: AsyncIterable<Event>): AsyncGenerator<string> {
  const names: string[] = []
  for await (const { type, data } of events) {
    if (type === 'test:start') names.splice(data.nesting, Infinity, data.name)
    // An action of a test after its end fails the process; all other remarks are counts.
    if (type === 'test:diagnostic' && data.message?.includes('after the test ended')) process.stderr.write(`${data.message}\n`)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const [file, ...path] = [names[0] ?? data.name, ...names.slice(1, data.nesting), ...(data.nesting > 0 ? [data.name] : [])]
    const ended: Ended = { file, path, ms: data.details?.duration_ms ?? 0, ...skipOf(data.skip) }
    process.send?.(type === 'test:pass' ? ended : { ...ended, fault: faultOf(data.details?.error) })
  }
  yield ''
}

/** Node leaves the member out for a test that ran; a test without a reason has an empty text. */
function skipOf(skip: string | boolean | undefined): Pick<Ended, 'skipped'> {
  if (skip === undefined || skip === false) return {}
  return { skipped: typeof skip === 'string' && skip !== '' ? skip : 'no reason given' }
}

/** Text of a failure; that of a suite is left to its tests. */
function faultOf(error: (Error & { failureType?: string }) | undefined): string {
  return error?.failureType === 'subtestsFailed' ? '' : inspect(error?.cause ?? error)
}

function runFile(file: string): void {
  describe(file, async () => void (await import(pathToFileURL(resolve(file)).href)))
}

/** Ends when nothing is left open; a server or timer that a file did not close fails the run. */
function end(): void {
  process.off('disconnect', stop)
  process.disconnect()
  setTimeout(() => {
    process.stderr.write(`Tests left open: ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit(1)
  }, 30_000).unref()
}

/** Ends with the parent, which sends the files and reads the results. */
function stop(): never {
  process.exit(1)
}

// Each service and chain that a test starts has a listener for the end of the process.
process.setMaxListeners(0)
process.on('disconnect', stop)
process.on('message', (file: string) => (file === '' ? end() : runFile(file)))
