import { defineProtocol, type Context } from '../rule.ts'

export const AP2 = defineProtocol<Context>({
  id: 'ap2',
  title: 'Agent Payments Protocol',
  versions: ['0.2', '0.1'],
  types: ['mandate'],
  not_checked: ['signatures', 'reachability', 'live state'],
  marks: (document) => (document.get('vct').text() ?? '').startsWith('mandate.'),
  detect: () => ({ type: 'mandate', version: '0.2', version_source: 'assumed' }),
  view: (context) => context,
  rules: [],
})
