import { readFileSync, writeFileSync } from 'node:fs'
import { STORED_TABLES } from '../src/adapters/store/stored-columns.ts'
import type { StoredForm, StoredTable } from '../src/adapters/store/stored-columns-kinds.ts'
import { INVOICE_RULES, limits, WEBHOOK_RULES } from '../src/service/limits.ts'

/** Writes docs/operating/privacy.md from the list of the store's columns: `node scripts/privacy-page.ts`; with `--check` it only compares. */

const PAGE = 'docs/operating/privacy.md'
const DAY_MS = 86_400_000

const INTRODUCTION = `# What is stored, where, how long, and how to erase it

Made by \`node scripts/privacy-page.ts\` from the list of the store's columns (\`src/adapters/store/stored-columns.ts\`): each column of each table is in the
table below once. A test sends a marker in every text field of every endpoint and tool and looks for it in every table, file and log line; it is found only
where the table says "in clear" or "published".

**Sealed** texts are encrypted (AES-256-GCM) with a key that is derived from the secret of the deployment (\`ASSAY_SECRET_FILE\`) and bound to their row.
A copy of the store without that file does not open them. Keep the secret out of the backups of the store.

**Invoices.** Names, memo, order number, return URL and bank details are erased ${INVOICE_RULES.retention_days} days after the invoice ended: after its due date and its last change,
whichever is later. ${INVOICE_RULES.retention_days} days let a merchant reconcile and audit a business year after the month in which it is closed; set
\`ASSAY_INVOICE_RETENTION_DAYS\` to what your privacy notice says. \`assay invoice erase <invoice id>\` erases one now, while the service runs. Erased
for good are also the events and subscriptions of that invoice and the names that bank statements gave. Amounts, hashes, signatures, times and transactions on the
chain are kept, so receipts, the ledger and payments still verify, and late deposits still reach the merchant. The record, page and PDF then say when it
was erased. Two things can no longer be done: sign the invoice, and recompute a signature of the merchant that covered its bank details.

**Stores of earlier releases** held invoices and events in clear. They are readable, and are sealed from the first start on, 50 rows a transaction; the job
\`seal-texts\` does it, and \`select count(*) from invoice where sealed = 0\` shows what is left. An instance of an earlier release cannot read what a new one has
sealed: finish the upgrade quickly ([Upgrades](upgrades.md)).

**Copies.** SQLite overwrites the erased bytes of a row in its file. Pages that it divided earlier may have older copies, and its write-ahead log has them until it
is next reset, at the latest when the service stops: after an upgrade, or an erasure that must leave no trace, stop the service and run
\`sqlite3 assay.sqlite vacuum\`. PostgreSQL keeps them until it vacuums (\`vacuum full invoice, webhook_delivery\` removes them immediately) and in its archived log. Backups have them until you delete these; delete the
backups from before an erasure, or erase again after a restore. Receivers of webhooks, and callers, have what they were sent.

**Requests under way.** An answer that repeats an invoice, such as that of the tool that created it, is stored sealed for ${limits.answer_kept_ms / DAY_MS} day like any other answer, and is not erased earlier. Events that
were delivered are kept ${WEBHOOK_RULES.delivered_kept_ms / DAY_MS} days, those given up ${WEBHOOK_RULES.dead_kept_ms / DAY_MS} days.

**Outside the store.** The data folder has keys (\`secret.key\`, \`receipt-keys.json\`, \`log.key\`), the head of the public log, and in the sandbox its chain. Log
lines have ids of requests, tools, outcomes and times, and the request id that a caller chose (\`X-Client-Request-Id\`); no input, address of a client or other text of a caller. Accounts and transactions are on a public chain, where they cannot be erased.
`

const FORMS: Readonly<Record<StoredForm, string>> = {
  clear: '**in clear**',
  published: 'in clear: published',
  sealed: 'sealed',
  keyed_hash: 'keyed hash',
  hash: 'hash',
  chain: 'in clear: on the chain',
  own: 'in clear: of the service',
}
const ORDER = Object.keys(FORMS)

function rowsOf(name: string, { holds, kept, erase, columns }: StoredTable): string[] {
  const sorted = columns.toSorted((one, other) => ORDER.indexOf(one.form) - ORDER.indexOf(other.form))
  return sorted.map((column) => {
    const names = column.names.map((one) => `\`${one}\``).join(', ')
    return `| \`${name}\` (${holds}): ${names} | ${column.holds} | ${FORMS[column.form]} | ${column.kept ?? kept} | ${column.erase ?? erase} |`
  })
}

/** Without the padding of a formatter, which would make it four times as long. */
function privacyPage(): string {
  const rows = Object.entries(STORED_TABLES).flatMap(([name, table]) => rowsOf(name, table))
  const table = ['| where | what | stored as | how long | how to erase |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
  return `${INTRODUCTION}\n${table}\n`
}

const page = privacyPage()
if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} differs from src/adapters/store/stored-columns.ts: run node scripts/privacy-page.ts`)
  process.exitCode = 1
}
