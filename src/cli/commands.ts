import type { Options } from './arguments.ts'
import { JSON_OPTIONS } from './terminal.ts'
import { unknownName } from './unknown-name.ts'

/** The commands: what each is for and how it is used. Its work lies in the file of its name. */

export interface Command {
  summary: string
  usage: readonly string[]
  options: Options
  /** Arguments that are no options, at most. */
  most_words: number
  notes: readonly string[]
}

export const COMMANDS = {
  serve: {
    summary: 'Serve REST, MCP and the documents about them.',
    usage: ['assay serve [--workers 4 | auto]'],
    options: {
      workers: {
        type: 'string',
        value: 'count',
        meaning: 'Processes that share port and store, or auto for one on each core (live mode).',
      },
    },
    most_words: 0,
    notes: [
      'Settings are environment variables; "assay doctor" lists them. SIGINT or SIGTERM lets calls in flight finish; a second one does not.',
    ],
  },
  call: {
    summary: 'Run a tool here, without a server.',
    usage: ["assay call <tool> '<json>' | @file | -", 'assay call <tool> --jsonl < inputs.jsonl > answers.jsonl'],
    options: {
      jsonl: { type: 'boolean', meaning: 'Read one input object a line from standard input; write one line for each, in order.' },
      'no-receipt': { type: 'boolean', meaning: 'With --jsonl: results alone, unsigned and faster.' },
      'prev-receipt-hash': { type: 'string', value: '0x…', meaning: 'Link the receipt to an earlier one by its digest.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: [
      'The input is the object of the tool itself, without a wrapper; @file reads it from a file, - from standard input. It uses no free',
      'call. Tools that read a chain, prices or registrations ask their sources; all others use no network. Receipts are signed by the key of this deployment, which is made in the data folder if missing.',
      'With --jsonl every line gets exactly one line, {"result":…,"receipt":…} or {"problem":{"line":…,…}}; that includes empty lines, lines',
      'that are not UTF-8 and lines that are too long. A line may end in CR LF, and the last may lack its end.',
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
      input: { type: 'string', value: 'file', meaning: 'The input of the call: does the receipt cover it?' },
      result: { type: 'string', value: 'file', meaning: 'The result of the call: does the receipt cover it?' },
      log: { type: 'string', value: 'file', meaning: 'A proof that the receipt is in the public log, /log/proof/{entry} of the issuer.' },
      'log-key': { type: 'string', value: 'key', meaning: 'The verifier key of that log, where --keys does not have it.' },
      witness: { type: 'string', value: 'keys', meaning: 'Verifier keys of witnesses, by commas; each must have signed.' },
      ...JSON_OPTIONS,
    },
    most_words: 1,
    notes: [
      'Ends with 0 when a key of the list signed the receipt and everything given matches; with 1 when the receipt or the result was altered,',
      'or the signer is not on the list; with 3 when the signature is valid but no key list was given, so that the issuer is unknown.',
      'Takes a receipt, {"receipt":…}, a whole answer, an array of these, or one of them a line. With several, a link must lead to a receipt',
      'that stands earlier in the file; only the first may follow one that is not there. JSON output is one line a receipt.',
      'A POL-1 certificate, bare or under certificate, is verified too; it stands alone in its file.',
    ],
  },
  replay: {
    summary: 'Run a tool again and compare with a receipt.',
    usage: ['assay replay <receipt.json> <input.json>'],
    options: JSON_OPTIONS,
    most_words: 2,
    notes: [
      'The receipt may be bare or inside its answer. The input must be the one that the receipt covers, and the tool must have its version.',
      'A tool whose result says when it was made needs the whole answer.',
    ],
  },
  preflight: {
    summary: 'Check a document of an agent-commerce protocol, offline.',
    usage: [
      'assay preflight --protocol x402 <document.json | -> [--expected-payee <payee>] [--document-type <type>] [--protocol-version <version>]',
    ],
    options: {
      protocol: { type: 'string', value: 'protocol', meaning: 'ucp, acp, mcp, ap2, x402, micro-ast or a2a.' },
      'expected-payee': { type: 'string', value: 'payee', meaning: 'Whom you mean to pay: an address, a merchant id or a host.' },
      'document-type': {
        type: 'string',
        value: 'type',
        meaning: 'What kind of document it is, such as cart, where its shape could mean another.',
      },
      'protocol-version': { type: 'string', value: 'version', meaning: 'Version of the protocol to check by, such as 2026-04-08.' },
      ...JSON_OPTIONS,
    },
    most_words: 1,
    notes: [
      'The file holds the document itself. Selected structural rules are applied; nothing is fetched and no signature is verified. A document',
      'with errors ends the command with 1, one with warnings alone with 0, one whose type or version has no rules with 3.',
    ],
  },
  reconcile: {
    summary: 'Reconcile payment files with statements and ACH files of any size.',
    usage: [
      'assay reconcile --instructions <pain.001 | pacs.008> --statement <camt.053> [--ach <file>] [--out <folder> | --jsonl | --csv | --html]',
    ],
    options: {
      instructions: { type: 'string', value: 'file', meaning: 'A pain.001 or pacs.008; may be given several times.' },
      statement: { type: 'string', value: 'file', meaning: 'A camt.053; may be given several times.' },
      ach: { type: 'string', value: 'file', meaning: 'An ACH file; may be given several times.' },
      out: { type: 'string', value: 'folder', meaning: 'Write report.jsonl, report.csv, report.html and summary.json there.' },
      jsonl: { type: 'boolean', meaning: 'Write every row to standard output, one JSON object a line.' },
      csv: { type: 'boolean', meaning: 'Write every row to standard output as CSV.' },
      html: { type: 'boolean', meaning: 'Write one page to read and print to standard output.' },
      'require-settlement-evidence': { type: 'boolean', meaning: 'A freshly originated ACH entry settles nothing.' },
      'days-before': { type: 'string', value: 'days', meaning: 'Entries booked up to so many days before the payment was due count; 10.' },
      'days-after': { type: 'string', value: 'days', meaning: 'Entries booked up to so many days after it count; 90.' },
      ...JSON_OPTIONS,
    },
    most_words: 0,
    notes: [
      'Every transfer gets one verdict: SETTLED, UNPAID, AMOUNT_MISMATCH or DUPLICATE_PAYMENT. Files are streamed; records that',
      'would take more than half of the free memory are spread over a folder for temporary files. An entry counts from --days-before days',
      'before the payment was due to --days-after days after it. When a file cannot be read whole, nothing is judged and the command ends',
      'with 65. Whatever the verdicts, it ends with 0.',
    ],
  },
  keys: {
    summary: 'List, rotate or revoke the receipt keys.',
    usage: ['assay keys list', 'assay keys rotate', 'assay keys revoke <address> --reason <text> [--since <seconds>]'],
    options: {
      reason: { type: 'string', value: 'text', meaning: 'Why the key is revoked; it is published.' },
      since: { type: 'string', value: 'seconds', meaning: 'Unix time from which on nothing that the key signed counts; now if left out.' },
      ...JSON_OPTIONS,
    },
    most_words: 2,
    notes: ['A running server uses the new key after its next start. Secrets are never shown.'],
  },
  ledger: {
    summary: 'Add up, list or export the payments, or prove them by the chain.',
    usage: ['assay ledger', 'assay ledger list --format csv > payments.csv', 'assay ledger prove'],
    options: {
      from: { type: 'string', value: 'day', meaning: 'First UTC day, YYYY-MM-DD, by when the payment was first seen.' },
      to: { type: 'string', value: 'day', meaning: 'Last UTC day, the whole of it.' },
      tool: { type: 'string', value: 'id', meaning: 'One tool; invoice for all invoices.' },
      state: { type: 'string', value: 'state', meaning: 'One state, such as settled or refused.' },
      format: { type: 'string', value: 'format', meaning: 'table, csv or json.' },
      ...JSON_OPTIONS,
    },
    most_words: 1,
    notes: [
      'Without a word it shows sums by day, tool and state. list writes a payment a line, of any number. prove reads every Transfer to pay-to',
      'from the chain and compares it with the settled rows: whoever just sent money is listed as foreign, and a settled row without its',
      'Transfer ends the command with 1. Nothing is changed, and a running service is not disturbed.',
    ],
  },
  invoice: {
    summary: 'Compare invoices with what bank statements report of them.',
    usage: ['assay invoice reconcile --statement <camt.053> [--apply]'],
    options: {
      statement: { type: 'string', value: 'file', meaning: 'A camt.053; may be given several times.' },
      apply: { type: 'boolean', meaning: 'Keep what is reported in the store, each entry once.' },
      ...JSON_OPTIONS,
    },
    most_words: 1,
    notes: [
      'Booked entries on the account of ASSAY_BANK_IBAN that name an invoice by its creditor reference (ISO 11649), in the structured field or in',
      'free text, are compared with what the invoice asks for at the bank: its face in US dollars, for an account in USD. For any other currency',
      'no rate is promised, and a transfer is OTHER_CURRENCY. A bank transfer is reported, never claimed: the status stays that of the chain.',
    ],
  },
  insurers: {
    summary: 'List the underwriters of the insurance directory, or take one out.',
    usage: ['assay insurers list', 'assay insurers remove <address>'],
    options: JSON_OPTIONS,
    most_words: 2,
    notes: [
      'Takes the address of the underwriter or its id (uw_…). Certificates that were made out stay as they are. The same entry does not come',
      'back; its underwriter can register again with an entry that it signs later.',
    ],
  },
  mcp: {
    summary: 'Serve the tools over MCP on standard input and output.',
    usage: [
      'assay mcp [--family bank,tax] [--small]',
      'assay mcp --url https://… [--payer-key-file file --max-usdc 0.05 --session-usdc 1]',
    ],
    options: {
      url: { type: 'string', value: 'origin', meaning: 'Call the tools of this service; else they run here, offline.' },
      'payer-key-file': { type: 'string', value: 'file', meaning: 'Private key that pays beyond the free calls; closed to others.' },
      'max-usdc': { type: 'string', value: 'amount', meaning: 'The most that one call may cost, such as 0.05.' },
      'session-usdc': { type: 'string', value: 'amount', meaning: 'The most that all calls of this process may cost together.' },
      family: { type: 'string', value: 'names', meaning: 'List only these families, parted by commas.' },
      small: { type: 'boolean', meaning: 'List two tools that find and call all others, for models with little room.' },
    },
    most_words: 0,
    notes: [
      'Standard output holds protocol frames alone; remarks go to standard error. It ends when its standard input is closed. Offline, receipts',
      'are signed by the key of this deployment, as with "assay call". With --url every receipt is verified before its answer is passed on, and',
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
        meaning: 'The store that holds everything: a path or a postgres:// URL. It is read, not written.',
      },
      to: { type: 'string', value: 'store', meaning: 'An empty store, made if it is a path that is not there.' },
      ...JSON_OPTIONS,
    },
    most_words: 0,
    notes: [
      'Stop every instance first: a store on which somebody works is refused. All tables are copied in one transaction of the target and read',
      'back; where a row differs nothing is kept. Keys and secrets lie in files and are not part of a store.',
    ],
  },
  doctor: {
    summary: 'Show the settings and check what the service depends on.',
    usage: ['assay doctor'],
    options: JSON_OPTIONS,
    most_words: 0,
    notes: ['Secrets are masked. Nothing is made that is missing, but a store that is there is brought up to date, as by a start.'],
  },
  help: {
    summary: 'Show help on a command, or the exit codes.',
    usage: ['assay help [command | exit-codes]'],
    options: {},
    most_words: 1,
    notes: [],
  },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS

/** The command of this name; throws a CliError that says which one may be meant. */
export function findCommand(name: string): CommandName {
  const names = Object.keys(COMMANDS) as CommandName[]
  const found = names.find((known) => known === name)
  if (found !== undefined) return found
  throw unknownName('command', name, names, 'Run "assay help" to list the commands.')
}
