/** Documents from files: opened by a button, or let fall onto their field. They are read here and go nowhere before the form is sent. */
export function takeFiles(): void {
  for (const place of document.querySelectorAll<HTMLElement>('.drop')) watch(place)
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-opens]') : null
    if (button !== null) document.getElementById(button.dataset['opens'] ?? '')?.click()
  })
}

function watch(place: HTMLElement): void {
  const field = document.getElementById(place.dataset['into'] ?? '')
  const picker = place.querySelector<HTMLInputElement>('input[type=file]')
  if (!(field instanceof HTMLTextAreaElement) || picker === null) return
  const take = (file: File | undefined) => void (file && read(file, field, Number(place.dataset['most'] ?? Infinity)))
  picker.addEventListener('change', () => {
    take(picker.files?.[0])
    // So that the same file can be opened again after it has changed.
    picker.value = ''
  })
  place.addEventListener('dragover', (event) => {
    event.preventDefault()
    place.classList.add('over')
  })
  place.addEventListener('dragleave', () => place.classList.remove('over'))
  place.addEventListener('drop', (event) => {
    event.preventDefault()
    place.classList.remove('over')
    take(event.dataTransfer?.files[0])
  })
}

async function read(file: File, field: HTMLTextAreaElement, most_chars: number): Promise<void> {
  const text = await textOf(file, most_chars)
  const fault = document.getElementById(`fault-${field.name}`)
  if (fault !== null) {
    fault.textContent = text.ok ? '' : text.words
    fault.hidden = text.ok
  }
  if (!text.ok) return
  field.value = text.text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
}

type FileText = { ok: true; text: string } | { ok: false; words: string }

async function textOf(file: File, most_chars: number): Promise<FileText> {
  // A character takes at most four bytes.
  if (file.size > most_chars * 4) return { ok: false, words: `This file is too long: at most ${most_chars} characters are read.` }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    return text.length <= most_chars
      ? { ok: true, text }
      : { ok: false, words: `This file has ${text.length} characters; at most ${most_chars} are read.` }
  } catch {
    return { ok: false, words: 'This file is no text in UTF-8, or cannot be read.' }
  }
}
