#!/usr/bin/env node
import { EXIT_CODES } from './cli/errors.ts'
import { loadFast } from './cli/fast-imports.ts'

loadFast()

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, closes the pipe: this is not an error.
  if (error.code === 'EPIPE') process.exit(EXIT_CODES.ok.code)
  process.stderr.write(`assay: standard output cannot be written (${error.code ?? 'unknown reason'}).\n`)
  process.exit(EXIT_CODES.output.code)
})

const { dispatch } = await import('./cli/dispatch.ts')
process.exitCode = await dispatch(process.argv.slice(2))
