/**
 * Requests of a load generator, and its measurements. The generator in this folder reads the former from its argument and prints the
 * latter as JSON.
 */

export interface LoadSpec {
  port: number
  path: string
  headers: Record<string, string>
  /**
   * A header that no two requests share, a line of the file each. Connection c sends lines c, c + connections and so on, each after the answer
   * to the one before it; the run fails when a connection has no lines left.
   */
  each: { header: string; file: string } | null
  /** The status of a right answer. */
  status: number
  /** Request number n carries body n modulo their count. */
  bodies: string[]
  /** Request number n comes from client n modulo this count, by X-Forwarded-For. */
  clients: number
  connections: number
  /** Pause of a connection after a wrong answer, like that of a client that obeys Retry-After. */
  rest_ms: number
  warm_up_s: number
  measured_s: number
  /** The server, whose processor time is read around the measured time. */
  server_pid: number
}

export interface LoadResult {
  /** Right answers within the measured time. */
  answers: number
  seconds: number
  /** Answers of another status than the right one and broken connections, warm-up included. */
  wrong: number
  /** The first wrong answer with its status, cut; null when there was none or the generator keeps no answers. */
  first_wrong: string | null
  p50_ms: number
  p99_ms: number
  max_ms: number
  server_cpu_s: number | null
  generator_cpu_s: number
  /** Number of correct answers including warm-up; null if the generator does not report it. */
  answers_ever: number | null
  /** Answers taken out of the measured time, for a look at what they say. */
  samples: Sample[]
}

export interface Sample {
  /** Index into `bodies`. */
  body: number
  /** Unique header value of the request. */
  carried: string | null
  answer: string
}

/** Documentation and benchmark addresses: 198.18.0.0/15 (RFC 2544). */
export function clientAddress(client: number): string {
  return `198.18.${client >> 8}.${client & 255}`
}
