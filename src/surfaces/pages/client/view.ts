/** Scrolls to an answer that is out of view: it may be below its form, or start far above the submit button of a long form. */
export function bringIntoView(pane: HTMLElement): void {
  const { top } = pane.getBoundingClientRect()
  if (top < 0 || top > window.innerHeight * 0.7) pane.scrollIntoView({ block: 'start' })
}
