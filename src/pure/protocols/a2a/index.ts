import { defineProtocol, type Context } from '../rule.ts'

export const A2A = defineProtocol<Context>({
  id: 'a2a',
  title: 'Agent2Agent',
  versions: ['1.0', '0.3', '0.2'],
  types: ['agent_card'],
  not_checked: ['signatures', 'reachability', 'live state'],
  marks: (document) => document.has('supportedInterfaces') || (document.has('skills') && document.has('url')),
  detect: () => ({ type: 'agent_card', version: '1.0', version_source: 'assumed' }),
  view: (context) => context,
  rules: [],
})
