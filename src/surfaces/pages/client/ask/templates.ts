/** Buttons that put a value of the right shape into a field for JSON: an array gets one more item, anything else is set. */
export function addTemplates(): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-template]') : null
    const field = document.getElementById(button?.dataset['into'] ?? '')
    if (button === null || !(field instanceof HTMLTextAreaElement)) return
    field.value = withTemplate(field.value, button.dataset['template'] ?? '', button.dataset['list'] !== undefined)
    field.dispatchEvent(new Event('input', { bubbles: true }))
    field.focus()
  })
}

function withTemplate(text: string, template: string, list: boolean): string {
  if (!list) return template
  const bare = text.trim()
  const item = template.replaceAll('\n', '\n  ')
  const inner = bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1).trim() : ''
  return inner === '' ? `[\n  ${item}\n]` : `[\n  ${inner},\n  ${item}\n]`
}
