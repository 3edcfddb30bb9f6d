/**
 * Loads the script of an island when it is first used, so that a page stays small for those who only read. A click that came before the
 * script is repeated afterwards, and so is the choice of a file; typed text stays, since inputs are uncontrolled.
 */
export function hydrateOnUse(id: string, load: () => Promise<unknown>): void {
  const island = document.getElementById(id)
  if (island === null) return
  const listeners = new AbortController()
  let clicked: HTMLElement | null = null
  let picked: HTMLInputElement | null = null
  let loading = false
  const failed = document.createElement('p')
  failed.className = 'problem'
  failed.setAttribute('role', 'alert')
  failed.textContent = 'This form could not be loaded. Check your connection, then try again.'
  const start = async () => {
    try {
      await load()
    } catch {
      loading = false
      island.before(failed)
      return
    }
    failed.remove()
    listeners.abort()
    picked?.dispatchEvent(new Event('change', { bubbles: true }))
    clicked?.click()
  }
  const use = (event: Event) => {
    if (event.type === 'click' && event.target instanceof HTMLElement) {
      const button = event.target.closest<HTMLElement>('button:not([data-copies])')
      if (button !== null) {
        event.preventDefault()
        clicked = button
      }
    }
    if (event.target instanceof HTMLInputElement && event.target.type === 'file' && event.type === 'input') picked = event.target
    if (loading) return
    loading = true
    void start()
  }
  for (const type of ['pointerover', 'focusin', 'input', 'click', 'dragenter']) {
    island.addEventListener(type, use, { capture: true, signal: listeners.signal })
  }
}
