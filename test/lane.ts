// A lane for tests of the rules: active and without a due delivery, unless a test says otherwise.
import { never, type Lane } from '../src/core/domain/lane.ts';

export function lane(changes: Partial<Lane> = {}): Lane {
  return {
    no: 1,
    appNo: 1,
    state: 'active',
    ordered: false,
    gateMs: 0,
    readyMs: never,
    intervalMs: undefined,
    tatMs: 0,
    concurrency: undefined,
    failures: 0,
    failingMs: undefined,
    version: 1,
    ...changes,
  };
}
