import assert from 'node:assert/strict'

type Members = Record<string, unknown>

/** A JSON document at an address, as an object. */
export async function readJson(url: string, accept = 'application/json'): Promise<Members> {
  const response = await fetch(url, { headers: { accept } })
  assert.equal(response.status, 200, url)
  return asMembers(await response.json())
}

/** The value as an object; fails when it is none. */
export function asMembers(value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  return assert.fail(`not an object: ${JSON.stringify(value)?.slice(0, 80)}`)
}

/** The value as a list of objects. */
export function asList(value: unknown): Members[] {
  assert.ok(Array.isArray(value))
  return value.map(asMembers)
}

/** What stands at a path of keys. */
export function at(value: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((found, key) => {
    const members = asMembers(found)
    assert.ok(Object.hasOwn(members, key), `${key} is missing`)
    return members[key]
  }, value)
}
