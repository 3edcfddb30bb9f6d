import { objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import { html } from '../html.ts'

/** A refused call: what is wrong, what it cost, what to do. */
export function ProblemView({ problem }: { problem: Members }) {
  const code = textOf(problem['code']) ?? 'UNKNOWN'
  const errors = objectsIn(problem['errors'])
  return html`<div class="problem" role="alert">
    <h2>${textOf(problem['title']) ?? 'The call was refused'}</h2>
    <p>${textOf(problem['detail']) ?? ''}</p>
    ${
      errors.length > 0 &&
      html`<ul class="remarks">
        ${errors.map(({ pointer, message }) => html`<li><code>${textOf(pointer) || 'the body'}</code>${` ${textOf(message) ?? ''}`}</li>`)}
      </ul>`
    }
    <p class="hint">
      ${problem['charged'] === false && 'Nothing was counted or charged. '}
      ${problem['retryable'] === true && 'The same call may succeed later.'}
    </p>
    <p class="hint">
      <a href=${`/problems/${encodeURIComponent(code)}`}><code>${code}</code></a>${` request ${textOf(problem['request_id']) ?? 'unknown'}`}
    </p>
  </div>`
}

/** No response arrived, or one that this service did not write. */
export function NoAnswer({ message }: { message: string }) {
  return html`<div class="problem" role="alert">
    <h2>No answer</h2>
    <p>${message}</p>
    <p class="hint">Your input is still in the form; send it again when you like.</p>
  </div>`
}
