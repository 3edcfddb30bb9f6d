import type { Messages } from '../../../../pure/messages.ts'

/** Messages that the checkout needs in the browser. */
export type PayMessages = Omit<Messages, 'pdf' | 'language'>
