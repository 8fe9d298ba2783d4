// Runs a script on a connection, statement by statement, synchronously.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Row } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';

export type RunScript = <T>(script: Script<T>) => T;

export function prepareScripts(db: DatabaseSync): RunScript {
  const prepare = preparedOn(db);
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

/** The same, but pauses after each statement so that other work can run. */
export type RunInSteps = <T>(script: Script<T>) => Generator<undefined, T>;

export function prepareSteps(db: DatabaseSync): RunInSteps {
  const prepare = preparedOn(db);
  return function* (script) {
    let step = script.next([]);
    while (step.done !== true) {
      const statement = prepare(step.value.sql);
      const each = 'each' in step.value ? step.value.each : [step.value.values];
      const rows: Row[] = [];
      for (const values of each) {
        rows.push(...statement.all(...values));
        yield undefined;
      }
      step = script.next(rows);
    }
    return step.value;
  };
}

function preparedOn(db: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const cached = prepared.get(sql);
    if (cached !== undefined) return cached;
    const statement = db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}
