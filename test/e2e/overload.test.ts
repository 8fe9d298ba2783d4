// Ten times the capacity for ten seconds; `npm run soak` does it for a minute.
import { describe, it } from 'node:test';
import { overload } from './overload.ts';

describe('a service that is asked for ten times what it can do', () => {
  it('turns the rest away, keeps its promises, stays small and recovers', async (t) => {
    t.diagnostic(JSON.stringify(await overload(10_000)));
  });
});
