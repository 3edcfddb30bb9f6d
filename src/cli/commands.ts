import { unknownName, CliError } from './errors.ts'
import { JSON_OPTIONS, OPERATOR_COMMANDS } from './operator-commands.ts'
import { RECONCILE_OPTIONS, VALIDATE_OPTIONS } from './message-options.ts'
import { parseArgs } from 'node:util'

/** Commands with their help texts; each command is implemented in the file of its name. */

export interface Command {
  summary: string
  usage: readonly string[]
  options: Options
  /** Maximum number of arguments that are not options. */
  most_words: number
  notes: readonly string[]
}

/** Options of a command that calls a running service. */
const SERVICE_OPTIONS = {
  'payer-key-file': {
    type: 'string',
    value: 'file',
    meaning: 'File with the private key that pays after the free calls; only its owner may have access.',
  },
  'max-usdc': { type: 'string', value: 'amount', meaning: 'Maximum price of one call in USDC, such as 0.05.' },
} as const

export const COMMANDS = {
  serve: {
    summary: 'Serve REST, MCP and the documents about them.',
    usage: ['assay serve [--workers 4 | auto]'],
    options: {
      workers: {
        type: 'string',
        value: 'count',
        meaning: 'Number of processes that share the port and the store, or auto for one per core (live mode).',
      },
    },
    most_words: 0,
    notes: [
      'Settings are environment variables; "assay doctor" lists them. SIGINT or SIGTERM waits for running calls; a second signal stops immediately.',
    ],
  },
  call: {
    summary: 'Run a tool on this machine, or call it at a service.',
    usage: [
      "assay call <tool> '<json>' | @file | -",
      'assay call <tool> --jsonl < inputs.jsonl > answers.jsonl',
      "assay call <tool> '<json>' --url https://… [--payer-key-file file --max-usdc 0.05]",
    ],
    options: {
      jsonl: { type: 'boolean', meaning: 'Read one input object per line from standard input and write one answer per line, in order.' },
      'no-receipt': { type: 'boolean', meaning: 'With --jsonl: write only results, without receipts; faster.' },
      'prev-receipt-hash': { type: 'string', value: '0x…', meaning: 'Link the receipt to an earlier one by its digest.' },
      brief: { type: 'boolean', meaning: 'Write the brief form of the answer, for models: a few lines, or their facts as JSON.' },
      url: { type: 'string', value: 'origin', meaning: 'Call the tool at this service; without it the tool runs on this machine.' },
      ...SERVICE_OPTIONS,
      resume: { type: 'string', value: 'file', meaning: 'With --url: send a payment again whose answer did not arrive. Signs nothing.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: [
      'The input is the JSON object of the tool, without a wrapper; @file reads it from a file, - from standard input. Without --url it uses no free',
      'call and costs nothing. Network: a tool that reads a chain, prices, exchange rates or registrations queries its sources: in live mode public ones,',
      'in the sandbox fixed samples and the chain of a running sandbox. Other tools use no network; "assay tools <tool>" says what is read. Receipts are signed with the key of this deployment, which is created in the data folder if it is missing.',
      'With --url only that service is called. Its receipt is verified before the answer is shown, and nothing is signed above --max-usdc.',
      'With --jsonl every line gets exactly one answer, {"result":…,"receipt":…} or {"problem":{"line":…,…}}, including empty lines, lines',
      'that are not UTF-8 and lines that are too long. Lines end with LF or CR LF; the last one may have no terminator.',
    ],
  },
  tools: {
    summary: 'List the tools, or show one.',
    usage: ['assay tools [family]', 'assay tools <tool>'],
    options: JSON_OPTIONS,
    most_words: 1,
    notes: [],
  },
  verify: {
    summary: 'Verify receipts, offline.',
    usage: ['assay verify <receipt.json | -> [--keys xdr-1.json] [--input input.json] [--result result.json] [--log proof]'],
    options: {
      keys: { type: 'string', value: 'file', meaning: "The issuer's published key list, /.well-known/xdr-1.json." },
      input: { type: 'string', value: 'file', meaning: 'Input of the call; checks that the receipt covers it.' },
      result: { type: 'string', value: 'file', meaning: 'Result of the call; checks that the receipt covers it.' },
      log: {
        type: 'string',
        value: 'file',
        meaning: 'Proof that the receipt is in the public log, from /log/proof/{entry} of the issuer.',
      },
      'log-key': { type: 'string', value: 'key', meaning: 'Verifier key of that log, if --keys does not contain it.' },
      witness: { type: 'string', value: 'keys', meaning: 'Verifier keys of witnesses, separated by commas; each must have signed.' },
      'no-replay': { type: 'boolean', meaning: 'With an audit bundle: do not run the tools again.' },
      ...JSON_OPTIONS,
    },
    most_words: 1,
    notes: [
      'Exit code 0: a key on the list signed the receipt and everything given matches. 1: the receipt or the result was altered,',
      'or the signer is not on the list. 3: the signature is valid, but no key list was given, so the issuer is unknown.',
      'Accepts a receipt, {"receipt":…}, a full answer, an array of these, or one of them per line; also compact receipts and links of badges. With several, a link must refer to a receipt',
      'earlier in the file; only the first receipt may refer to one outside it. JSON output has one line per receipt.',
      'Also verifies a POL-1 certificate, as the whole document or under "certificate"; the file must contain nothing else.',
      'An audit bundle is verified part by part: manifest, receipts, inputs, results, links, log proofs under one checkpoint, datasets; tools that',
      'are deterministic are run again. Without --keys the key list of the bundle is used, and the exit code is 3 at best.',
    ],
  },
  sign: {
    summary: 'Sign what an answer asks for, with a key file.',
    usage: [
      'assay sign <kind> <answer.json | -> --key-file file',
      'assay sign invoice-payment <answer.json | -> --key-file file --to 0x… --max-usdc 49.00 --url https://…',
    ],
    options: {
      'key-file': { type: 'string', value: 'file', meaning: 'File with the private key that signs; only its owner may have access.' },
      to: { type: 'string', value: '0x…', meaning: 'Recipient that a payment may have: the merchant of the invoice.' },
      'max-usdc': { type: 'string', value: 'amount', meaning: 'Maximum amount of a payment in USDC, such as 49.00.' },
      url: {
        type: 'string',
        value: 'origin',
        meaning: 'Service that issued the invoice; the payment is compared with it, and sent nowhere else.',
      },
    },
    most_words: 2,
    notes: [
      'The document has a member "sign", as answers and problems that ask for a signature have it; GET /v1/signing of a service lists the kinds. Only a',
      'document of the given kind is signed, and all that is signed is shown on standard error. Standard output gets the signature and the request that',
      'takes it; no signature is sent. A payment is signed only to --to, up to --max-usdc, in USDC, for at most an hour, and with the nonce of its',
      'invoice, which is read from --url. If body_is is merge_patch, send the request that was answered, changed by the body.',
    ],
  },
  bundle: {
    summary: 'Put answers and their proofs into one file for an auditor.',
    usage: ['assay bundle <answers.json …> --url https://… [--inputs inputs.json] [--out bundle.json]'],
    options: {
      url: { type: 'string', value: 'origin', meaning: 'The service that gave the answers.' },
      inputs: {
        type: 'string',
        value: 'file',
        meaning: 'Inputs of the calls: one, an array, or one per line; each goes to the receipts that cover it.',
      },
      checkpoint: {
        type: 'string',
        value: 'file',
        meaning: 'Checkpoint of the log from an earlier audit; the bundle then proves that the log only grew since.',
      },
      'without-datasets': { type: 'boolean', meaning: 'Name datasets by their SHA-256 only, without their texts.' },
      out: { type: 'string', value: 'file', meaning: 'Write the bundle there instead of standard output.' },
    },
    most_words: 200,
    notes: [
      'Files contain answers, receipts, or {"input":…,"answer":…}: one, an array, or one per line. The service is sent hashes of receipts and names of',
      'datasets, never inputs or answers. It adds its key list, log proofs under one checkpoint, and datasets that answers name. A receipt that the log is',
      'still appending is waited for, up to 75 s. "assay verify" and the page /verify verify the file offline. Exit code 1 if a part does not verify.',
    ],
  },
  replay: {
    summary: 'Run a tool again and compare with a receipt.',
    usage: ['assay replay <receipt.json> <input.json> [--dataset <list.json | folder>]'],
    options: {
      dataset: {
        type: 'string',
        value: 'file',
        meaning:
          'Dataset of the answer, or a folder of them, from GET /v1/datasets/{sha256} of the issuer, if it is not that of this release.',
      },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: [
      'The receipt may be the whole document or part of an answer. The input must be covered by the receipt, and the tool must have the same version.',
      'A tool whose result contains its time needs the full answer.',
    ],
  },
  preflight: {
    summary: 'Check documents of agent-commerce protocols, offline.',
    usage: [
      'assay preflight [protocol] <file | folder | -> … [--expected-payee <payee>] [--document-type <type>] [--protocol-version <version>]',
      'assay preflight <folder> --format sarif',
    ],
    options: {
      protocol: {
        type: 'string',
        value: 'protocol',
        meaning: 'ucp, acp, mcp, ap2, x402, micro-ast or a2a; recognised from the document if left out.',
      },
      format: { type: 'string', value: 'format', meaning: 'text, json, sarif, or github for annotations of a workflow.' },
      'expected-payee': {
        type: 'string',
        value: 'payee',
        meaning: 'Recipient that you expect to pay: an address, a merchant id or a host.',
      },
      'document-type': {
        type: 'string',
        value: 'type',
        meaning: 'Document type, such as cart, if the document could be of several types.',
      },
      'protocol-version': { type: 'string', value: 'version', meaning: 'Protocol version to check against, such as 2026-04-08.' },
      ...JSON_OPTIONS,
    },
    most_words: 1_000,
    notes: [
      'A file contains a document as JSON, JSON Lines, a header in Base64, the output of curl -i, an HTTP message, a HAR, a stream of events or a token;',
      'each part is named and checked. Selected structural rules are checked; nothing is fetched and no signature is verified. A document with errors',
      'gives exit code 1, one with warnings only 0, and one whose type or version has no rules 3.',
    ],
  },
  validate: {
    summary: 'Validate ISO 20022 messages and ACH files of any size, offline.',
    usage: ['assay validate <file | folder | -> … [--profile SEPA] [--json | --sarif | --text]'],
    options: { ...VALIDATE_OPTIONS, ...JSON_OPTIONS },
    most_words: 1_000,
    notes: [
      'Gzip and folders are read too. --json writes a line per file. An invalid file gives exit code 1, another format or unknown type 3.',
    ],
  },
  reconcile: {
    summary: 'Reconcile payment files with statements and ACH files of any size.',
    usage: [
      'assay reconcile --instructions <pain.001 | pacs.008> --statement <camt.053> [--ach <file>] [--out <folder> | --jsonl | --csv | --html]',
    ],
    options: { ...RECONCILE_OPTIONS, ...JSON_OPTIONS },
    most_words: 0,
    notes: [
      'Every transfer gets one verdict: SETTLED, UNPAID, AMOUNT_MISMATCH or DUPLICATE_PAYMENT. Files are streamed; records that',
      'would use more than half of the free memory are written to a temporary folder. An entry counts from --days-before days',
      'before the due date to --days-after days after it. If a file cannot be read completely, there are no verdicts and the exit code is',
      '65. Otherwise it is 0, for any verdicts.',
    ],
  },
  keys: {
    summary: 'List, rotate or revoke the receipt keys.',
    usage: ['assay keys list', 'assay keys rotate', 'assay keys revoke <address> --reason <text> [--since <seconds>]'],
    options: {
      reason: { type: 'string', value: 'text', meaning: 'Reason for the revocation; it is published.' },
      since: { type: 'string', value: 'seconds', meaning: 'Unix time from which signatures of the key are invalid; default now.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: ['A running server uses the new key after its next start. Secrets are never shown.'],
  },
  ledger: {
    summary: 'Sum, list or export the payments, or compare them with the chain.',
    usage: ['assay ledger', 'assay ledger list --format csv > payments.csv', 'assay ledger prove'],
    options: {
      from: { type: 'string', value: 'day', meaning: 'First UTC day, YYYY-MM-DD, by the creation of the payment.' },
      to: { type: 'string', value: 'day', meaning: 'Last UTC day, inclusive.' },
      tool: { type: 'string', value: 'id', meaning: 'Id of a tool; invoice for all invoices.' },
      state: { type: 'string', value: 'state', meaning: 'A payment state, such as settled or refused.' },
      format: { type: 'string', value: 'format', meaning: 'table, csv or json.' },
      ...JSON_OPTIONS,
    },
    most_words: 1,
    notes: [
      'Without an action it shows sums by day, tool and state. list writes one payment per line. prove reads every Transfer to the payee',
      'from the chain and compares it with the settled rows: transfers without a row are listed as foreign, and a settled row without its',
      'Transfer gives exit code 1. Nothing is changed, and a running service is not affected.',
    ],
  },
  invoice: {
    summary: 'Create, sign and list invoices; confirm bank transfers with bank statements.',
    usage: [
      'assay invoice create --url https://… --amount 49.00 --key-file <file> [--client-name <name>] [--memo <text>]',
      'assay invoice sign <invoice id> --url https://… --key-file <file>',
      'assay invoice list --url https://… --key-file <file>',
      'assay invoice confirm --statement <camt.053 | camt.054> --url https://… --key-file <file>',
      'assay invoice reconcile --statement <camt.053> [--apply]',
      'assay invoice erase <invoice id>',
      'assay invoice factory',
    ],
    options: {
      url: { type: 'string', value: 'origin', meaning: 'The service that keeps the invoices.' },
      'key-file': {
        type: 'string',
        value: 'file',
        meaning: 'File with the private key of the merchant; only its owner may have access.',
      },
      amount: { type: 'string', value: 'usdc', meaning: 'Amount in USDC, such as 49.00.' },
      merchant: { type: 'string', value: 'address', meaning: 'Wallet that is paid, in place of --key-file: the invoice stays unsigned.' },
      'client-name': { type: 'string', value: 'name', meaning: 'Name of the payer.' },
      memo: { type: 'string', value: 'text', meaning: 'Purpose of the payment; anyone with the id of the invoice can read it.' },
      'bank-iban': { type: 'string', value: 'iban', meaning: 'Account of the merchant, for payers who pay by bank.' },
      'bank-bic': { type: 'string', value: 'bic', meaning: 'BIC of its bank.' },
      'bank-name': { type: 'string', value: 'name', meaning: 'Holder of the account.' },
      'bank-amount': {
        type: 'string',
        value: 'amount',
        meaning: 'Amount that is due at the bank, such as 45.00; no exchange rate is computed.',
      },
      'bank-currency': { type: 'string', value: 'code', meaning: 'Its currency (ISO 4217); EUR if absent.' },
      'bank-reference': { type: 'string', value: 'reference', meaning: 'Creditor reference (ISO 11649); one of the invoice if absent.' },
      statement: {
        type: 'string',
        value: 'file',
        meaning: 'A camt.053, for confirm also a camt.054; may be given several times for reconcile.',
      },
      apply: { type: 'boolean', meaning: 'Store the reported entries with their invoices, each entry once.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: [
      'create, sign, list and confirm call the service. Only statements about invoices (EIP-712, domain "assay invoice") are signed, made on this machine from the',
      'invoice; no transfer can be signed this way. create signs the invoice when a key is given; list shows the invoices that the key has signed.',
      'confirm sends a bank statement, signed by the merchant: one booked entry of the exact amount, with account and reference of an invoice, closes it;',
      'exit code 1 if an invoice that the statement names stays open.',
      'erase removes names, memo, order number, return URL, bank details, webhook events and subscriptions of an invoice for good; amounts, hashes,',
      'signatures and transactions are kept, so that the ledger and receipts still verify. It works while the service runs.',
      'reconcile, erase and factory work on the store of this deployment:',
      'booked entries on the account of ASSAY_BANK_IBAN that name an invoice by its creditor reference (ISO 11649), in the structured field or in',
      'free text, are compared with what the invoice asks for at the bank: its face in US dollars, for an account in USD. For any other currency',
      'no rate is promised, and a transfer is OTHER_CURRENCY. A bank transfer is reported, never claimed: the status stays that of the chain.',
      'factory looks for the contract that forwards deposits to merchants, and prints the transaction that deploys it; exit code 1 while it',
      'is missing.',
    ],
  },
  log: {
    summary: 'Fetch and verify the checkpoint or a proof of the public log of a service, or resume the log of this deployment.',
    usage: [
      'assay log checkpoint --url https://…',
      'assay log proof <receipt.json> --url https://…',
      'assay log resume [--accept size:root --reason "…"]',
    ],
    options: {
      url: { type: 'string', value: 'origin', meaning: 'The service that issued the receipt.' },
      keys: {
        type: 'string',
        value: 'file',
        meaning: "The issuer's key list from an earlier time; by default it is fetched from the service.",
      },
      accept: {
        type: 'string',
        value: 'size:root',
        meaning: 'resume: head of the store from which a new log begins, without the lost entries.',
      },
      reason: { type: 'string', value: 'text', meaning: 'resume: why the loss is accepted; the reason is published.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: [
      'proof writes the proof that the receipt is in the log (C2SP tlog-proof), which "assay verify --log" verifies offline. Exit code 0 if the proof or the',
      'checkpoint is signed by the key of the log, otherwise 1; 69 if the log does not have the receipt.',
      'A log is stopped when the store does not continue what was published. resume shows what is missing (exit code 1). If the store has it after all,',
      'the log resumes on proof; with --accept the log is retired, and a new one with another origin begins at the head of the store.',
    ],
  },
  ...OPERATOR_COMMANDS,
  mcp: {
    summary: 'Serve the tools over MCP on standard input and output.',
    usage: [
      'assay mcp [--family bank,tax] [--small]',
      'assay mcp --url https://… [--payer-key-file file --max-usdc 0.05 --session-usdc 1]',
    ],
    options: {
      url: { type: 'string', value: 'origin', meaning: 'Call the tools of this service; without it they run on this machine.' },
      ...SERVICE_OPTIONS,
      'session-usdc': { type: 'string', value: 'amount', meaning: 'Maximum total of all calls of this process in USDC, such as 1.' },
      family: { type: 'string', value: 'names', meaning: 'List only these families, separated by commas.' },
      small: {
        type: 'boolean',
        meaning: 'List the ten most used tools and two that find and call all others; for models with small contexts.',
      },
    },
    most_words: 0,
    notes: [
      'Standard output contains only protocol messages; notices go to standard error. The command ends when its standard input is closed. Offline, receipts',
      'are signed with the key of this deployment, as with "assay call". With --url every receipt is verified before its answer is passed on, and',
      'nothing is signed above the caps.',
    ],
  },
  'migrate-store': {
    summary: 'Copy a store into an empty one, from SQLite to PostgreSQL or back.',
    usage: ['assay migrate-store --from var/assay.sqlite --to postgres://…'],
    options: {
      from: {
        type: 'string',
        value: 'store',
        meaning: 'Source store: a path or a postgres:// URL. It is only read.',
      },
      to: { type: 'string', value: 'store', meaning: 'Empty target store: a path, created if it does not exist, or a postgres:// URL.' },
      ...JSON_OPTIONS,
    },
    most_words: 0,
    notes: [
      'Stop every instance first: a store in use is refused. All tables are copied in one transaction of the target and read',
      'back; if a row differs, the transaction is rolled back. Keys and secrets are files and not part of a store.',
    ],
  },
  data: {
    summary: 'Show, refresh, import, compare or pin the reference data that is newer than the release.',
    usage: [
      'assay data status',
      'assay data refresh',
      'assay data import <list.xml | snapshot.json>',
      'assay data accept <file>',
      'assay data diff <file | sha256>',
      'assay data pin <sha256>',
      'assay data unpin <dataset>',
    ],
    options: JSON_OPTIONS,
    most_words: 2,
    notes: [
      'refresh reads the feeds now, from the publishers or from ASSAY_DATA_MIRROR. A file becomes active only if it passes every check: form, dates,',
      'bounds, entries that must be present, and the share of rows that it removes; otherwise the active snapshot stays and the exit code is 1.',
      'A pinned snapshot is not replaced by feeds or imports. Running services use a newly active snapshot within 10 s.',
    ],
  },
  doctor: {
    summary: 'Show the settings and check what the service depends on.',
    usage: ['assay doctor'],
    options: JSON_OPTIONS,
    most_words: 0,
    notes: ['Secrets are masked. Missing files are not created, but an existing store is migrated to the current schema, as by a start.'],
  },
  completion: {
    summary: 'Write a completion script for a shell.',
    usage: ['assay completion bash', 'assay completion zsh', 'assay completion fish'],
    options: {},
    most_words: 1,
    notes: [
      'For bash: source <(assay completion bash). For zsh: source <(assay completion zsh). For fish: assay completion fish | source.',
    ],
  },
  help: {
    summary: 'Show help on a command, or the exit codes.',
    usage: ['assay help [command | exit-codes]', 'assay help --man > assay.1'],
    options: { man: { type: 'boolean', meaning: 'Write the manual page (roff), for man.' } },
    most_words: 1,
    notes: [],
  },
} as const satisfies Record<string, Command>

interface Option {
  type: 'boolean' | 'string'
  meaning: string
  /** Name of the value in the help. */
  value?: string
}

type Options = Readonly<Record<string, Option>>

/** Parsed arguments and options of a command. */
export interface Invocation {
  readonly words: readonly string[]
  flag(name: string): boolean
  text(name: string): string | null
}

export const COMMON_OPTIONS: Options = { help: { type: 'boolean', meaning: 'Show the usage of this command.' } }

/** Parses arguments and options. Throws a CliError that names the invalid one and the most similar option. */
export function parseArguments(args: readonly string[], given: Options, most_words: number): Invocation {
  const options = { ...COMMON_OPTIONS, ...given }
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [name, { type, ...(name === 'help' ? { short: 'h' } : {}) }]),
  )
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) if (token.kind === 'option') checkOption(token, options)
  if (positionals.length > most_words) throw new CliError('usage', tooMany(most_words))
  return {
    words: positionals,
    flag: (name) => values[name] === true,
    text: (name) => (typeof values[name] === 'string' ? values[name] : null),
  }
}

function checkOption({ name, rawName, value }: { name: string; rawName: string; value?: string | undefined }, options: Options): void {
  const known = Object.hasOwn(options, name) ? options[name] : undefined
  if (known === undefined) {
    const names = Object.keys(options).map((one) => `--${one}`)
    throw unknownName('option', rawName, names, `Options of this command: ${names.join(', ')}.`)
  }
  if (known.type === 'string' && value === undefined) throw new CliError('usage', `The option ${rawName} needs a value: ${known.meaning}`)
  if (known.type === 'boolean' && value !== undefined) throw new CliError('usage', `The option ${rawName} takes no value.`)
}

function tooMany(most: number): string {
  const words = most === 0 ? 'no arguments' : `at most ${most} argument${most === 1 ? '' : 's'}`
  return `This command takes ${words}. Put a value with spaces in quotation marks.`
}
