import { isMembers } from './shapes.ts'

/**
 * The free calls that are left today, at the head of every page. Its room is kept from the start, so that nothing moves when it comes. The
 * limit that came first is that of all tools together; a tool with another one has free calls of its own.
 */
export function showAllowance(allowance: unknown): void {
  const place = document.getElementById('allowance')
  if (place === null || !isMembers(allowance)) return
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
