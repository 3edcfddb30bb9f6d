/** Groups of alternatives that are one character each, such as `([A-Z]|[+/])`. */
const ALTERNATIVES = /\((\[(?:[^\]\\]|\\.)*\](?:\|\[(?:[^\]\\]|\\.)*\])+)\)/g
/** Parts that may remain: characters, escapes, classes with bounded or one unbounded repetition, and groups of those without alternatives. */
const ATOM = String.raw`(?:[A-Z0-9a-z]|-|\\[+]|\[(?:[^\]\\]|\\.)*\])(?:\{\d+(?:,\d+)?\}|[+*])?`
const LINEAR = new RegExp(String.raw`^(?:${ATOM}|\((?:${ATOM})+\)\{\d+(?:,\d+)?\})+$`)

/**
 * Translates a pattern of XML Schema to a JavaScript one (flag `v` off, `u` on) that cannot backtrack: alternatives of single characters
 * become one class, and anything else with alternatives is refused.
 */
export function linearPattern(pattern: string): string {
  const merged = pattern.replace(ALTERNATIVES, (_group, classes: string) => `[${classes.slice(1, -1).replaceAll(']|[', '')}]`)
  const translated = merged.replaceAll(/\{(\d+),\1\}/g, '{$1}')
  if (!LINEAR.test(translated)) throw new Error(`The pattern ${pattern} may not be linear: extend this function.`)
  return translated
}
