/** Limits of datasets and of reading their feeds. */
export const datasetLimits = {
  /** Maximum size of a snapshot's text in bytes; the names of OFAC's SDN list have about 4 MB. */
  snapshot_bytes: 33_554_432,
  /** Interval in ms at which each process looks for a newly activated snapshot. */
  poll_ms: 10_000,
  /** Interval in ms at which a folder, or a publisher's server, is read. */
  folder_every_ms: 60_000,
  server_every_ms: 3_600_000,
  /** Total time in ms of reading one document, and number of redirects. */
  read_ms: 300_000,
  redirects: 3,
  accept: 'application/xml, text/xml;q=0.9, application/json;q=0.9, text/plain;q=0.7, application/octet-stream;q=0.5',
  /** Maximum size of one element of a publisher's document, in characters. */
  element_chars: 4_194_304,
  /** Number of stored snapshots that are listed. */
  listed: 200,
  /** Number of texts that a process caches for readers. */
  cached_texts: 4,
} as const
