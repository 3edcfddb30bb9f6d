/** Revisions with the `initialize` handshake, newest first. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18']

/** The revision in which each message says all that the server must know of the client. */
export const STATELESS_VERSION = '2026-07-28'
