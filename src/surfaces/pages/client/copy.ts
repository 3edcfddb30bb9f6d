/** Buttons with `data-copies` copy the text of the element that they name. */
export function copyOnClick(): void {
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
