/** Commands with which an operator shows and removes what callers stored, each implemented in the file of its name. */

export const JSON_OPTIONS = {
  json: { type: 'boolean', meaning: 'Write JSON (default for pipes and files).' },
  text: { type: 'boolean', meaning: 'Write text for people, also to a pipe or a file.' },
} as const

export const OPERATOR_COMMANDS = {
  insurers: {
    summary: 'List the underwriters of the insurance directory, or remove one.',
    usage: ['assay insurers list', 'assay insurers remove <address>'],
    options: JSON_OPTIONS,
    most_words: 2,
    notes: [
      'Give the address of the underwriter or its id (uw_…). Issued certificates are not changed. The same entry cannot be registered',
      'again; the underwriter can register with an entry that it signs later.',
    ],
  },
  webhooks: {
    summary: 'List the webhook subscriptions of this deployment, or remove some.',
    usage: [
      'assay webhooks list [--owner 0x… | inv_…] [--host example.com] [--network-hash hash] [--dead]',
      'assay webhooks remove <id>',
      'assay webhooks remove [--owner …] [--host …] [--network-hash …] [--dead]',
    ],
    options: {
      owner: { type: 'string', value: 'owner', meaning: 'Those of this account or invoice.' },
      host: { type: 'string', value: 'host', meaning: 'Those whose receiver has this host, or one below it.' },
      'network-hash': {
        type: 'string',
        value: 'hash',
        meaning: 'Those made from this network (/24, /48) or provider network (/16, /32) on one day; list --json shows both hashes.',
      },
      dead: { type: 'boolean', meaning: 'Those that ended, and those whose receiver failed the last attempts.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: [
      'Several filters must all match; remove needs an id or a filter. Deliveries are removed with their subscription; nothing is sent to its receiver.',
      'The owner removes a subscription with its token: POST /v1/webhooks/{id}/delete.',
    ],
  },
} as const
