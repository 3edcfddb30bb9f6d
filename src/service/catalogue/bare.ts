import { PROBLEMS, type Problem } from '../problems.ts'

/**
 * The one tool that also takes its fields without `input`, and then answers with the members of its result beside the receipt instead of
 * under `result`: so it was published, and so its clients call it.
 */
const BARE_TOOL = 'token-contract-risk'

/** Whether this tool, as the caller names it, may be called with its fields bare. */
export function takesBare(tool: string): boolean {
  return tool.replaceAll('_', '-') === BARE_TOOL
}

/** The problem as that tool tells it: what is invalid says so, of what was not read nothing is known, and each has a reason. */
export function withVerdict(tool: string | null, found: Problem): Problem {
  if (tool === null || !takesBare(tool)) return found
  const valid = PROBLEMS[found.code].status === 400 ? false : null
  return { ...found, extra: { valid, reason: found.code.toLowerCase(), ...found.extra } }
}

/** The problem of a bare body: its pointers count from the body itself. */
export function ofBareBody(found: Problem): Problem {
  return { ...found, errors: found.errors.map((error) => ({ ...error, pointer: error.pointer.replace(/^\/input/, '') })) }
}
