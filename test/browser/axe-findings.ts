// The serious and critical findings of axe on a page.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** One message per finding. Hides all but the first rows of long lists. */
export async function axeFindings(page: Page): Promise<string[]> {
  await hideRows(page);
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    async (options) => {
      // Content under an open dialog cannot be reached.
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

/** Until the next load. The rows of a list are alike; axe takes long for each, and so does any change of layout. */
export async function hideRows(page: Page): Promise<void> {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('main tbody tr:nth-child(n + 9) { display: none }');
    document.adoptedStyleSheets = [sheet];
  });
}
