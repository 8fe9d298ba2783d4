// An important message: an error with its remedy, or what to know before acting.
import './notice.css';
import type { ComponentChildren, JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { words } from '../words.ts';
import type { Tone } from './badge.tsx';
import { Icon, type IconName } from './icon.tsx';
import { UntrustedText } from './untrusted-text.tsx';

const icons: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  warn: 'alert',
  bad: 'alert',
  info: 'help',
  quiet: 'help',
};

export function Notice({
  tone,
  title,
  children,
}: {
  tone: Tone;
  title?: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icons[tone]} />
      <div>
        {title === undefined ? null : <p class="notice-title">{title}</p>}
        {children}
      </div>
    </div>
  );
}

/** A problem document of the service, with each invalid field. */
export function ProblemNotice({
  problem,
  children,
}: {
  problem: ApiProblem;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <Notice tone="bad" title={problem.title}>
      <p>
        <UntrustedText text={problem.detail} />
      </p>
      {problem.errors.length === 0 ? null : (
        <ul class="notice-list">
          {problem.errors.map(({ field, message }) => (
            <li key={field + message}>
              <UntrustedText text={field} mono /> <UntrustedText text={message} />
            </li>
          ))}
        </ul>
      )}
      {problem.status < 500 || problem.requestId === undefined ? null : (
        <p class="soft">{words().request(problem.requestId)}</p>
      )}
      {children}
    </Notice>
  );
}
