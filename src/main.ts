import { loadFast } from './cli/fast-imports.ts'

loadFast()

// `npm start` is `assay serve`.
const { dispatch } = await import('./cli/dispatch.ts')
process.exitCode = await dispatch(['serve', ...process.argv.slice(2)])
