// Resolves names with c-ares, within a time budget. Never getaddrinfo: it shares the thread pool,
// reads /etc/hosts and search domains, and cannot be cancelled. The guard checks the result.
import { Resolver as DnsResolver } from 'node:dns/promises';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import { realWorld } from '../../core/base/world.ts';

export type Resolution =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly reason: 'timeout' | 'aborted' | 'server' };

export interface Resolver {
  /** Never rejects. The name has no trailing dot and is never `localhost`. */
  resolve(name: string, signal?: AbortSignal): Promise<Resolution>;
}

const triesPerServer = 2;

/** `servers` replaces those of the system, as `127.0.0.1:5353`. */
export function systemResolver(
  world: Pick<World, 'sleep'> = realWorld(),
  options: { readonly servers?: readonly string[] } = {},
): Resolver {
  return {
    async resolve(name, signal) {
      if (signal?.aborted === true) return { kind: 'failed', reason: 'aborted' };
      // One resolver per lookup, since cancel() ends all lookups of a resolver. Creating one is
      // cheap.
      const dns = new DnsResolver({
        timeout: limits.dnsTimeoutMs / triesPerServer,
        tries: triesPerServer,
        maxTimeout: limits.dnsTimeoutMs,
      });
      if (options.servers !== undefined) dns.setServers(options.servers);
      const budget = startBudget({ world, signal, onEnd: () => dns.cancel() });
      const answers = await Promise.all([ask(dns.resolve4(name)), ask(dns.resolve6(name))]);
      return combine(answers, await budget.stop());
    },
  };
}

/** `localhost` and names below it mean this machine (RFC 6761) and are never looked up. */
export function localhostAddresses(name: string): readonly string[] | undefined {
  return /^(.+\.)?localhost$/.test(name) ? ['127.0.0.1', '::1'] : undefined;
}

type BudgetEnd = 'in_time' | 'timeout' | 'aborted';

// Runs onEnd when the time is up, the caller aborts, or stop() is called, whichever is first.
function startBudget(options: {
  world: Pick<World, 'sleep'>;
  signal: AbortSignal | undefined;
  onEnd: () => void;
}): { stop(): Promise<BudgetEnd> } {
  const { world, signal, onEnd } = options;
  const done = new AbortController();
  const either = signal === undefined ? done.signal : AbortSignal.any([done.signal, signal]);
  const end: Promise<BudgetEnd> = world
    .sleep(limits.dnsTimeoutMs, either)
    .then(
      (): BudgetEnd => 'timeout',
      (): BudgetEnd => (signal?.aborted === true ? 'aborted' : 'in_time'),
    )
    .finally(onEnd);
  return {
    stop: async () => {
      done.abort();
      return end;
    },
  };
}

type Answer =
  | { kind: 'found'; addresses: readonly string[] }
  | { kind: 'none' | 'timeout' | 'failed' };

async function ask(query: Promise<string[]>): Promise<Answer> {
  try {
    return { kind: 'found', addresses: await query };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { kind: 'none' };
    return { kind: code === 'ETIMEOUT' ? 'timeout' : 'failed' };
  }
}

// One family that answers is enough: some name servers drop AAAA queries, and only resolved
// addresses are ever dialled. But `missing` requires that both families say so.
function combine(answers: readonly Answer[], end: BudgetEnd): Resolution {
  if (end === 'aborted') return { kind: 'failed', reason: 'aborted' };
  const addresses = answers.flatMap((answer) => (answer.kind === 'found' ? answer.addresses : []));
  if (addresses.length > 0) return { kind: 'addresses', addresses };
  if (answers.every((answer) => answer.kind === 'none')) return { kind: 'missing' };
  const late = end === 'timeout' || answers.some((answer) => answer.kind === 'timeout');
  return { kind: 'failed', reason: late ? 'timeout' : 'server' };
}
