// `ringback doctor`: checks everything that a start needs and suggests what to do. It must change
// nothing, and may run beside a running service.
import type { Config } from '../../config.ts';
import { systemResolver } from '../../egress/guard/resolve.ts';
import type { Invocation } from '../declare/command.ts';
import { checkPort, checkPublicUrl, checkTargets } from './address.ts';
import { checkCertificate } from './certificate.ts';
import { checkClocks } from './clock.ts';
import { checkContracts } from './contracts.ts';
import { failed, reasonOf, type Finding } from './finding.ts';
import { checkDisk, checkFolder } from './folder.ts';
import { checkNames, nameToLookUp } from './names.ts';
import { checkRuntime } from './runtime.ts';
import { checkSettings } from './settings.ts';
import { checkStoreFile } from './store-file.ts';
import { checkStoreServer } from './store-server.ts';
import { CliFailure } from '../terminal/failure.ts';
import { painter } from '../terminal/paint.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrap } from '../terminal/wrap.ts';

export async function doctor(call: Invocation, terminal: Terminal): Promise<void> {
  const { env, isJson } = call;
  const findings: Finding[] = [];
  const say = (some: readonly Finding[]): void => {
    findings.push(...some);
    if (!isJson) terminal.out(some.map((one) => show(one, terminal)).join(''));
  };
  say([checkRuntime(process.versions.node)]);
  const { config, findings: ofSettings } = checkSettings(env);
  say(ofSettings);
  for (const check of config === undefined ? [] : checksOf(config, call.text('lookup'), terminal)) {
    say(await attempted(check));
  }
  if (isJson) terminal.out(`${JSON.stringify(findings, absentAsNull, 2)}\n`);
  const count = findings.filter(({ state }) => state === 'failed').length;
  const rest =
    config === undefined ? '; the remaining checks need valid settings and were skipped' : '';
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
    { name: 'targets', run: () => [checkTargets(config)] },
  ];
}

function folderChecks(dataDir: string): Check[] {
  return [
    { name: 'folder', run: () => [checkFolder(dataDir)] },
    { name: 'disk', run: async () => [await checkDisk(dataDir)] },
  ];
}

/** A check that throws is reported as failed, and the others go on. */
async function attempted({ name, run }: Check): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const message = `Cannot run this check: ${reasonOf(error)}`;
    return [
      failed(name, { message, remedy: 'This is a bug in ringback doctor: please report it' }),
    ];
  }
}

const colours = { ok: 'green', warning: 'yellow', failed: 'red' } as const;
const stateChars = 8;
const checkChars = 11;
const column = stateChars + checkChars + 2;

function show({ check, state, message, remedy }: Finding, terminal: Terminal): string {
  const room = Math.max(messageCharsMin, terminal.width() - column);
  const head = `${painter(terminal)(colours[state], state.padEnd(stateChars))} ${check.padEnd(checkChars)} `;
  const pad = ' '.repeat(column);
  const [first = '', ...others] = wrap(message, room);
  const advice = remedy === undefined ? [] : wrap(`→ ${remedy}`, room);
  return [head + first, ...[...others, ...advice].map((line) => pad + line), ''].join('\n');
}

const messageCharsMin = 24;

/** Members are always present, for programs that read the output. */
function absentAsNull(_name: string, value: unknown): unknown {
  return value === undefined ? null : value;
}
