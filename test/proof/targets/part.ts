// The part of the proof about forbidden connections (I15). In full it takes about three minutes on one core.
import type { Finding, Part, Scale } from '../finding.ts';
import {
  proveCorpusAtAttempt,
  proveCorpusAtSubscribe,
  proveTakenBack,
  proveWideRanges,
} from './corpus.ts';
import { proveNamespace } from './namespace.ts';
import { proveRebinding } from './rebinding.ts';
import { allStatuses, proveRedirects } from './redirects.ts';

const sizes = {
  small: {
    corpus: { step: 800 },
    corpusAtAttempt: { step: 100 },
    rebinding: { names: 1, plainNames: 1, slowNames: 0, events: 3 },
    redirects: { statuses: [307], events: 1 },
    namespace: { step: 800, names: 1, phases: 'closed' },
  },
  // 16 scenarios lead to a forbidden address, two of them every other time. With 160 names and 5 attempts each that makes
  // 12,000 tries, some of which a busy machine may lose to slow lookups.
  full: {
    corpus: { step: 1 },
    corpusAtAttempt: { step: 1 },
    rebinding: { names: 160, plainNames: 10, slowNames: 10, events: 5 },
    redirects: { statuses: allStatuses, events: 4 },
    namespace: { step: 4, names: 10, phases: 'all' },
  },
} as const;

export const targets: Part = {
  name: 'targets',
  about:
    'Every URL of the corpus is given to a service in every way that accepts one, and written to its ' +
    'database directly. Names resolve to public addresses at subscribe and elsewhere at the callback; ' +
    'receivers redirect. Every connection attempt is recorded, or meets a canary in a separate network: ' +
    'none may go to a forbidden address.',
  prove: async ({ scale, seed, say }) => {
    const findings: Finding[] = [];
    for (const [what, prove] of Object.entries(stepsOf(scale, seed))) {
      say(`targets: ${what}`);
      findings.push(await prove());
    }
    return findings;
  },
};

export type Step =
  | 'subscribe'
  | 'attempt'
  | 'taken back'
  | 'wide ranges'
  | 'rebinding'
  | 'redirects'
  | 'namespace';

/** The steps by name, so that each can run alone. */
export function stepsOf(scale: Scale, seed: number): Record<Step, () => Promise<Finding>> {
  const { corpus, corpusAtAttempt, rebinding, redirects, namespace } = sizes[scale];
  return {
    subscribe: async () => proveCorpusAtSubscribe(corpus),
    attempt: async () => proveCorpusAtAttempt(corpusAtAttempt),
    'taken back': async () => proveTakenBack(corpusAtAttempt),
    'wide ranges': async () => proveWideRanges(corpus),
    rebinding: async () => proveRebinding({ ...rebinding, seed }),
    redirects: async () => proveRedirects(redirects),
    namespace: async () => proveNamespace({ ...namespace, seed }),
  };
}
