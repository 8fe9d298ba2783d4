// Every page, drawer and dialog with real data, on a desk and on phones, light and dark: nothing scrolls
// sideways, no text is cut, axe finds nothing that is serious or critical, and the browser has nothing to
// complain about.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { axeFindings } from './axe-findings.ts';
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
    it(`is well before the first event, ${width} px wide`, async () => {
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
    it(`is well after an hour, ${width} px wide`, async () => {
      shown ??= await scene.play();
      await scene.stage.visit(async (page) => {
        for (const view of views) await look(page, view, { window, shown });
      }, options);
    });

    it(`is well under any small dialog, ${width} px wide`, async () => {
      shown ??= await scene.play();
      await scene.stage.visit(async (page) => {
        // A replay that was running after the hour may have ended by now.
        const fresh = { ...shown, replayId: await scene.replay() };
        for (const view of dialogViews) await look(page, view, { window, shown: fresh });
      }, options);
    });
  }

  it('is known to lie badly when it does', async () => {
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

  it('is known to be out of reach when it is', async () => {
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
    await settled(page);
    const faults = await layoutFaults(page);
    assert.deepEqual(faults, [], `${view.name}, ${to} px, ${colorScheme}`);
  };
  await showView(page, view, shown);
  await resize(narrowest);
  await resize(width, schemes.at(-1));
  assert.deepEqual(await axeFindings(page), [], view.name);
}
