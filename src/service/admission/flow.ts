/** How much of the service is in use now. */
export interface ObservedFlow {
  in_flight(): { free: number; paid: number }
  /** Free calls whose input is read, and requests that are no calls, that wait for their turn. */
  waiting(): number
  /** Clients with calls in flight. */
  clients(): number
}
