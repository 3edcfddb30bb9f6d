#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Before anything else is loaded: what is compiled once need not be compiled at the next call.
enableCompileCache()

// A reader that has seen enough, such as head, closes the pipe: that is no fault and ends the command quietly.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const { dispatch } = await import('./cli/dispatch.ts')
process.exitCode = await dispatch(process.argv.slice(2))
