import type { TargetedDragEvent } from 'preact'

/** Saves a file in the way of this browser. */
export function saveFile(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}

type AreaEvent = TargetedDragEvent<HTMLElement>

/** Handlers of an element that takes dropped files; it has the class `over` while files are above it. */
export function dropArea(take: (files: readonly File[], area: HTMLElement) => void) {
  const mark = ({ currentTarget }: AreaEvent, over: boolean) => currentTarget.classList.toggle('over', over)
  return {
    onDragOver(event: AreaEvent) {
      if (event.dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      mark(event, true)
    },
    onDragLeave: (event: AreaEvent) => mark(event, false),
    onDrop(event: AreaEvent) {
      mark(event, false)
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length === 0) return
      event.preventDefault()
      take(files, event.currentTarget)
    },
  }
}
