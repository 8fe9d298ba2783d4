// Which documents a service loads, from its settings: for `serve`, `check` and `doctor` alike.
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { ContractFiles } from '../contract/compile/contracts.ts';
import { isBundled, packageFolder } from '../core/base/package.ts';

type Chosen = Pick<Config, 'contract' | 'contractRoot' | 'overlay' | 'managePrefix'> &
  Partial<Pick<Config, 'requireAppId' | 'metrics' | 'upstream' | 'operations' | 'role'>>;

export function contractFiles(config: Chosen): ContractFiles {
  const { contract: foreign, contractRoot, managePrefix: prefix } = config;
  const { overlay: overlays } = config;
  const { requireAppId = false, metrics } = config;
  const open = metrics === 'open' ? ['getMetrics'] : [];
  // The API may have probes of its own at the same paths.
  const hasOwnProbes = config.upstream === undefined || config.role === 'worker';
  const owner = config.operations === 'register' ? ('api' as const) : ('ringback' as const);
  const files = { own: ownContract, foreign, contractRoot, overlays, owner };
  return { ...files, prefix, requireAppId, open, hasOwnProbes };
}

/** The bundle has it as JSON, because parsing YAML would take a tenth of a start. */
const ownContract = isBundled
  ? join(packageFolder, 'dist', 'openapi.json')
  : join(packageFolder, 'openapi.yaml');
