// Runs the service until it is asked to stop, and prints the greeting.
import type { Logger } from 'pino';
import type { Config, Environment } from '../../config.ts';
import { explainTargets } from '../../config/exposure.ts';
import { settings } from '../../config/settings.ts';
import { ContractError } from '../../contract/document/document.ts';
import { Problem } from '../../core/errors/problem.ts';
import { explainError } from '../../contract/document/locate.ts';
import { withPrefix } from '../../core/base/id.ts';
import { version } from '../../core/base/package.ts';
import { startService, type Service } from '../../service.ts';
import { CannotOpenStore, StoreUnavailable } from '../../store/port/store.ts';
import type { OpenStore } from '../../store/open/open.ts';
import { readTracing } from '../../tracing/settings.ts';
import { startTracer, type RunningTracer } from '../../tracing/tracer.ts';
import type { Invocation } from '../declare/command.ts';
import { CliFailure } from '../terminal/failure.ts';
import { firstSteps, openOperationWarnings } from './first-steps.ts';
import { openLog } from './log.ts';
import { type Paint, painter } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface Running {
  config: Config;
  openStore: OpenStore;
  /** Resolves when the service should stop. */
  stopped: Promise<void>;
}

export async function runService(
  { config, openStore, stopped }: Running,
  { env, isJson }: Pick<Invocation, 'env' | 'isJson'>,
  terminal: Terminal,
): Promise<void> {
  const { world } = terminal;
  const { log: level, logFormat: format } = config;
  await using logging = openLog({ level, format, ...terminal.log }, world);
  const { log, logFact } = logging;
  await using tracer = await openTracer(terminal, { nodeName: config.nodeName, log });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // Awaited below, once the service runs.
  const outside = { world, log, logFact, tracer, openStore, onFatal: failed.reject };
  const service = await startService(config, outside).catch(explain);
  try {
    const link = terminal.isTerminal ? await signInLink(service, log) : undefined;
    log.info({ version, ...startFacts(config, env), url: service.url }, 'started');
    const greeted = { link, targets: config.targets, paint: painter(terminal) };
    terminal.out(isJson ? started(service, link) : greeting(service, greeted));
    await Promise.race([stopped, failed.promise.catch(explainEnd)]);
    if (!isJson) terminal.out('Stopping: finishing in-flight requests.\n');
  } finally {
    await service[Symbol.asyncDispose]();
    log.info({ node: config.nodeName }, 'stopped');
  }
}

/** What the service was started with: the settings that were chosen, except secrets. */
function startFacts({ role, nodeName, database, targets }: Config, env: Environment): object {
  const chosen = Object.values(settings).filter(
    (row) => !('isSecret' in row) && (env[row.env] ?? '') !== '',
  );
  return {
    node: nodeName,
    role,
    store: 'url' in database ? 'postgres' : 'sqlite',
    targets: explainTargets(targets),
    settings: Object.fromEntries(chosen.map((row) => [row.env, env[row.env]])),
  };
}

/** Undefined: tracing is off. */
async function openTracer(
  { env, world }: Terminal,
  { nodeName, log }: { nodeName: string; log: Logger },
): Promise<RunningTracer | undefined> {
  const reading = readTracing(env);
  if (reading.kind === 'off') return undefined;
  if (reading.kind === 'mistakes') throw new CliFailure(reading.mistakes.join('\n'));
  const onError = (reason: string): void => log.warn({ reason }, 'spans dropped');
  return startTracer({ world, settings: reading.settings, nodeName, onError });
}

/** The service runs without the link, too. */
async function signInLink(service: Service, log: Logger): Promise<string | undefined> {
  if (service.role === 'worker') return undefined;
  return service.signInLink().catch((err: unknown) => {
    log.warn({ err }, 'cannot create a console sign-in link');
    return undefined;
  });
}

/**
 * The store can no longer write, and its last writes are in doubt: the service ends and says why.
 */
function explainEnd(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new CliFailure(`Stopped: ${continued(error)}`, { cause: error });
}

/** What the user can fix is shown as a sentence; anything else keeps its stack. */
function explain(error: unknown): never {
  if (error instanceof StoreUnavailable) {
    const remedy = 'check that the store is writable (ringback doctor helps), then start again';
    throw new CliFailure(`Cannot start: ${continued(error)}; ${remedy}`, { cause: error });
  }
  if (error instanceof Problem) throw new CliFailure(error.message, { cause: error });
  if (error instanceof CannotOpenStore) throw new CliFailure(error.message, { cause: error });
  if (error instanceof ContractError) throw new CliFailure(explainError(error), { cause: error });
  if (error instanceof Error && ('syscall' in error || isTlsError(error))) {
    throw new CliFailure(`Cannot start: ${error.message}`, { cause: error });
  }
  throw error;
}

/** The message as it continues after a colon. */
function continued({ message }: Error): string {
  return message.replace(/^The /, 'the ');
}

/** A certificate or key file is invalid, or the two do not belong together. */
function isTlsError(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_OSSL_');
}

/** The greeting for programs, in one line. */
function started(service: Service, link: string | undefined): string {
  const { url, manageUrl, defaultApp, firstKey, role } = service;
  const appId = withPrefix('app', defaultApp.id);
  const facts = {
    url,
    manageUrl,
    appId,
    key: firstKey ?? null,
    console: link ?? null,
    role,
    version,
  };
  return `${JSON.stringify(facts)}\n`;
}

interface Greeting {
  link: string | undefined;
  targets: Config['targets'];
  paint: Paint;
}

function greeting(service: Service, { link, targets, paint }: Greeting): string {
  const { url, manageUrl, defaultApp, firstKey, isChosenKeyDead, role } = service;
  const consoleLine =
    link === undefined
      ? `${manageUrl}/console   (sign in with a key)`
      : `${link}   (signs in once, valid for an hour)`;
  const first =
    role === 'worker'
      ? `Ringback ${version} is delivering; status on ${url}/readyz`
      : `Ringback ${version} listens on ${url}`;
  const lines = [
    paint('bold', first),
    '',
    `  app id     ${withPrefix('app', defaultApp.id)}`,
    `  API key    ${firstKey ?? 'unchanged'}${firstKey === undefined ? '' : '   (shown only once)'}`,
    ...(role === 'worker' ? [] : [`  console    ${consoleLine}`, `  reference  ${manageUrl}/docs`]),
    `  callbacks  can reach ${explainTargets(targets)}`,
    '',
  ];
  if (isChosenKeyDead) {
    const warning = 'Warning: the key in RINGBACK_API_KEY was revoked or has expired.';
    lines.push(paint('yellow', warning), '');
  }
  if (role !== 'worker') {
    for (const verdict of service.contracts.verdicts) {
      if (verdict.kind === 'refused' || verdict.cannotRun.length === 0) continue;
      const { file, cannotRun } = verdict;
      const which = `${cannotRun.length} of its operations cannot run`;
      const text = `Warning: ${file}: ${which}. ringback check ${file} says why.`;
      lines.push(paint('yellow', text), '');
    }
    for (const warning of openOperationWarnings(service.contracts)) {
      lines.push(paint('yellow', `Warning: ${warning}.`), '');
    }
    const steps = firstSteps(service);
    if (targets.text === 'none') {
      lines.push(
        'The commands below need RINGBACK_ALLOW_TARGETS=loopback: their receivers run on this ' +
          'machine.',
      );
    }
    lines.push(...steps.map((line) => (line.startsWith('  ') ? paint('cyan', line) : line)));
  }
  return `${lines.join('\n')}\n`;
}
