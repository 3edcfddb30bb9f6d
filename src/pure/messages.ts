import type en from '../../data/messages/en.json'

/** Texts of the checkout and of the invoice PDF in one language: `data/messages/<language>.json`. `{name}` is a placeholder. */
export type Messages = typeof en

export type MessageValues = Readonly<Record<string, string>>

/** Fills the placeholders of a message; one without a value stays as it is. */
export function fillMessage(message: string, values: MessageValues = {}): string {
  return message.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
