// `ringback doctor`: checks everything that a start needs and suggests what to do. It must change
// nothing, and may run beside a running service.
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { readConfig, type Config, type Environment } from '../../config.ts';
import { ContractError } from '../../contract/document/document.ts';
import { explainError } from '../../contract/document/locate.ts';
import { makeReport } from '../../contract/report/report.ts';
import { acceptedContracts, checkContracts } from '../../contract/report/check-contracts.ts';
import { packageFolder, version } from '../../core/base/package.ts';
import type { World } from '../../core/base/world.ts';
import { systemResolver, localhostAddresses, type Resolver } from '../../egress/guard/resolve.ts';
import { contractFiles } from '../../service/contract-files.ts';
import { readTracing } from '../../tracing/settings.ts';
import type { Invocation } from '../declare/command.ts';
import { CliFailure } from '../terminal/failure.ts';
import { painter, wrap } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { checkPort, checkPublicUrl, checkTargets } from './address.ts';
import { checkCertificate } from './certificate.ts';
import { failed, reasonOf, ok, warning, type Finding } from './finding.ts';
import { checkDisk, checkFolder, checkStoreFile } from './store-file.ts';
import { checkStoreServer } from './store-server.ts';

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
    { name: 'contracts', run: async () => findContractFaults(config) },
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

// Checks the clocks of this machine: the wall clock is set, and the monotonic one advances.

/** No version of Ringback is older than this. */
const earliestMs = Date.UTC(2026, 0, 1);
const napMs = 10;

export async function checkClocks(
  world: Pick<World, 'nowMs' | 'monotonicMs' | 'sleep'>,
): Promise<Finding> {
  const beganMs = world.monotonicMs();
  await world.sleep(napMs);
  const passedMs = world.monotonicMs() - beganMs;
  const nowMs = world.nowMs();
  const shown = new Date(nowMs).toISOString();
  if (nowMs < earliestMs) {
    const remedy = 'Set the clock (NTP): ids, signatures and retention depend on it';
    return failed('clock', { message: `The system clock says ${shown}`, remedy });
  }
  if (passedMs <= 0) {
    return failed('clock', {
      message: `The monotonic clock advanced ${passedMs} ms during a sleep of ${napMs} ms`,
      remedy:
        'Check the virtual machine and its clock source: deadlines and heartbeats depend on ' +
        'it',
    });
  }
  return ok('clock', shown);
}

// Checks the contracts: whether the service would start with them, and whether all of them can run.

async function findContractFaults(config: Parameters<typeof contractFiles>[0]): Promise<Finding[]> {
  const { contract: foreign } = config;
  try {
    const { executed } = acceptedContracts(await checkContracts(contractFiles(config)));
    return executed.map((contract, index): Finding => {
      const { cannotRun, warnings } = makeReport(contract, '');
      const file = foreign[index] ?? 'openapi.yaml';
      const name = `"${contract.title}" (${file})`;
      const remedy = `Run: ringback check ${file}`;
      if (cannotRun.length > 0) {
        const message = `${cannotRun.length} operations of ${name} cannot be executed`;
        return failed('contracts', { message, remedy });
      }
      if (warnings.length === 0) return ok('contracts', `${name} can be executed`);
      const message = `${name} can be executed, with ${warnings.length} warnings`;
      return warning('contracts', { message, remedy });
    });
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const remedy = 'Fix the document; ringback check FILE lists every problem in it';
    return [failed('contracts', { message: explainError(error), remedy })];
  }
}

// Checks whether the name server answers. Without a network it does not, which is only a warning:
// Ringback starts anyway, and deliveries to names wait.

/** A name that always exists. */
const someName = 'example.com';

/** The name to look up: the given one, else the host of the public URL, else a fixed one. */
export function nameToLookUp(asked: string | undefined, publicUrl: string | undefined): string {
  if (asked !== undefined) return asked;
  const host = publicUrl === undefined ? '' : new URL(publicUrl).hostname;
  const isName = host !== '' && isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0;
  return isName ? host : someName;
}

export async function checkNames(resolver: Resolver, name: string): Promise<Finding> {
  if (localhostAddresses(name) !== undefined) {
    return ok('dns', `"${name}" is this machine; nothing was resolved (use --lookup NAME)`);
  }
  const found = await resolver.resolve(name);
  if (found.kind === 'addresses')
    return ok('dns', `"${name}" resolves to ${found.addresses.join(', ')}`);
  const remedy =
    'Check /etc/resolv.conf and the connection to the name servers: callbacks to host ' +
    'names fail';
  if (found.kind === 'missing') {
    return warning('dns', { message: `The name server has no address for "${name}"`, remedy });
  }
  const why = found.reason === 'timeout' ? 'does not respond in time' : 'responds with an error';
  return warning('dns', { message: `The name server ${why} for "${name}"`, remedy });
}

// Checks the runtime that the program runs on.

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

// Checks the settings, OTEL_* included: reports every error and warning that a start would.

/** The config is undefined if there are errors; then nothing that needs it can be checked. */
function checkSettings(env: Environment): {
  config: Config | undefined;
  findings: Finding[];
} {
  const reading = readConfig(env);
  const ofTracing = checkTracing(env);
  const remedy =
    'docs/settings.md lists all settings; each is an environment variable and an option';
  if (reading.kind === 'mistakes') {
    const findings = reading.mistakes.map((message) => failed('settings', { message, remedy }));
    return { config: undefined, findings: [...findings, ...ofTracing] };
  }
  const warnings = reading.warnings.map((message) => warning('settings', { message, remedy }));
  const troubles = [...ofTracing, ...warnings];
  const findings = troubles.length > 0 ? troubles : [ok('settings', 'all valid')];
  return { config: reading.config, findings };
}

function checkTracing(env: Environment): Finding[] {
  const reading = readTracing(env);
  const remedy =
    'docs/operations.md, section Traces, lists the OpenTelemetry variables that are read';
  const mistakes = reading.kind === 'mistakes' ? reading.mistakes : [];
  return mistakes.map((message) => failed('settings', { message, remedy }));
}
