// Runs the service with shorter timeouts and fewer connections, so that its limits take effect within seconds. Even
// shorter timeouts would cut off well-behaved clients on a busy machine. Nothing else is changed.
import type { SourceChange } from '../controls/change-source.ts';

const file = 'src/core/limits/limits.ts';

export const quick: readonly SourceChange[] = [
  { file, find: 'headersTimeoutMs: 10_000', replace: 'headersTimeoutMs: 2_000' },
  { file, find: 'requestTimeoutMs: 15_000', replace: 'requestTimeoutMs: 2_500' },
  { file, find: 'connectionsLookMs: 1_000', replace: 'connectionsLookMs: 100' },
  { file, find: 'overLingerMs: 2_000', replace: 'overLingerMs: 200' },
  { file, find: 'connectionsMax: 2_048', replace: 'connectionsMax: 64' },
];
