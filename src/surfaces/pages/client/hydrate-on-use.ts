/**
 * Loads the script of an island when it is first used, so that a page stays small for those who only read. A click that came before the
 * script is repeated afterwards, and so is the choice or the drop of files; typed text stays, since inputs are uncontrolled. Returns a
 * function that loads it without a use.
 */
export function hydrateOnUse(id: string, load: () => Promise<unknown>): () => void {
  const island = document.getElementById(id)
  if (island === null) return () => undefined
  const listeners = new AbortController()
  let clicked: HTMLElement | null = null
  let picked: HTMLInputElement | null = null
  let dropped: { target: EventTarget | null; files: DataTransfer } | null = null
  let loading = false
  const failed = document.createElement('p')
  failed.className = 'problem'
  failed.setAttribute('role', 'alert')
  failed.textContent = 'This form could not be loaded. Check your connection, then try again.'
  const start = async () => {
    if (loading) return
    loading = true
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
    dropped?.target?.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: dropped.files }))
  }
  const use = (event: Event) => {
    if (event instanceof DragEvent && event.dataTransfer?.types.includes('Files') === true) {
      // A browser would leave the page to show the file.
      event.preventDefault()
      if (event.type === 'drop') dropped = { target: event.target, files: copyOf(event.dataTransfer.files) }
    }
    if (event.type === 'click' && event.target instanceof HTMLElement) {
      const button = event.target.closest<HTMLElement>('button:not([data-copies])')
      if (button !== null) {
        event.preventDefault()
        clicked = button
      }
    }
    if (event.target instanceof HTMLInputElement && event.target.type === 'file' && event.type === 'input') picked = event.target
    void start()
  }
  for (const type of ['pointerover', 'focusin', 'input', 'click', 'dragenter', 'dragover', 'drop']) {
    island.addEventListener(type, use, { capture: true, signal: listeners.signal })
  }
  return () => void start()
}

/** The files of an event, which has none once its listeners have returned. */
function copyOf(files: FileList): DataTransfer {
  const copy = new DataTransfer()
  for (const file of files) copy.items.add(file)
  return copy
}
