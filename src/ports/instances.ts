/** Processes that share a store. One that died is recognised at once, so that another can finish its work. */
export interface Instances {
  /** Id of this process, which counts as running from then on until it ends, however it ends. */
  join(): Promise<string>
  /**
   * Whether the process with this id is running. Errs towards true, as when its machine vanished from the network; a connection to the
   * database that was lost a moment ago can make it false, so the work that is taken over must be guarded by conditional writes.
   */
  isRunning(instance: string): Promise<boolean>
}
