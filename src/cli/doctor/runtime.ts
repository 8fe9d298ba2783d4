// Checks the runtime that the program runs on.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFolder } from '../../core/base/package-folder.ts';
import { version } from '../../core/base/version.ts';
import { failed, ok, type Finding } from './finding.ts';

/** `running`: process.versions.node. */
export function checkRuntime(running: string, needed: string = neededVersion()): Finding {
  const isEnough = compare(running, needed) >= 0;
  if (isEnough) return ok('runtime', `Ringback ${version} on Node ${running}`);
  return failed('runtime', {
    message: `Ringback ${version} runs on Node ${running}, expected ${needed} or newer`,
    remedy: `Install Node ${needed} or newer`,
  });
}

/** Negative if the first is older. */
function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number));
  for (const place of [0, 1, 2]) {
    const difference = (a?.[place] ?? 0) - (b?.[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** `engines.node` of the package: `>=24.12`. */
function neededVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)(join(packageFolder, 'package.json'));
  const text = JSON.stringify(manifest);
  return /"engines":\{"node":">=([\d.]+)"\}/.exec(text)?.[1] ?? '0';
}
