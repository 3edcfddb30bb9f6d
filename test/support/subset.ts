/**
 * Where `actual` fails to hold `expected`, as a JSON pointer with words; null when it holds it. Objects may have more members than
 * expected; arrays have as many elements as expected, each holding its own; everything else is the same value.
 */
export function subsetFault(actual: unknown, expected: unknown, pointer = ''): string | null {
  const at = pointer === '' ? 'the whole' : pointer
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${at} should be an array, not ${show(actual)}`
    if (actual.length !== expected.length) return `${at} should have ${expected.length} elements, not ${actual.length}: ${show(actual)}`
    return firstFault(
      expected.map((_, index) => index),
      (index) => subsetFault(actual[index], expected[index], `${pointer}/${index}`),
    )
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return `${at} should be an object, not ${show(actual)}`
    const [have, want] = [actual as Record<string, unknown>, expected as Record<string, unknown>]
    return firstFault(Object.keys(want), (key) =>
      Object.hasOwn(have, key) ? subsetFault(have[key], want[key], `${pointer}/${key}`) : `${pointer}/${key} is missing`,
    )
  }
  return Object.is(actual, expected) ? null : `${at} should be ${show(expected)}, not ${show(actual)}`
}

function firstFault<Key>(keys: readonly Key[], fault: (key: Key) => string | null): string | null {
  for (const key of keys) {
    const found = fault(key)
    if (found !== null) return found
  }
  return null
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
