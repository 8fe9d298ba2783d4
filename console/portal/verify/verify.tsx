// How to verify signatures.
import type { JSX } from 'preact';
import { PageHeader, Section } from '../../src/components/page.tsx';
import { t } from '../language.ts';
import { Prose } from '../prose.tsx';
import { href } from '../route.ts';
import { Snippets } from './snippets.tsx';

export function VerifyPage(): JSX.Element {
  const say = t().verify;
  return (
    <>
      <PageHeader title={say.title} note={say.note} />
      <Section title={say.why}>
        <ol class="steps">
          {say.steps.map((step) => (
            <li key={step}>
              <Prose text={step} />
            </li>
          ))}
        </ol>
      </Section>
      <Section title={say.code}>
        <div class="stack">
          <Snippets signing="hmac" url="https://example.com/webhooks" />
          <p>
            <a href={href('endpoints')}>{say.where}</a>
          </p>
          <p class="soft">
            {say.standard}{' '}
            <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
              {say.standardLink}
            </a>
          </p>
        </div>
      </Section>
    </>
  );
}
