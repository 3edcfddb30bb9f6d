/** Lets works of one name run one after the other, in order of arrival, and works of different names at once. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  async take<Outcome>(name: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const before = this.#last.get(name)
    let done: (() => void) | undefined
    const mine = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#last.set(name, mine)
    try {
      await before
      return await work()
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name)
      done?.()
    }
  }
}
