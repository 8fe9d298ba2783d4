// Code that verifies signatures, one language at a time.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Code } from '../../src/components/code.tsx';
import { Tabs } from '../../src/components/tabs.tsx';
import { t } from '../language.ts';
import { Prose } from '../prose.tsx';
import { snippetsFor, type Signing } from './snippet-texts.ts';

/** Kept between pages. */
const chosen = signal('node');

export function Snippets({
  signing,
  url,
}: {
  readonly signing: Signing;
  readonly url: string;
}): JSX.Element {
  const say = t().verify;
  const snippets = snippetsFor(signing, url);
  const shown = snippets.find(({ name }) => name === chosen.value) ?? snippets[0];
  return (
    <div class="snippets">
      <p class="soft">
        <Prose text={signing === 'ed25519' ? say.keyText : say.codeText} />{' '}
        {shown?.name === 'curl' ? say.curlText : null}
      </p>
      <Tabs
        label={say.language}
        tabs={snippets}
        chosen={shown?.name ?? ''}
        onChoose={(name) => (chosen.value = name)}
      >
        {shown === undefined ? null : (
          <Code key={shown.name} text={shown.code} label={`${shown.title}: ${say.snippet}`} />
        )}
      </Tabs>
    </div>
  );
}
