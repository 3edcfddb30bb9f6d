/** URIs and their templates, by form alone. */

/** A scheme and no characters that RFC 3986 forbids everywhere; letters beyond ASCII pass, as in IRIs. */
export function isUri(text: string): boolean {
  return text.length <= 8_192 && /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(text)
}

/** One variable of an expression: a name, a prefix length or an explode mark (RFC 6570, 2.3 and 2.4). */
const VARIABLE = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9][0-9]{0,3}|\*)?$/

/** Whether a text is a template of RFC 6570. Operators that it reserves for later are refused. */
export function isUriTemplate(text: string): boolean {
  if (text === '' || text.length > 8_192) return false
  for (const [index, part] of text.split('{').entries()) {
    const end = part.indexOf('}')
    const literal = index === 0 ? part : part.slice(end + 1)
    if (/[\s<>"}|\\^`]/.test(literal)) return false
    if (index === 0) continue
    if (end === -1 || !isExpression(part.slice(0, end))) return false
  }
  return true
}

function isExpression(expression: string): boolean {
  const variables = expression.replace(/^[+#./;?&]/, '')
  return variables.split(',').every((variable) => variable.length <= 256 && VARIABLE.test(variable))
}
