// A sync fails under the real service: it ends, because nothing that it would say about the disk could be
// believed any more. What else the world may do to it: ../faults.
import { patienceMs } from '../../cli/ringback-process.ts';
import { onNode, publish, settled, subscribe, type Changes } from '../faults/node.ts';
import type { Finding } from '../finding.ts';

const several = 5;

/** 503, then the end of the process; the next one has all that was promised. */
export async function serveOnFailedSync(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'service: fsync fails', changes, disk: true }, async (node) => {
    const { violations } = node;
    await using serving = await node.start();
    await subscribe(serving, node.receiver);
    for (let i = 0; i < several; i += 1) await node.accept(serving);
    await settled(serving); // Else its end would wait for what cannot be written any more.
    // The node's own heartbeat may meet the fault first: then there is nobody who could answer.
    const tryOnce = async (): Promise<number | undefined> =>
      publish(serving).then(
        (response) => response.status,
        () => undefined,
      );
    await node.fault('eio', async () => {
      const answer = await tryOnce();
      if (answer !== 503 && answer !== undefined) violations.push(`I12: answered ${answer}`);
    });
    // The next sync would succeed, and that is the trap: it says nothing about what the last one lost.
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
    if (code === 0) violations.push('I12: the process ended as if all were well');
    await using next = await node.start();
    await node.missing(next, 'after a failed sync');
    await node.accept(next);
    await node.undelivered('after a failed sync');
  });
}
