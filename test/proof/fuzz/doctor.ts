// What `ringback doctor` finds in a store that has been fuzzed. It looks nothing up but this machine.
import { patienceMs, startChild } from '../../cli/ringback-process.ts';
import { isObject } from './schema-errors.ts';
import { asJson } from './request.ts';

/** Every check that failed. */
export async function askDoctor(env: Readonly<Record<string, string>>): Promise<string[]> {
  await using child = startChild(['doctor', '--json', '--lookup', 'localhost'], {
    RINGBACK_PORT: '0',
    ...env,
  });
  const net = setTimeout(() => child.signal('SIGKILL'), patienceMs);
  await child.ended;
  clearTimeout(net);
  const findings = asJson(Buffer.from(child.out()));
  if (!Array.isArray(findings)) return [`doctor: said ${child.out()} ${child.err()}`];
  return (findings as readonly unknown[])
    .filter((one) => isObject(one) && one['state'] === 'failed')
    .map((one) => `doctor: ${JSON.stringify(one)}`);
}
