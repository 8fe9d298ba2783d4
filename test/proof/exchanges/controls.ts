// Negative controls of `exchanges`: each breaks the gateway in one way.
import type { LookControl } from '../controls/run-controls.ts';
import type { Finding } from '../finding.ts';
import { killAtSteps, type Changes, type Kill } from './kills.ts';
import { killServerAtSteps } from './postgres.ts';

function lookAt(kill: Kill): (changes: Changes) => Promise<Finding> {
  return async (changes) => killAtSteps([kill], changes);
}

const exchange = 'src/engine/subscribe/exchange.ts';

export const exchangesControls: readonly LookControl[] = [
  {
    name: 'exchanges: the subscription is written only after the answer',
    changes: [
      {
        file: exchange,
        find: '  const plan = await planOf(context, call);\n  if (plan === undefined) return undefined;\n  const { store } = context;\n',
        replace:
          "  const plan = await planOf(context, call);\n  if (plan === undefined) return undefined;\n  const { store: real } = context;\n  const told = { kind: 'created', subscription: { controls: {} } };\n  const store = { nowMs: () => real.nowMs(), edit: async (verb, input) => (late.set(id, async () => real.edit(verb, input)), told) };\n",
      },
      {
        file: exchange,
        find: '  answer: ApiAnswer,\n): Promise<EndedExchange> {\n',
        replace: '  answer: ApiAnswer,\n): Promise<EndedExchange> {\n  await late.get(id)?.();\n',
      },
      {
        file: exchange,
        find: '/** A request for an operation with callbacks, on its way to the API. */\n',
        replace: 'const late = new Map();\n',
      },
    ],
    breaks: /^I19: .* was accepted, but .* cannot be published to/,
    look: lookAt({ victim: 'gateway', step: 'decided', isAcceptable: true }),
  },
  {
    name: 'exchanges: what the API refused is confirmed',
    changes: [
      {
        file: exchange,
        find: '  if (refusal !== undefined) return refuse(context, { call, id, status, reason: refusal });\n',
        replace: '',
      },
    ],
    breaks: /^I19: .* was not accepted, but it was called/,
    look: lookAt({ victim: 'API', step: 'answered', isAcceptable: false }),
  },
  {
    name: 'exchanges: a publish does not confirm what it names',
    changes: [
      {
        file: 'src/engine/publish/publish.ts',
        find: "    if (result.kind !== 'unconfirmed' || audience.kind === 'all_callbacks') return result;\n",
        replace: '    return result;\n',
      },
    ],
    breaks: /^I19: .* was accepted, but .* cannot be published to/,
    look: lookAt({ victim: 'gateway', step: 'decided', isAcceptable: true }),
  },
  {
    name: 'exchanges: an API that died counts as one that was not reached',
    changes: [
      {
        file: 'src/api/gateway/relay.ts',
        find: 'const unreached = unreachable.has(codeOf(error)) ?',
        replace: 'const unreached = this.#held === undefined ?',
      },
    ],
    breaks: /^I19: .* was accepted, but .* cannot be published to/,
    look: lookAt({ victim: 'API', step: 'decided', isAcceptable: true }),
  },
  {
    name: 'exchanges: the gateway forgets what it could not confirm at once',
    changes: [
      {
        file: 'src/api/gateway/register.ts',
        find: '      if (!(error instanceof StoreUnavailable) || isFull) throw error;\n',
        replace: '      throw isFull ? error : error;\n',
      },
    ],
    breaks: /^I19: .* were accepted and answered, but never confirmed/,
    look: async (changes) => killServerAtSteps({ at: ['decided'], changes }),
  },
];
