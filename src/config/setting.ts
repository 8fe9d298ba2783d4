// Finds a setting in the environment, or in the file that `_FILE` names. It must never show a
// secret.
import { readFileSync } from 'node:fs';
import { value, type Reading } from './readers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<T> {
  env: string;
  fallback: string | undefined;
  /** Text for the table of settings when the default is not a plain value. */
  fallbackText?: string;
  meaning: string;
  /** May be given as a file path in `<env>_FILE`; never shown in a message. */
  isSecret?: true;
  read: (text: string) => Reading<T>;
}

export function isGiven(row: Setting<unknown>, env: Environment): boolean {
  return (env[row.env] ?? '') !== '' || (env[`${row.env}_FILE`] ?? '') !== '';
}

export function readSetting(row: Setting<unknown>, env: Environment, mistakes: string[]): unknown {
  const given = readGiven(row, env);
  if (given.kind === 'mistake') {
    mistakes.push(given.text);
    return undefined;
  }
  const text = given.value ?? row.fallback;
  if (text === undefined) return undefined;
  const reading = row.read(text);
  if (reading.kind === 'value') return reading.value;
  const shown = row.isSecret === true ? row.env : `${row.env} "${text}"`;
  mistakes.push(`Cannot read ${shown}: ${reading.text}`);
  return undefined;
}

/** The text of a setting, from the environment or from the file that `_FILE` names. */
function readGiven(row: Setting<unknown>, env: Environment): Reading<string | undefined> {
  const direct = env[row.env];
  const file = row.isSecret === true ? env[`${row.env}_FILE`] : undefined;
  const isEmpty = direct === undefined || direct === '';
  if (file === undefined || file === '') return value(isEmpty ? undefined : direct);
  if (!isEmpty) {
    return {
      kind: 'mistake',
      text: `Cannot read ${row.env}: it is set twice, also as ${row.env}_FILE`,
    };
  }
  try {
    return value(readFileSync(file, 'utf8').trim());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'mistake', text: `Cannot read ${row.env}_FILE "${file}": ${why}` };
  }
}
