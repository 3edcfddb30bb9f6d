import { readAllowance } from './allowance.ts'
import { copyOnClick } from './copy.ts'

/** Script of every page: free calls left, the current page in the navigation, `/` for the search, copy buttons. */

markPlace()
copyOnClick()
document.addEventListener('keydown', findSearch)
void readAllowance()

function markPlace(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#site a, #more a')) {
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
