/** A setting as it may be shown: what a URL keeps secret is masked, and numbers that JSON cannot hold are text. */
export function shownSetting(value: string | number | bigint | null | readonly string[] | Readonly<Record<string, number>>): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return maskUrl(value)
  return Array.isArray(value) ? value.map((one: string) => maskUrl(one)) : value
}

/** Keys of providers stand in the path or the query as often as passwords stand before the host. */
function maskUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const url = URL.parse(text)
  if (url === null) return '***'
  // The user and the name of a database are no secrets; in other URLs both places hold keys.
  const database = /^postgres(?:ql)?:$/.test(url.protocol)
  const path = database || url.pathname === '/' ? url.pathname.replace(/^\/$/, '') : '/***'
  return `${url.protocol}//${maskedUser(url, database)}${url.host}${path}${url.search === '' ? '' : '?***'}`
}

function maskedUser({ username, password }: URL, database: boolean): string {
  if (username === '' && password === '') return ''
  return database ? `${username}${password === '' ? '' : ':***'}@` : '***@'
}
