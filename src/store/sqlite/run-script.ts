// Runs a script on a connection, statement by statement, without ever waiting.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Script } from '../statement.ts';

export type RunScript = <T>(script: Script<T>) => T;

export function prepareScripts(db: DatabaseSync): RunScript {
  const prepared = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  return (script) => {
    let step = script.next([]);
    while (step.done !== true) {
      const statement = prepare(step.value.sql);
      const each = 'each' in step.value ? step.value.each : [step.value.values];
      step = script.next(each.flatMap((values) => statement.all(...values)));
    }
    return step.value;
  };
}
