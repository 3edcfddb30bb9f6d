import { parentPort } from 'node:worker_threads'
import { browserText, type SourceModule } from './browser-modules.ts'

/** Worker thread that removes the types of browser modules: a module in, its text for browsers out, in the same order. */

// Node warns that type stripping by name is experimental; an operator need not read that.
process.emitWarning = () => undefined

parentPort?.on('message', (module: SourceModule) => parentPort?.postMessage(browserText(module), []))
