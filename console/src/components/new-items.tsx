// "12 new ▲": what came while somebody was reading, shown when they ask for it.
import type { JSX } from 'preact';
import { count } from '../format.ts';
import type { News } from '../news.ts';
import { Button } from './button.tsx';

export function NewItems({ news }: { news: News }): JSX.Element {
  const show = (): void => {
    scrollTo({ top: 0 });
    news.show();
  };
  return (
    <div role="status">
      {news.count === 0 ? null : (
        <Button kind="primary" size="small" onClick={show}>
          {count(news.count)} new<span aria-hidden="true"> ▲</span>
        </Button>
      )}
    </div>
  );
}
