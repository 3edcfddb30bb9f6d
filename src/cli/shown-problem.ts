import { PROBLEMS, type Problem, type ProblemError } from '../service/problems.ts'
import type { Exit } from './exit-codes.ts'

/** A problem as the command line shows it. Here the input travels without the wrapper `input`, so pointers start one step further in. */
export function shownProblem(found: Problem) {
  const { title, retryable } = PROBLEMS[found.code]
  return { code: found.code, title, detail: found.detail, retryable, errors: found.errors.map(unwrapped) }
}

function unwrapped(error: ProblemError): ProblemError {
  return { ...error, pointer: error.pointer.replace(/^\/input(?=\/|$)/, '') }
}

/** How a command ends that met this problem. */
export function problemExit(found: Problem): Exit {
  switch (PROBLEMS[found.code].fault) {
    case 'caller':
      return 'data'
    case 'source':
      return 'unavailable'
    case 'service':
      return 'internal'
  }
}
