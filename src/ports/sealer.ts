/** Keeps text from everybody who reads the store but not the deployment's secret. */
export interface Sealer {
  /** Base64 of the text encrypted and authenticated together with `context`, which opens it again and nothing else does. */
  seal(text: string, context: string): string
  /** Null for what was not sealed under this secret and context. */
  open(sealed: string, context: string): string | null
  /** 64 hexadecimal digits that nobody can guess without the secret; the same for the same context. */
  token(context: string): string
}
