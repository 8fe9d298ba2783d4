// "12 new ▲": what came while somebody was reading, shown when they ask for it.
import type { JSX } from 'preact';
import { count } from '../format.ts';
import type { ShownNews } from '../news.ts';
import { Button } from './button.tsx';

export function NewItems({ news }: { news: ShownNews }): JSX.Element {
  const show = (): void => {
    scrollTo({ top: 0 });
    news.show();
  };
  const words = wordsFor(news);
  return (
    <div role="status" class="new-items">
      {words === undefined ? null : (
        <Button kind="primary" size="small" onClick={show}>
          {words}
          <span aria-hidden="true"> ▲</span>
        </Button>
      )}
    </div>
  );
}

function wordsFor({ count: size, isMore = false }: ShownNews): string | undefined {
  if (size > 0) return `${count(size)}${isMore ? '+' : ''} new`;
  return isMore ? 'Show the newest' : undefined;
}
