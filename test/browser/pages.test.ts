// Every page, drawer and dialog with real data, on desktops and phones, light and dark: nothing scrolls sideways, no
// text is cut off, axe finds nothing serious or critical, and the browser reports no error.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { axeFindings, hideRows } from './axe-findings.ts';
import { layoutFaults } from './layout-faults.ts';
import { nothingShown, openScene, type Scene, type Shown } from './scene.ts';
import { dialogViews, firstRunView, settled, showView, signInView, views } from './views.ts';
import type { View } from './views.ts';
import { windows, type Window } from './window-sizes.ts';

describe('every page', () => {
  let scene: Scene;
  let shown: Shown;
  before(async () => {
    scene = await openScene();
  });
  after(async () => scene[Symbol.asyncDispose]());

  for (const window of windows) {
    const { width, options } = window;
    it(`has no faults before the first event, ${width} px wide`, async () => {
      const as = 'guest';
      await scene.stage.visit(
        async (page) => look(page, signInView, { window, shown: nothingShown }),
        {
          ...options,
          as,
        },
      );
      await scene.stage.visit(
        async (page) => look(page, firstRunView, { window, shown: nothingShown }),
        options,
      );
    });
  }

  for (const window of windows) {
    const { width, options } = window;
    it(`has no faults after an hour, ${width} px wide`, async () => {
      shown ??= await scene.play();
      await scene.stage.visit(async (page) => {
        for (const view of views) await look(page, view, { window, shown });
      }, options);
    });

    it(`has no faults with any small dialog, ${width} px wide`, async () => {
      shown ??= await scene.play();
      await scene.stage.visit(async (page) => {
        // A replay that was running after the hour may have ended by now.
        const fresh = { ...shown, replayId: await scene.replay() };
        for (const view of dialogViews) await look(page, view, { window, shown: fresh });
      }, options);
    });
  }

  it('fails on layout faults', async () => {
    const spoil = (): void => {
      const wide = document.createElement('p');
      wide.textContent = 'x'.repeat(2_000);
      const low = document.createElement('p');
      low.textContent = 'cut';
      low.className = 'low';
      document.querySelector('main')?.append(wide, low);
      low.style.height = '5px';
      low.style.overflow = 'hidden';
    };
    const play = async (page: Page): Promise<void> => {
      await showView(page, signInView, nothingShown);
      assert.deepEqual(await layoutFaults(page), []);
      await page.evaluate(spoil);
      const faults = (await layoutFaults(page)).join('\n');
      assert.match(faults, /the document scrolls sideways/);
      assert.match(faults, /cut at its foot: <p class="low">/);
    };
    await scene.stage.visit(play, { as: 'guest' });
  });

  it('fails on accessibility faults', async () => {
    const play = async (page: Page): Promise<void> => {
      await showView(page, signInView, nothingShown);
      await page.evaluate(() =>
        document.querySelector('main')?.append(document.createElement('input')),
      );
      assert.match((await axeFindings(page)).join(), /^label: /);
    };
    await scene.stage.visit(play, { as: 'guest' });
  });
});

/** The layout is the same in both schemes, so each width uses one of them. Axe checks the last one. */
async function look(
  page: Page,
  view: View,
  { window, shown }: { window: Window; shown: Shown },
): Promise<void> {
  const { width, narrowest, schemes } = window;
  const height = window.options.viewport?.height ?? 0;
  const resize = async (to: number, colorScheme = schemes[0]): Promise<void> => {
    await page.emulateMedia({ colorScheme: colorScheme ?? 'light' });
    await page.setViewportSize({ width: to, height });
  };
  const check = async (): Promise<void> => {
    await settled(page);
    const at = await page.evaluate(() => innerWidth);
    assert.deepEqual(await layoutFaults(page), [], `${view.name}, ${at} px`);
  };
  // The previous view; laying it out again would take half a second.
  await page.evaluate(() => document.body.remove());
  await resize(narrowest);
  await showView(page, view, shown);
  // Rows behind a dialog are not looked at: the view of their list does that.
  if ((await page.locator('dialog[open]').count()) > 0) await hideRows(page);
  await check();
  await resize(width, schemes.at(-1));
  await check();
  assert.deepEqual(await axeFindings(page), [], view.name);
}
