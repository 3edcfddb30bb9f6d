/** A task of the agent protocol as it is kept. */
export interface TaskRecord {
  /** Unguessable: knowing it is enough to read the task. The store is handed a keyed hash of it. */
  task_id: string
  /** Keyed hashes of the client, of its network (/24, /48) and of its provider's network (/16, /32), never addresses; they only bound what is stored. */
  client: string
  network: string
  provider: string
  /** Counts the writes from 1; a write names the one before it. */
  revision: number
  /** A worker has the task, or its payment is under way: not deleted to make room for newer tasks. */
  working: boolean
  /** The call was paid: not deleted to make room for unpaid tasks. */
  paid: boolean
  /** JSON text of the task and of the request to continue; the store is handed it sealed. */
  body: string
  /** Milliseconds since 1970. */
  updated_ms: number
}

/** Number and bytes of tasks; paid and unpaid ones are counted apart. */
export interface TaskShare {
  tasks: number
  bytes: number
}

export interface TaskBounds {
  client: TaskShare
  network: TaskShare
  provider: TaskShare
}

export interface TaskStore {
  /** Keeps a new task, and of the others of its client, network and provider the newest that are within the bounds. */
  keep(record: TaskRecord, bounds: TaskBounds): Promise<void>
  find(task_id: string): Promise<TaskRecord | null>
  /** Writes `record` over the revision before it; false, with nothing written, when another was faster. Client and networks stay. */
  change(record: TaskRecord): Promise<boolean>
  /** Bytes of the bodies of all tasks. */
  total_bytes(): Promise<number>
  /** Bytes of tasks that may be deleted, by provider, the widest first. */
  unpaid_bytes(limit: number): Promise<{ provider: string; bytes: number }[]>
  /** Of the unpaid tasks of a provider keeps the newest of at most so many bytes. */
  trim_provider(provider: string, bytes: number): Promise<void>
  /** Deletes tasks last written before `before_ms`, unpaid ones before `unpaid_before_ms`, and all but the newest `most`; returns how many. */
  purge(before_ms: number, unpaid_before_ms: number, most: number): Promise<number>
}
