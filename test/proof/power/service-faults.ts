// A sync fails under the real service. The process must end, because it no longer knows what is on the disk. For other
// faults around a node, see ../faults.
import { patienceMs } from '../../cli/ringback-process.ts';
import { onNode, publish, settled, subscribe, type Changes } from '../faults/node.ts';
import type { Finding } from '../finding.ts';

const several = 5;

/** Expects 503 and the end of the process; the next one must have every acknowledged event. */
export async function serveOnFailedSync(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'service: fsync fails', changes, disk: true }, async (node) => {
    const { violations } = node;
    await using serving = await node.start();
    await subscribe(serving, node.receiver);
    for (let i = 0; i < several; i += 1) await node.accept(serving);
    await settled(serving); // Otherwise the process would wait at its end for outcomes that it cannot write.
    // The node's own heartbeat may hit the fault first and end the process, so there may be no response.
    const tryOnce = async (): Promise<number | undefined> =>
      publish(serving).then(
        (response) => response.status,
        () => undefined,
      );
    await node.fault('eio', async () => {
      const answer = await tryOnce();
      if (answer !== 503 && answer !== undefined) violations.push(`I12: answered ${answer}`);
    });
    // The next sync would succeed, but that does not bring back what the failed one lost.
    const status = await tryOnce();
    if (status !== undefined && status !== 503) {
      violations.push(`I12: after a failed sync it goes on, and answers ${status}`);
      serving.signal('SIGKILL');
    }
    const net = setTimeout(() => {
      violations.push('I12: after a failed sync the process does not end');
      serving.signal('SIGKILL');
    }, patienceMs);
    const code = await serving.ended;
    clearTimeout(net);
    if (code === 0) violations.push('I12: the process exited with 0');
    await using next = await node.start();
    await node.missing(next, 'after a failed sync');
    await node.accept(next);
    await node.undelivered('after a failed sync');
  });
}
