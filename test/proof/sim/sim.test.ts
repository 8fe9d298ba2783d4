// A small version of `npm run sim`: some seeds without a violation, the same seed twice, and two negative controls.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runLookControl } from '../controls/run-controls.ts';
import { simulationControls } from './controls.ts';
import { explain } from './explain.ts';
import { simulation } from './part.ts';
import { drawPlan } from './plan.ts';
import { runPlan, runSeed } from './run.ts';
import { differences } from './shrink.ts';

describe('the simulation', () => {
  it('finds no violation in a few seeds, and meets the common situations', async () => {
    const [finding, exchanges] = await simulation.prove({
      scale: 'small',
      seed: 1,
      say: () => undefined,
    });
    assert.ok(finding && exchanges);
    assert.deepEqual([...finding.violations, ...exchanges.violations], []);
    for (const name of ['registered', 'refused', 'unanswered', 'confirmedByPublish', 'lapsed']) {
      assert.ok(Number(exchanges.figures[name]) > 0, `${name} was never met`);
    }
    assert.equal(finding.events?.lost, 0);
    // A few seeds are enough for these; with enough seeds, `npm run sim` requires all of them.
    const met = ['crashesInFlight', 'rescued', 'staleRefused', 'ambiguous', 'duplicates'];
    const also = ['retryAfter', 'unsubscribesInFlight', 'orderedFailures', 'replayed', 'fanOuts'];
    for (const name of [...met, ...also, 'filteredOut', 'rateLimited', 'capped']) {
      assert.ok(Number(finding.figures[name]) > 0, `${name} was never met`);
    }
  });

  it('repeats the same steps with the same seed, and others with another', async () => {
    const [first, again, other] = [await runSeed(7), await runSeed(7), await runSeed(8)];
    assert.equal(first.print, again.print);
    assert.equal(first.steps, again.steps);
    assert.deepEqual(first.counters, again.counters);
    assert.notEqual(first.print, other.print);
  });

  it('runs a modified plan, and lists the differences', async () => {
    const drawn = drawPlan(7);
    const plan = { ...drawn, events: 3, subscriptions: 1 };
    assert.deepEqual(differences(plan, drawn), { events: 3, subscriptions: 1 });
    const run = await runPlan(plan, 5);
    assert.deepEqual(run.flaws, []);
    assert.equal(run.lines.length, 5);
    assert.notEqual(run.print, (await runPlan(drawn)).print);
  });

  it('explains a violation', async () => {
    const plan = drawPlan(4);
    const run = await runPlan(plan, Infinity);
    const sent = run.lines.find((line) => line.includes(' sends dlv_'));
    const delivery = /dlv_\w+/.exec(sent ?? '')?.[0] ?? '';
    const flaws = [
      { invariant: 'I3', what: `${delivery} is delivered, but no receiver accepted it` },
    ];
    const text = explain({ plan, run: { ...run, flaws }, commit: 'c0ffee', replay: 'npm run x' });
    assert.match(text, /^VIOLATION at seed 4, commit c0ffee/);
    assert.match(text, /I3: a delivery marked as delivered was accepted by its receiver/);
    assert.ok(sent !== undefined && text.includes(`  ${sent}`));
    assert.match(text, /The last \d+ steps/);
    assert.match(text, /npm run x$/);
  });

  it('detects negative controls', async () => {
    for (const wanted of ['ack-before-commit', 'lane-cap-off', 'confirm-what-was-refused']) {
      const control = simulationControls.find(({ name }) => name === wanted);
      assert.ok(control, wanted);
      const { seen, failed } = await runLookControl(control);
      assert.ok(seen, `"${wanted}" was not detected: ${failed}`);
    }
  });
});
