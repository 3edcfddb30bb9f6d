import { isObject } from '../../../pure/is-object.ts'

/**
 * Shows the free calls left today in the header of every page. The layout reserves its space, so that nothing shifts when the number
 * arrives. The first limit received is the one that all tools share; a tool with a different limit has a separate allowance.
 */
export function showAllowance(allowance: unknown): void {
  const place = document.getElementById('allowance')
  if (place === null || !isObject(allowance)) return
  const { remaining, limit } = allowance
  if (typeof remaining !== 'number' || typeof limit !== 'number') return
  place.dataset['limit'] ??= String(limit)
  const whose = place.dataset['limit'] === String(limit) ? '' : ' of this tool'
  place.textContent = `${remaining} of ${limit} free calls${whose} left today`
}

/** Asks the service, which counts nothing for it. Where it does not answer, nothing is claimed. */
export async function readAllowance(): Promise<void> {
  try {
    const response = await fetch('/v1/allowance')
    if (response.ok) showAllowance(await response.json())
  } catch {
    // Offline: the place stays empty.
  }
}
