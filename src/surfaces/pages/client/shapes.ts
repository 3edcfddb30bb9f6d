export type Members = Record<string, unknown>

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
