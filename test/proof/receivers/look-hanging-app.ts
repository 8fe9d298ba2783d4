// A program: the service in this process, an app with many receivers that never answer, and another app beside it.
// Prints what became of the other's deliveries, as JSON. The argument is how long they are waited for.
import { start } from '../../api/harness.ts';
import { startHangingApp } from '../../e2e/hanging-app.ts';
import { inTime } from '../../e2e/awaitable-count.ts';
import type { Finding } from '../finding.ts';

const holes = 640;
const events = 300;
const patienceMs = Number(process.argv[2]);

const violations: string[] = [];
let came = 0;
{
  // Longer than this waits for anything: no attempt at them ends meanwhile.
  await using service = await start({ env: { RINGBACK_TIMEOUT: '60s' } });
  await using hanging = await startHangingApp(service, holes);
  await using other = await hanging.other();
  const all = other.deliver(events).then(() => true);
  const isDone = await inTime(all, patienceMs, () => '').catch(() => false);
  came = other.came();
  if (hanging.ended() > 0) violations.push(`void: ${hanging.ended()} receivers have let go`);
  else if (!isDone) {
    violations.push(`I10: ${came} of ${events} came to another app while ${holes} receivers hang`);
  }
}
const finding: Finding = {
  part: 'hostile receivers: an app of which all but one hang',
  figures: { 'receivers that hang': holes, 'delivered to another app': came },
  violations,
};
console.log(JSON.stringify(finding));
process.exit(); // The service waits for what hangs.
