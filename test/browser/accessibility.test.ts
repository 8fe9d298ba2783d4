// axe over every page, drawer and dialog with real data: no finding that is serious or critical.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { nothingShown, openScene, type Scene, type Shown } from './scene.ts';
import { dialogViews, firstRunView, showView, signInView, views, type View } from './views.ts';
import type { VisitOptions } from './stage.ts';
import { windows } from './windows.ts';

describe('axe', () => {
  let scene: Scene;
  let shown: Shown;
  before(async () => {
    scene = await openScene();
    await scene.stage.visit(async (page) => judge(page, firstRunView, nothingShown));
    shown = await scene.play();
  });
  after(async () => scene[Symbol.asyncDispose]());

  // Light on the desk and dark on the phone: every rule once in each.
  for (const window of windows) {
    const { width } = window;
    const colorScheme = width === 1440 ? 'light' : 'dark';
    const options: VisitOptions = { ...window.options, colorScheme };

    it(`finds nothing on any page, ${width} px wide, ${colorScheme}`, async () => {
      const { stage } = scene;
      const as = 'nobody';
      await stage.visit(async (page) => judge(page, signInView, shown), { ...options, as });
      await stage.visit(async (page) => {
        for (const view of views) await judge(page, view, shown);
      }, options);
    });

    it(`finds nothing in any small dialog, ${width} px wide, ${colorScheme}`, async () => {
      await scene.stage.visit(async (page) => {
        for (const view of dialogViews) await judge(page, view, shown);
      }, options);
    });
  }

  it('finds what is wrong', async () => {
    await scene.stage.visit(
      async (page) => {
        await showView(page, signInView, nothingShown);
        await page.evaluate(() =>
          document.querySelector('main')?.append(document.createElement('input')),
        );
        assert.match((await findings(page)).join(), /^label: /);
      },
      { as: 'nobody' },
    );
  });
});

async function judge(page: Page, view: View, shown: Shown): Promise<void> {
  await showView(page, view, shown);
  await page.evaluate(dropRows);
  assert.deepEqual(await findings(page), [], view.name);
}

/** Runs in the page. The rows of a list are all alike, and axe takes its time for each. */
function dropRows(): void {
  for (const row of document.querySelectorAll('main tbody tr:nth-child(n + 9)')) row.remove();
}

async function findings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    async (options) => {
      // What lies under a dialog is out of reach while it is open.
      const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
      const inPage = (globalThis as unknown as { axe: typeof axe }).axe;
      return inPage.run(place, options);
    },
    { resultTypes: ['violations' as const] },
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes
        .slice(0, 5)
        .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}
