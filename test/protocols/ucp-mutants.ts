/** One place of a document changed into something else. */

/** Takes the place away. */
export const DROPPED = Symbol('dropped')

/** Places of a value as lists of steps; the root is left out. */
export function stepsIn(value: unknown, steps: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [[...steps, name], ...stepsIn(inner, [...steps, name])])
}

/** A copy in which another value stands at a place. */
export function changed(value: unknown, [step, ...rest]: readonly string[], to: unknown): unknown {
  if (step === undefined) return to
  const copy: unknown = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as Record<string, unknown>) }
  const holder = copy as Record<string, unknown>
  const inner = changed(holder[step], rest, to)
  if (inner !== DROPPED) holder[step] = inner
  else if (Array.isArray(copy)) copy.splice(Number(step), 1)
  else delete holder[step]
  return copy
}
