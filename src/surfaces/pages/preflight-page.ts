import { PREFLIGHT_STATEMENT } from '../../pure/protocols/check.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import { limits } from '../../service/limits.ts'
import { partShown, RULE_PARTS } from '../../service/preflight/preflight.ts'
import type { AppDeps } from '../deps.ts'
import { PreflightDesk, type PreflightDeskProps } from './components/preflight-desk.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'

/** `/preflight`: a document of one of the protocols, checked as it is typed, each finding at its place. */
export function preflightPage(deps: AppDeps): string {
  const props: PreflightDeskProps = {
    parts: rulePartsOf(deps),
    limits: {
      body_bytes: limits.preflight_body_bytes,
      depth: limits.preflight_depth,
      nodes: limits.preflight_nodes,
      payee_chars: limits.preflight_payee_chars,
    },
    statement: PREFLIGHT_STATEMENT,
  }
  const main = html`
    <div class="lead">
      <h1>Preflight</h1>
      <p>
        Checks a document of an agent protocol against selected rules before you act on it. The document is sent to this service, which
        checks it and stores neither the document nor the findings. Free, ${deps.preflight_per_minute} documents a minute.
      </p>
    </div>
    <${Island} id="desk" component=${PreflightDesk} props=${props} />
  `
  return layout({
    title: 'Preflight · assay',
    mark: modeMark(deps),
    main,
    script: 'preflight',
    styles: ['styles/desk.css', 'styles/preflight.css'],
  })
}

/** Metadata of each group of rules, shown before the first report. */
function rulePartsOf(deps: AppDeps): PreflightDeskProps['parts'] {
  return RULE_PARTS.map((part) => {
    const { id, title, versions, document_types, uncovered_types, not_checked, rules } = partShown(part, deps.origins.base_url)
    const types = [...document_types, ...uncovered_types]
    return { id, title, versions, types, not_checked, rules: rules.length, prefix: rules[0]?.code.replace(/-.*/, '') ?? '' }
  })
}
