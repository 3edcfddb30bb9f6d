import { enableCompileCache } from 'node:module'

// Before anything else is loaded: what is compiled once need not be compiled at the next start.
enableCompileCache()

// `npm start` is `assay serve`.
const { dispatch } = await import('./cli/dispatch.ts')
process.exitCode = await dispatch(['serve'])
