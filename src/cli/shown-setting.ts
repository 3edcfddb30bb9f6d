/** A setting as it may be shown: what a URL keeps secret is masked. Lists and tables of numbers stay what they are. */
export function shownSetting(value: string | number | readonly string[] | Readonly<Record<string, number>>): unknown {
  if (typeof value === 'string') return maskUrl(value)
  return Array.isArray(value) ? value.map((one: string) => maskUrl(one)) : value
}

/** Keys of providers stand in the path or the query as often as passwords stand before the host. */
function maskUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const url = URL.parse(text)
  if (url === null) return '***'
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : ':***'}@`
  const database = /^postgres(?:ql)?:$/.test(url.protocol) ? url.pathname : maskedPath(url.pathname)
  return `${url.protocol}//${user}${url.host}${database}${url.search === '' ? '' : '?***'}`
}

function maskedPath(path: string): string {
  return path === '/' || path === '' ? '' : '/***'
}
