import { html } from 'hono/html'
import { STATEMENT } from '../../pure/protocols/check.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { partShown, RULE_PARTS, type PartShown, type RulePart, type RuleShown } from '../../service/preflight/rules.ts'
import type { AppDeps } from '../deps.ts'
import { layout, type Markup } from '../pages/layout.ts'

/** `/v1/protocols/rules` for people: all protocols, or one with each of its rules. */
export function rulesPage(deps: AppDeps, part: RulePart | null): string {
  const shown = part === null ? null : partShown(part, deps.origins.base_url)
  const title = shown === null ? 'Rules of the preflight' : `Preflight: ${shown.title}`
  const main = html`<div class="lead">
      <h1>${title}</h1>
      <p>${STATEMENT}</p>
      <p>
        Send a document to <code>POST ${deps.origins.base_url}/v1/protocols/check</code>; it is free. Programs read
        <a href="/v1/protocols/openapi.json">its OpenAPI document</a>, and these rules as JSON.
      </p>
    </div>
    ${shown === null ? partList(deps) : ruleList(shown)}`
  return layout({ title: `${title} · assay`, mark: modeMark(deps), main })
}

function partList(deps: AppDeps): Markup {
  const parts = RULE_PARTS.map((part) => partShown(part, deps.origins.base_url))
  return html`<section>
    <dl class="links">
      ${parts.map(
        ({ id, title, versions, rules }) =>
          html`<div>
            <dt><a href="/v1/protocols/rules?protocol=${id}">${title}</a></dt>
            <dd>${rules.length} rules${versions.length === 0 ? '' : `, versions ${versions.join(', ')}`}</dd>
          </div> `,
      )}
    </dl>
  </section>`
}

function ruleList({ versions, document_types, uncovered_types, not_checked, rules }: PartShown): Markup {
  return html`<section>
      ${versions.length === 0 ? '' : html`<p>Versions: ${versions.join(', ')}. Documents: ${document_types.join(', ')}.</p>`}
      ${uncovered_types.length === 0 ? '' : html`<p>Without rules: ${uncovered_types.join(', ')}.</p>`}
      ${not_checked.length === 0 ? '' : html`<p>Not checked: ${not_checked.join('; ')}.</p>`}
      <p><a href="/v1/protocols/rules">All protocols</a></p>
    </section>
    ${rules.map(ruleSection)}`
}

const SEVERITIES = { error: 'error', warning: 'warning', both: 'error or warning' } as const

function ruleSection({ code, severity, why, hint, spec, good, bad, types, since, until }: RuleShown): Markup {
  const versions = [since === null ? null : `from ${since}`, until === null ? null : `up to ${until}`].filter((words) => words !== null)
  const about = [...versions, ...(types ?? [])].join(', ')
  return html`<section class="family" id="${code}">
    <h2><code>${code}</code> ${SEVERITIES[severity]}</h2>
    <p>${why} ${hint}</p>
    <dl>
      ${
        about === ''
          ? ''
          : html`<div>
              <dt>about</dt>
              <dd>${about}</dd>
            </div> `
      }
      <div>
        <dt>source</dt>
        <dd><a href="${spec.url}" rel="noreferrer">${spec.section}</a></dd>
      </div>
      <div>
        <dt>keeps it</dt>
        <dd><code>${JSON.stringify(good)}</code></dd>
      </div>
      <div>
        <dt>breaks it</dt>
        <dd><code>${JSON.stringify(bad)}</code></dd>
      </div>
    </dl>
  </section> `
}
