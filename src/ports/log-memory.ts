/** Published head of a receipts log. */
export interface RememberedHead {
  size: number
  /** 64 lower-case hexadecimal digits. */
  root: string
  /** The signed checkpoint, without the lines of witnesses. */
  checkpoint: string
}

/** Memory of one machine outside the store: the highest head of each log that an instance here signed or served. */
export interface LogMemory {
  /** The highest head of the log of this key; null when none was kept. Throws when a kept head cannot be read. */
  highest(key_id: string): Promise<RememberedHead | null>
  /** Keeps a head; durable when it resolves. A head smaller than a kept one changes nothing. Rejects when it cannot be written. */
  keep(key_id: string, head: RememberedHead): Promise<void>
}
