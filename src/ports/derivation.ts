/** Values that nobody can guess without the deployment's secret. */
export interface Derivation {
  /** HMAC-SHA256 of `tag|text` as UTF-8: 64 lower-case hexadecimal digits, the same for the same words. A tag holds no bar. */
  hmac(tag: string, text: string): string
}
