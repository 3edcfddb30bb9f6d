import { readAllowance } from './allowance.ts'

/** Script of every page: free calls left, the current page in the navigation, `/` for the search, copy buttons. */

markPlace()
copyOnClick()
document.addEventListener('keydown', findSearch)
void readAllowance()

function markPlace(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#site a')) {
    const { pathname } = new URL(link.href)
    const own =
      pathname === '/' ? location.pathname === '/' || location.pathname.startsWith('/tools/') : location.pathname.startsWith(pathname)
    if (own) link.setAttribute('aria-current', location.pathname === pathname ? 'page' : 'true')
  }
}

/** `/` leads to the search field, except while typing in another. */
function findSearch(event: KeyboardEvent): void {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return
  const field = document.getElementById('search')
  if (!(field instanceof HTMLInputElement)) return
  event.preventDefault()
  field.focus()
  field.select()
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

/** Buttons with `data-copies` copy the text of the element that they name. */
function copyOnClick(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('button[data-copies]') : null
    const source = button && document.getElementById(button.dataset['copies'] ?? '')
    if (button && source) void copy(button, source)
  })
}

async function copy(button: HTMLButtonElement, source: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = 'Copied'
  } catch {
    // No clipboard outside a secure context: the text is selected, so that a key copies it.
    getSelection()?.selectAllChildren(source)
    button.textContent = 'Selected'
  }
}
