// Identifies scrapers. Metrics matter most when the store is down, but then no key can be looked
// up. So a key that was valid here recently stays valid for a while, for metrics only.
import { hashKey, type Key } from '../../core/domain/key.ts';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import type { Deps } from './authenticate.ts';

type Identifier = Deps['identifier'];

export function createScrapeIdentifier(
  identifier: Identifier,
  world: Pick<World, 'elapsedMs'>,
): Identifier {
  const known = new Map<string, { key: Key; untilMs: number }>();
  const note = (hash: string, key: Key | undefined): void => {
    known.delete(hash);
    if (key?.scopes.includes('operator') !== true) return;
    known.set(hash, { key, untilMs: world.elapsedMs() + limits.scrapeKeyMs });
    const [oldest] = known.keys();
    if (known.size > limits.scrapeKeysMax && oldest !== undefined) known.delete(oldest);
  };
  return {
    identify: async (presented) => {
      const hash = Buffer.from(hashKey(presented)).toString('hex');
      try {
        const key = await identifier.identify(presented);
        note(hash, key);
        return key;
      } catch (error) {
        const before = known.get(hash);
        if (before === undefined || world.elapsedMs() >= before.untilMs) throw error;
        return before.key;
      }
    },
    identifySession: async (token) => identifier.identifySession(token),
  };
}
