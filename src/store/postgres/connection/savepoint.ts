// Runs each item of a batch in a savepoint, so that one that breaks a constraint does not fail the
// others. The first try of a batch runs without: savepoints around every item would cost three
// round trips each.
import type { VerbFailure } from '../../port/transport-protocol.ts';
import { failureKind, verbFailure } from './failure.ts';
import type { Tx } from './tx.ts';

export const savepointSql = {
  save: 'savepoint item',
  keep: 'release savepoint item',
  undo: 'rollback to savepoint item',
} as const;

export type Way = 'together' | 'alone';

export async function inSavepoint<T>(
  tx: Tx,
  verb: string,
  body: () => Promise<T>,
): Promise<{ kind: 'done'; output: T } | VerbFailure> {
  await tx.query(savepointSql.save, []);
  try {
    const output = await body();
    await tx.query(savepointSql.keep, []);
    return { kind: 'done', output };
  } catch (error) {
    if (failureKind(error) !== 'item') throw error;
    await tx.query(savepointSql.undo, []);
    return verbFailure(verb, error);
  }
}
