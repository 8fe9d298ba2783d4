// `ringback doctor`: looks at everything that a start needs, changes nothing, and says what to do. It may
// run beside a service that is running.
import { styleText } from 'node:util';
import type { Config } from '../config.ts';
import { systemResolver } from '../egress/resolve.ts';
import { checkPort, checkPublicUrl } from './doctor/address.ts';
import { checkCertificate } from './doctor/certificate.ts';
import { checkClocks } from './doctor/clock.ts';
import { checkContracts } from './doctor/contracts.ts';
import { failed, reasonOf, type Finding } from './doctor/finding.ts';
import { checkDisk, checkFolder } from './doctor/folder.ts';
import { checkNames, nameToLookUp } from './doctor/names.ts';
import { checkRuntime } from './doctor/runtime.ts';
import { checkSettings } from './doctor/settings.ts';
import { checkStoreFile } from './doctor/store-file.ts';
import { checkStoreServer } from './doctor/store-server.ts';
import { CliFailure } from './failure.ts';
import { readFlags } from './flags.ts';
import type { Terminal } from './terminal.ts';

export const doctorUsage = `  ringback doctor [--json] [--lookup NAME]           what a start would meet, and what to do about it
`;

export const doctorHelp = `Looks at everything that a start needs: settings, contracts, data folder, disk, store, schema,
encryption key, clock, DNS, TLS certificate, port and public URL. Takes the same settings as serve. It
changes nothing, and may run beside a service that is running.

Usage:
  ringback doctor [--json] [--lookup NAME] [--data ./data] …

  --json          a list of { check, state, message, remedy }; state is ok, warning or failed
  --lookup NAME   a host to look up, such as one of your receivers; otherwise the host of
                  RINGBACK_PUBLIC_URL, or example.com

Exit code:
  0   nothing failed; there may be warnings
  1   something failed: a start would fail too, or break a promise
`;

export async function doctor(args: readonly string[], terminal: Terminal): Promise<void> {
  const { env, own, on, positionals } = readFlags(args, terminal.env, ['lookup'], ['json']);
  if (positionals.length > 0) {
    throw new CliFailure(`Cannot examine "${positionals.join(' ')}": expected flags only`);
  }
  const isJson = on.has('json');
  const findings: Finding[] = [];
  const say = (some: readonly Finding[]): void => {
    findings.push(...some);
    if (!isJson) terminal.out(some.map((one) => show(one, terminal.isScreen)).join(''));
  };
  say([checkRuntime(process.versions.node)]);
  const { config, findings: ofSettings } = checkSettings(env);
  say(ofSettings);
  for (const check of config === undefined ? [] : checksOf(config, own['lookup'], terminal)) {
    say(await attempted(check));
  }
  if (isJson) terminal.out(`${JSON.stringify(findings, absentAsNull, 2)}\n`);
  const count = findings.filter(({ state }) => state === 'failed').length;
  const rest = config === undefined ? ', and the rest could not be looked at' : '';
  if (count > 0) throw new CliFailure(`${count} of ${findings.length} checks failed${rest}.`);
}

interface Check {
  name: string;
  run: () => Finding[] | Promise<Finding[]>;
}

function checksOf(config: Config, lookup: string | undefined, { world }: Terminal): Check[] {
  const { database, encryptionKey } = config;
  const name = nameToLookUp(lookup, config.publicUrl);
  const nowMs = world.nowMs();
  const isFolder = 'dataDir' in database && database.dataDir !== ':memory:';
  return [
    { name: 'contracts', run: async () => checkContracts(config) },
    ...(isFolder ? folderChecks(database.dataDir) : []),
    {
      name: 'store',
      run: async () =>
        'url' in database
          ? checkStoreServer({ ...database, encryptionKey, world })
          : checkStoreFile({ ...database, encryptionKey, nowMs }),
    },
    { name: 'clock', run: async () => [await checkClocks(world)] },
    { name: 'dns', run: async () => [await checkNames(systemResolver(world), name)] },
    { name: 'tls', run: () => [checkCertificate(config, nowMs)] },
    { name: 'port', run: async () => [await checkPort(config)] },
    { name: 'public URL', run: () => [checkPublicUrl(config)] },
  ];
}

function folderChecks(dataDir: string): Check[] {
  return [
    { name: 'folder', run: () => [checkFolder(dataDir)] },
    { name: 'disk', run: async () => [await checkDisk(dataDir)] },
  ];
}

/** A check that breaks says so, and the others go on. */
async function attempted({ name, run }: Check): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const message = `Cannot look at it: ${reasonOf(error)}`;
    return [failed(name, { message, remedy: 'This is a bug of the doctor: please report it' })];
  }
}

const colours = { ok: 'green', warning: 'yellow', failed: 'red' } as const;
const indent = ' '.repeat(9);

function show({ check, state, message, remedy }: Finding, isScreen: boolean): string {
  const word = state.padEnd(indent.length - 1);
  const painted = isScreen ? styleText(colours[state], word, { validateStream: false }) : word;
  const advice = remedy === undefined ? '' : `${indent}${' '.repeat(12)}→ ${remedy}\n`;
  return `${painted} ${check.padEnd(11)} ${message}\n${advice}`;
}

/** Programs look for members that are always there. */
function absentAsNull(_name: string, value: unknown): unknown {
  return value === undefined ? null : value;
}
