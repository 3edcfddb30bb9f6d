import { html } from 'hono/html'
import { STATEMENT } from '../../pure/protocols/check.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../pure/protocols/rule.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { limits } from '../../service/limits.ts'
import { partShown, RULE_PARTS } from '../../service/preflight/rules.ts'
import type { AppDeps } from '../deps.ts'
import { layout, type Markup } from './layout.ts'

const KIB = 1_024

/** How the protocols are called among those who use them. */
const SHORT: Readonly<Record<ProtocolId, string>> = {
  ucp: 'UCP',
  acp: 'ACP',
  mcp: 'MCP',
  ap2: 'AP2',
  x402: 'x402',
  'micro-ast': 'Micro-AST',
  a2a: 'A2A',
}

/** `/preflight`: a document of one of the protocols, checked as it is typed, each finding at its place. */
export function preflightPage(deps: AppDeps): string {
  const main = html`<div class="lead">
      <h1>Preflight</h1>
      <p>
        Checks a document of an agent protocol against selected rules before anybody acts on it. The document is sent to this service, which
        checks it and keeps nothing: neither the document nor what was found. Free, ${deps.preflight_per_minute} documents a minute.
      </p>
    </div>
    <form
      class="desk"
      id="preflight"
      data-parts="${JSON.stringify(parts(deps))}"
      data-body-bytes="${limits.preflight_body_bytes}"
      data-depth="${limits.preflight_depth}"
      data-nodes="${limits.preflight_nodes}"
    >
      ${protocolChoice()} ${editorMarkup()} ${reportMarkup()}
    </form>`
  return layout({ title: 'Preflight · assay', mark: modeMark(deps), main, script: 'preflight', style: 'preflight' })
}

/** What the script says of each part of the rules before any answer is there. */
function parts(deps: AppDeps) {
  return RULE_PARTS.map((part) => {
    const { id, title, versions, document_types, uncovered_types, not_checked, rules } = partShown(part, deps.origins.base_url)
    const types = [...document_types, ...uncovered_types]
    return { id, title, versions, types, not_checked, rules: rules.length, prefix: rules[0]?.code.replace(/-.*/, '') ?? '' }
  })
}

function protocolChoice(): Markup {
  return html`<div class="choices">
    <fieldset class="protocols">
      <legend>protocol</legend>
      ${PROTOCOL_IDS.map(
        (id, index) =>
          html`<label
            ><input type="radio" name="protocol" value="${id}" ${index === 0 ? 'checked' : ''} /> <span>${SHORT[id]}</span></label
          > `,
      )}
      <p class="hint" id="protocol-title"></p>
    </fieldset>
    <div class="field">
      <label for="document-type">document type <span class="kind">optional</span></label>
      <select id="document-type" name="document_type" aria-describedby="about-type"></select>
      <p class="hint" id="about-type">State it where the shape of the document could mean another type.</p>
    </div>
    <div class="field">
      <label for="version">version <span class="kind">optional</span></label>
      <select id="version" name="version" aria-describedby="about-version"></select>
      <p class="hint" id="about-version">Version of the protocol to check by.</p>
    </div>
    <div class="field">
      <label for="payee">expected payee <span class="kind">optional</span></label>
      <input
        id="payee"
        name="expected_payee"
        maxlength="${limits.preflight_payee_chars}"
        aria-describedby="about-payee"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
      />
      <p class="hint" id="about-payee">Whom you mean to pay: an address, an id or a host. Another payee is a finding.</p>
    </div>
  </div>`
}

function editorMarkup(): Markup {
  return html`<section class="paper" aria-labelledby="document-title">
    <div class="bar">
      <h2 id="document-title"><label for="document">document</label> <span class="kind">JSON</span></h2>
      <div class="acts">
        <button type="button" class="quiet" id="sample-correct">Correct example</button>
        <button type="button" class="quiet" id="sample-faulty">Faulty example</button>
        <button type="button" class="quiet" id="open">Open a file</button>
        <button type="button" class="quiet" id="indent">Indent</button>
        <input type="file" id="file" accept=".json,application/json,text/plain" hidden />
      </div>
    </div>
    <div class="editor" id="editor">
      <div class="gutter" aria-hidden="true"></div>
      <div class="sheet">
        <pre class="under" aria-hidden="true"></pre>
        <textarea
          id="document"
          aria-describedby="about-document"
          wrap="off"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          placeholder="Paste a document, or drop a file here."
        ></textarea>
      </div>
    </div>
    <p class="foot">
      <span class="hint" id="about-document"
        >At most ${limits.preflight_body_bytes / KIB} KiB. Redact secrets first: put [REDACTED] in their place.</span
      >
      <span class="hint size" id="size">0 bytes</span>
    </p>
    <p class="send"><button type="submit">Check now</button> <span class="hint" id="asking" role="status"></span></p>
    <noscript
      ><p class="hint">
        This page needs a script of this site. In a shell: <code>assay preflight</code>, or <code>POST /v1/protocols/check</code>.
      </p></noscript
    >
  </section>`
}

function reportMarkup(): Markup {
  return html`<section class="answer" id="answer" aria-label="Findings">
      <p class="empty">Findings will stand here while you type, each with its line, its rule and what to do.</p>
      <p class="empty">No document at hand? Take an example: a correct one, or a faulty one.</p>
    </section>
    <section class="scope" aria-label="Scope">
      <h2>Checked</h2>
      <div id="checked"></div>
      <h2>Not checked</h2>
      <ul id="not-checked"></ul>
      <p id="statement">${STATEMENT}</p>
    </section>`
}
