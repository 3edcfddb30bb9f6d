import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { BundleReport } from '../../../pure/audit/verify-bundle.ts'
import { markOf, type HeadlineRule, type HeadlineTone } from '../../../pure/headline.ts'
import { isObject } from '../../../pure/is-object.ts'
import { SIGNED_FIELDS, TAIL_FIELDS } from '../../../pure/receipts/receipt.ts'
import { labelOf } from '../../../service/catalogue/answer-view.ts'
import { CHECK_HEADLINES, headlineReader } from '../../../service/catalogue/headlines.ts'
import type { AssessedDocument, PolicyAssessment, ReceiptAssessment } from '../client/verify/assess.ts'
import type { ReceiptInput } from '../client/verify/documents.ts'
import { html } from '../html.ts'
import { FactTables } from './facts.ts'
import { amountText, Seal, timeText } from './receipt-proof.ts'
import { SmallVerdict, Verdict } from './verdict.ts'

/** Headline rules by tool, for tools that have their own. */
export type ToolHeadlines = Readonly<Record<string, readonly HeadlineRule[]>>

/** A document with its decision first, then each check, seal and keys, and what it states. */
export function AssessedDocumentView({ assessed, headlines }: { assessed: AssessedDocument; headlines: ToolHeadlines }) {
  const { details } = assessed
  return html`
    <${Verdict} headline=${assessed} />
    ${details.kind === 'receipt' && html`<${ReceiptDetails} ...${details} headlines=${headlines} />`}
    ${details.kind === 'policy' && html`<${PolicyDetails} ...${details} />`}
    ${details.kind === 'bundle' && html`<${BundleDetails} report=${details.report} />`}
  `
}

const BUNDLE_STATES = { failed: 'bad', not_checked: 'neutral', valid: 'good' } as const

/** Checks of a bundle, failures first; each valid part is listed too. */
function BundleDetails({ report: { service, made_at, checks } }: { report: BundleReport }) {
  const listed = (['failed', 'not_checked', 'valid'] as const).flatMap((state) => checks.filter((check) => check.state === state))
  const rows = listed.map(({ state, pointer, message }): ReceiptCheck => ({
    name: pointer,
    tone: BUNDLE_STATES[state],
    message,
    fields: [],
  }))
  return html`
    <p class="scope-line">
      Made ${made_at} for ${service}. Not proved: that results are right; that money moved; that the bundle has every answer; who made it.
      This page does not run tools again; <code>assay verify bundle.json</code> does.
    </p>
    <section class="proof large" id="bundle-parts" aria-label="Parts of the bundle"><${CheckList} checks=${rows} /></section>
  `
}

interface ReceiptDetailsProps {
  input: ReceiptInput
  assessment: ReceiptAssessment
  headlines: ToolHeadlines
}

function ReceiptDetails({ input, assessment, headlines }: ReceiptDetailsProps) {
  const { tone, receipt, result_matches, key, key_list } = assessment
  const fields = isObject(input.receipt) ? input.receipt : null
  const of_service = receipt.valid && key !== null && key_list === 'service'
  const checks = listChecks(assessment, input)
  const decision = receipt.valid && result_matches === true && isObject(input.result) ? toolDecision(input.result, headlines) : null
  return html`
    ${
      decision !== null &&
      html`<p class="decided">
        The tool’s decision: <${SmallVerdict} mark=${markOf(decision.tone)} word=${decision.word} /> ${decision.sentence}
      </p>`
    }
    <section class="proof large" aria-label="Checks, seal and keys">
      <${CheckList} checks=${checks} />
      <${SealAndKeys}
        digest=${receipt.digest}
        broken=${tone === 'bad'}
        rows=${[
          ['Digest', receipt.digest ?? 'none: the receipt has no signed text'],
          ['Declared signer', receipt.declared_signer ?? 'none'],
          ['Recovered signer', receipt.signer_recovered ?? 'none'],
        ]}
      />
    </section>
    ${
      receipt.warnings.length > 0 &&
      html`<section class="reasons">
        <h3>Warnings</h3>
        <ul>${receipt.warnings.map(({ field, message }) => html`<li>${field !== null && html`<code>${field}</code> `}${message}</li>`)}</ul>
      </section>`
    }
    ${fields !== null && html`<${ReceiptFields} receipt=${fields} valid=${receipt.valid} checks=${checks} />`}
    ${receipt.canonical !== null && html`<${SignedText} text=${receipt.canonical} />`}
    ${of_service && html`<${LogProof} key=${receipt.digest} digest=${receipt.digest} signature=${fields?.['signature']} />`}
  `
}

/** Decision of the result that the receipt was issued for. */
function toolDecision(result: Readonly<Record<string, unknown>>, headlines: ToolHeadlines) {
  const tool = String(result['tool'])
  return headlineReader((Object.hasOwn(headlines, tool) ? headlines[tool] : undefined) ?? CHECK_HEADLINES)(result)
}

const CHECK_ANSWERS = { good: 'Valid', caution: 'Open', bad: 'Not valid', neutral: 'Not checked' } as const

function CheckList({ checks }: { checks: readonly ReceiptCheck[] }) {
  return html`<ul class="bare checks" aria-label="Checks">
    ${checks.map(
      ({ name, tone, message }) =>
        html`<li class=${markOf(tone)}>
          <svg class="shape" aria-hidden="true"><use href=${`#mark-${markOf(tone)}`}></use></svg>
          <b>${name}</b> <span class="heard">${CHECK_ANSWERS[tone]}.</span> <span class="words">${message}</span>
        </li>`,
    )}
  </ul>`
}

function SealAndKeys({
  digest,
  broken,
  rows,
}: {
  digest: string | null
  broken: boolean
  rows: readonly [label: string, value: string][]
}) {
  return html`
    <${Seal} digest=${digest} broken=${broken} />
    <dl>${rows.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
  `
}

interface ReceiptFieldsProps {
  receipt: Readonly<Record<string, unknown>>
  valid: boolean
  checks: readonly ReceiptCheck[]
}

/** Signed fields of the receipt; those that a failed check is about are marked. */
function ReceiptFields({ receipt, valid, checks }: ReceiptFieldsProps) {
  const title = valid ? 'Signed fields' : 'Fields as claimed'
  const faulty = checks.flatMap(({ tone, fields }) => (tone === 'bad' ? fields : []))
  const names = [...SIGNED_FIELDS, ...TAIL_FIELDS].filter((name) => Object.hasOwn(receipt, name))
  if (names.length === 0) return null
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}>
    <table class="facts">
      <caption>${title}</caption>
      <tbody>
        ${names.map(
          (name) =>
            html`<tr class=${faulty.includes(name) ? 'at-fault' : undefined}>
              <th scope="row">${FIELD_LABELS[name] ?? labelOf(name)}${faulty.includes(name) && html`<span class="fault-word">at fault</span>`}</th>
              <td>${fieldText(name, receipt[name])}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

const FIELD_LABELS: Readonly<Record<string, string>> = { v: 'Format', ts: 'Issued', amount: 'Amount paid' }

function fieldText(name: string, value: unknown): string {
  if (name === 'ts' && typeof value === 'number') return `${timeText(value)} (${value})`
  if (name === 'amount' && typeof value === 'string' && value !== '0') return `${amountText(value)} (${value})`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Text whose hash is signed; its separators are emphasized. */
function SignedText({ text }: { text: string }) {
  const pieces = text.split('|').flatMap((piece, index): (VNode | string)[] => (index === 0 ? [piece] : [html`<b>|</b>`, piece]))
  return html`<figure class="sample">
    <figcaption>Signed text<button type="button" class="copy" data-copies="canonical">Copy</button></figcaption>
    <pre id="canonical" class="wrapped" tabindex="0">${pieces}</pre>
  </figure>`
}

function PolicyDetails({ given, assessment }: { given: unknown; assessment: PolicyAssessment }) {
  const { tone, policy, registrar_published } = assessment
  const { digest, registrar, registrar_signed, underwriter, underwriter_signed, underwriter_attested, status_proved } = policy
  const signerText = (address: string | null, signed: boolean) =>
    address === null ? 'none' : `${address}: ${signed ? 'signed this record' : 'has not signed this record'}`
  const publishedText = registrar_published === true ? 'yes, and its key was valid at the date of issue' : 'no'
  const rows = [
    ['Digest', digest ?? 'none: the certificate has no signed text'],
    ['Status proved by signatures', status_proved ?? 'none'],
    ['Registrar', signerText(registrar, registrar_signed)],
    ['Registrar published here', registrar_published === null ? 'not checked' : publishedText],
    [
      'Underwriter',
      underwriter_attested
        ? `${underwriter}: its contract wallet accepted the countersignature, as the registrar attests`
        : signerText(underwriter, underwriter_signed),
    ],
  ]
  return html`
    <p class="scope-line">
      Not proved: that the underwriter is an insurer, licensed or solvent; that a premium was paid or a claim will be.
    </p>
    <section class="proof large" aria-label="Seal and keys"><${SealAndKeys} digest=${digest} broken=${tone === 'bad'} rows=${rows} /></section>
    ${isObject(given) && html`<h3>${policy.valid ? 'The record' : 'The record as claimed'}</h3><${FactTables} facts=${given} />`}
  `
}

interface LogFinding {
  tone: HeadlineTone
  word: string
  sentence: string
}

/** Checks that a receipt of this service is in its transparency log, by a pasted proof or by the one that the service has. */
function LogProof({ digest, signature }: { digest: string; signature: string }) {
  const [finding, setFinding] = useState<LogFinding | null>(null)
  const [busy, setBusy] = useState(false)
  const check = async (readProof: (entry: string) => Promise<string>) => {
    setBusy(true)
    setFinding(await checkLog(digest, signature, readProof))
    setBusy(false)
  }
  const pasted = () => document.querySelector<HTMLTextAreaElement>('#log-proof')?.value.trim() ?? ''
  return html`<details>
    <summary>Proof that it is in the transparency log</summary>
    <p class="hint">A receipt is in the log within a minute. Loading the proof sends a hash of the receipt, not the receipt.</p>
    <p class="send">
      <button type="button" class="plain" id="log-load" disabled=${busy} onClick=${() => void check(loadProof)}>Load the proof from this service</button>
    </p>
    <div class="field">
      <label for="log-proof">or paste a proof <span class="kind">C2SP tlog-proof</span></label>
      <textarea id="log-proof" rows="4" autocomplete="off" autocapitalize="off" spellcheck=${false}></textarea>
    </div>
    <p class="send">
      <button type="button" class="plain" id="log-check" disabled=${busy} onClick=${() => void check(() => Promise.resolve(`${pasted()}\n`))}>
        Check the pasted proof
      </button>
    </p>
    <p id="log-finding" role="status">
      ${finding !== null && html`<${SmallVerdict} mark=${markOf(finding.tone)} word=${finding.word} /> ${finding.sentence}`}
    </p>
  </details>`
}

async function loadProof(entry: string): Promise<string> {
  return loadText(`/log/proof/${entry}`)
}

/** Text of an answer. Throws an error with the detail of the problem if there is one. */
async function loadText(path: string): Promise<string> {
  const response = await fetch(path)
  if (response.ok) return response.text()
  const { detail } = (await response.json()) as { detail?: unknown }
  throw new Error(typeof detail === 'string' ? detail : `The service answered with status ${response.status}.`)
}

/** Loads the verifier of the log and its key when they are first needed. */
async function checkLog(digest: string, signature: string, readProof: (entry: string) => Promise<string>): Promise<LogFinding> {
  try {
    const { logEntry, readVerifierKey, verifyLogProof } = await import('../../../pure/log/checkpoint.ts')
    const [entry, key] = [logEntry(digest, signature), readVerifierKey((await loadText('/log/key')).trim())]
    if (entry === null || key === null) return { tone: 'caution', word: 'Not checked', sentence: 'The key of the log cannot be read.' }
    const hex = [...entry].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const { valid, reason, index, checkpoint } = verifyLogProof(await readProof(hex), entry, key)
    if (!valid) return { tone: 'bad', word: 'Not proved', sentence: reason }
    const position = `Entry ${index} of the log ${checkpoint?.origin}, which had ${checkpoint?.size} entries.`
    return { tone: 'good', word: 'In the log', sentence: position }
  } catch (error) {
    return { tone: 'caution', word: 'Not checked', sentence: error instanceof Error ? error.message : 'The log could not be reached.' }
  }
}

/** One check of a receipt: `good`, `caution`, `bad`, or `neutral` if it was not made. */
interface ReceiptCheck {
  name: string
  tone: HeadlineTone
  message: string
  /** Fields of the receipt that the message is about. */
  fields: readonly string[]
}

type RunCheck = (assessment: ReceiptAssessment, input: ReceiptInput) => Omit<ReceiptCheck, 'name'> | null

/** Returns the checks of a receipt in the order in which it can fail them. */
export function listChecks(assessment: ReceiptAssessment, input: ReceiptInput): ReceiptCheck[] {
  return Object.entries(CHECKS).flatMap(([name, run]) => {
    const check = run(assessment, input)
    return check === null ? [] : [{ name, ...check }]
  })
}

const FORMAT_WARNINGS: readonly string[] = ['off_grammar', 'signer_case', 'unsigned_fields']

const CHECKS: Readonly<Record<string, RunCheck>> = {
  Fields({ receipt }) {
    const faults = receipt.canonical === null ? receipt.findings : []
    if (faults.length > 0) return { tone: 'bad', message: messagesOf(faults), fields: fieldsOf(faults) }
    const warnings = receipt.warnings.filter(({ code }) => FORMAT_WARNINGS.includes(code))
    if (warnings.length > 0) return { tone: 'caution', message: messagesOf(warnings), fields: fieldsOf(warnings) }
    return { tone: 'good', message: `All ${SIGNED_FIELDS.length} signed fields are present and match the XDR-1 format.`, fields: [] }
  },
  Signature({ receipt }) {
    if (receipt.canonical === null)
      return { tone: 'neutral', message: 'Not checked: without valid fields there is no signed text.', fields: [] }
    if (receipt.valid) return { tone: 'good', message: 'The declared signer signed exactly this text.', fields: [] }
    const mismatch = receipt.findings.every(({ code }) => code === 'signer_mismatch' || code === 'not_recoverable')
    if (!mismatch) return { tone: 'bad', message: messagesOf(receipt.findings), fields: fieldsOf(receipt.findings) }
    const message =
      'It does not match this text and this signer. One signature covers all fields, so it does not show which one was changed: a field, ' +
      'the declared signer or the signature itself.'
    return { tone: 'bad', message, fields: ['signature'] }
  },
  Key({ receipt, key, key_list }) {
    if (!receipt.valid) return { tone: 'neutral', message: 'Not checked: the signature is not valid.', fields: [] }
    if (receipt.signer_published === 'not_checked')
      return { tone: 'caution', message: 'Unknown signer: the key list of this service could not be loaded.', fields: [] }
    if (key === null)
      return { tone: 'caution', message: 'Unknown signer: the key is not on the key list of this service.', fields: ['signer'] }
    if (receipt.signer_valid_at_ts !== true)
      return { tone: 'bad', message: receipt.warnings.at(-1)?.message ?? 'The key was not valid at that time.', fields: ['signer', 'ts'] }
    const { status, mode, chain_id, not_before, not_after } = key
    const until = not_after === null ? '' : ` to ${timeText(not_after)}`
    const list = key_list === 'pasted' ? 'On the key list that you pasted' : 'Published by this service'
    return {
      tone: 'good',
      message: `${list}: ${status}, ${mode}, chain ${chain_id}, valid from ${timeText(not_before)}${until}.`,
      fields: [],
    }
  },
  Result({ result_matches }) {
    switch (result_matches) {
      case null:
        return { tone: 'neutral', message: 'Not checked: paste the whole answer to compare its result with the receipt.', fields: [] }
      case true:
        return { tone: 'good', message: 'The hash of the result is output_hash: the receipt was issued for this result.', fields: [] }
      case false:
        return {
          tone: 'bad',
          message: 'The hash of the result is not output_hash: the result was changed, or belongs to another receipt.',
          fields: ['output_hash'],
        }
    }
  },
  Link({ link }, { chain }) {
    if (chain === undefined) return null
    if (link === null) return { tone: 'neutral', message: 'Not checked: the receipt has no digest and signer to link.', fields: [] }
    return { tone: link.valid ? 'good' : 'bad', message: link.reason, fields: [] }
  },
}

type Findings = ReceiptAssessment['receipt']['findings']

function messagesOf(findings: Findings): string {
  return findings.map(({ field, message }) => (field === null ? message : `${field}: ${message}`)).join(' ')
}

function fieldsOf(findings: Findings): string[] {
  return findings.flatMap(({ field }) => (field === null ? [] : [field]))
}
