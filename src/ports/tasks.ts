/** A task of the agent protocol as it is kept. */
export interface TaskRecord {
  /** Unguessable: knowing it is enough to read the task. The store is handed a keyed hash of it. */
  task_id: string
  /** Keyed hash of the client, never an address; only the number of a client's tasks is counted by it. */
  client: string
  /** Counts the writes from 1; a write names the one before it. */
  revision: number
  /** A worker has the task, or its payment is under way: not deleted to make room for newer tasks. */
  working: boolean
  /** JSON text of the task and of the request to continue; the store is handed it sealed. */
  body: string
  /** Milliseconds since 1970. */
  updated_ms: number
}

export interface TaskStore {
  /** Keeps a new task; of the client's others only the newest stay, so that there are `most`. */
  keep(record: TaskRecord, most: number): Promise<void>
  find(task_id: string): Promise<TaskRecord | null>
  /** Writes `record` over the revision before it; false, with nothing written, when another was faster. */
  change(record: TaskRecord): Promise<boolean>
  /** Forgets what was last written before `before_ms`, and all but the newest `most`; returns how many went. */
  purge(before_ms: number, most: number): Promise<number>
}
